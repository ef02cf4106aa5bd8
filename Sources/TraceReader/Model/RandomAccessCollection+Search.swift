extension RandomAccessCollection {
  /// The first index whose element fulfils a condition that holds from some element on; the end
  /// when none does.
  ///
  /// - Complexity: O(log *n*).
  @inlinable
  package func partitioningIndex(where condition: (Element) throws -> Bool) rethrows -> Index {
    var (low, count) = (startIndex, self.count)
    while count > 0 {
      let half = count / 2
      let middle = index(low, offsetBy: half)
      if try condition(self[middle]) {
        count = half
      } else {
        low = index(after: middle)
        count -= half + 1
      }
    }
    return low
  }
}
