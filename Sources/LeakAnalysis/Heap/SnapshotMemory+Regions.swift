import TraceReader

extension SnapshotMemory {
  /// The mapping that holds an address; nil when none does.
  ///
  /// - Complexity: O(log *n*) in the number of mappings.
  func region(containing address: UInt64) -> SnapshotRegion? {
    var (low, high) = (0, regions.count)
    while low < high {
      let middle = low + (high - low) / 2
      if regions[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    return low < regions.count && regions[low].contains(address) ? regions[low] : nil
  }
}
