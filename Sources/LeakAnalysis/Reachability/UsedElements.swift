/// Where the elements of an array, a deque, or a node of a tree of Swift are that are in use, in bytes from the
/// beginning of its storage.
struct UsedElements {
  /// Those of an array; of a deque those up to the end of its storage.
  let first: Range<UInt64>
  /// Those with which a deque goes on at the beginning of its storage, or the children of a node: in front of the
  /// others, or none.
  let wrapped: Range<UInt64>

  /// One behind the other.
  init(_ elements: Range<UInt64>) {
    (first, wrapped) = (elements, elements.lowerBound..<elements.lowerBound)
  }

  /// Those of which some are at the beginning of the storage.
  init(_ first: Range<UInt64>, wrapped: Range<UInt64>) {
    (self.first, self.wrapped) = (first, wrapped)
  }

  /// One past the last byte of the last one.
  var end: UInt64 { first.upperBound }

  /// Whether a place is in one of them.
  func contains(_ offset: UInt64) -> Bool { first.contains(offset) || wrapped.contains(offset) }

  /// Whether a place is between them: where elements can be, and none is.
  func isFree(_ offset: UInt64) -> Bool { offset >= wrapped.lowerBound && !contains(offset) }

  /// Visits where each begins.
  ///
  /// - Parameters:
  ///   - stride: More than 0; of any size where there are no elements.
  ///   - body: Called with bytes from the beginning of the storage.
  func forEachStart(stride: UInt64, _ body: (UInt64) -> Void) {
    let step = Int(clamping: stride)
    for part in [first, wrapped] {
      for start in Swift.stride(from: part.lowerBound, to: part.upperBound, by: step) {
        body(start)
      }
    }
  }
}
