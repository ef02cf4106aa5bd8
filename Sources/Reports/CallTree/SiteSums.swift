import TraceReader

/// The sums of what is counted of sites, by what they have in common.
enum SiteSums {
  /// Sums up what `weight` counts of each site.
  ///
  /// - Parameters:
  ///   - sites: The sites.
  ///   - key: What those have in common that are counted together.
  ///   - weight: What is counted.
  /// - Returns: The sums, by ascending keys.
  static func of<Key: Hashable & Comparable, Weight: PathWeight>(
    _ sites: [Site], by key: (Site) -> Key, weight: (Site) -> Weight
  ) -> [(key: Key, value: Weight)] {
    var weights: [Key: Weight] = [:]
    for site in sites { weights[key(site), default: Weight()] += weight(site) }
    return weights.sorted { $0.key < $1.key }
  }
}
