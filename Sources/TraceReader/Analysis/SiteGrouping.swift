/// What sites are brought together by.
///
/// Functions and images need symbols: those groupings are made where symbols are.
public enum SiteGrouping: Hashable, Sendable, CaseIterable {
  /// By size class: the categories `Malloc-16` and so on.
  case sizeClass
  /// By backtrace.
  case stack
  /// By the allocating thread.
  case thread
  /// By the allocator function.
  case operation
}

/// What the sites of a group have in common.
public enum SiteGroupKey: Hashable, Sendable {
  case sizeClass(SizeClass)
  case stack(StackID)
  case thread(ThreadIndex)
  case operation(Operation)

  init(_ site: Site, by grouping: SiteGrouping) {
    switch grouping {
    case .sizeClass: self = .sizeClass(site.sizeClass)
    case .stack: self = .stack(site.stack)
    case .thread: self = .thread(site.thread)
    case .operation: self = .operation(site.operation)
    }
  }
}

/// Sites that have something in common.
public struct SiteGroup: Hashable, Sendable {
  /// What the sites have in common.
  public var key: SiteGroupKey
  /// The sum over the sites.
  public var tally: Tally
  /// The indices of the sites, ascending; never empty.
  public var sites: [Int]
}

extension Array where Element == Site {
  /// Brings sites together.
  ///
  /// - Parameter grouping: What the sites of a group have in common.
  /// - Returns: One group per key in order of its first site; each site is in exactly one.
  /// - Complexity: O(*sites*).
  public func grouped(by grouping: SiteGrouping) -> [SiteGroup] {
    grouped { SiteGroupKey($0, by: grouping) }.map {
      SiteGroup(key: $0.key, tally: $0.tally, sites: $0.sites)
    }
  }

  /// Brings sites together by a key of the caller's choice, such as a function's name.
  ///
  /// - Parameter key: Says which group a site belongs to.
  /// - Returns: One element per key in order of its first site, with the sum over its sites and
  ///   their indices.
  /// - Complexity: O(*sites*).
  public func grouped<Key: Hashable>(
    by key: (Site) -> Key
  ) -> [(key: Key, tally: Tally, sites: [Int])] {
    var groups: [(key: Key, tally: Tally, sites: [Int])] = []
    var positions: [Key: Int] = [:]
    for (index, site) in enumerated() {
      let key = key(site)
      if let position = positions[key] {
        groups[position].tally += site.tally
        groups[position].sites.append(index)
      } else {
        positions[key] = groups.count
        groups.append((key, site.tally, [index]))
      }
    }
    return groups
  }
}
