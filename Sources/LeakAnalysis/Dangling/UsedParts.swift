import TraceReader

/// Which part of a block is in use, where a container of C++ says so.
///
/// ```
/// vector    first element   end of the last one   end of the memory
/// deque     map   u64 its length   first element (4 words, the last: where in the map)   end (likewise)
/// ```
/// These words in a row, anywhere in the memory, belong to a container that has its elements, or the addresses of
/// its parts, in the block. What stands elsewhere in it was there before, and nothing reads it.
struct UsedParts {
  private var parts: [Int: Range<UInt64>] = [:]
  private let heap: HeapImage

  /// Looks for the containers of some blocks.
  ///
  /// - Complexity: O(*words*).
  init(of holders: [Int], in heap: HeapImage) {
    self.heap = heap
    var isWanted = Bits(count: heap.blocks.count)
    for holder in holders { isWanted[holder] = true }
    heap.memory.forEachWord(in: 0..<UInt64.max) { address, value in
      let block = heap.lookup.block(containing: value)
      guard block >= 0, isWanted[block], heap.blocks.address(of: block) == value,
        let part = vector(at: address, of: block) ?? deque(at: address, of: block)
      else { return }
      parts[block] = parts[block]?.joined(with: part) ?? part
    }
  }

  /// Whether a place in a block is outside of what is in use; false where no container is known to have the block.
  func isUnused(_ offset: UInt64, in block: Int) -> Bool {
    parts[block].map { !$0.contains(offset) } ?? false
  }

  private func vector(at address: UInt64, of block: Int) -> Range<UInt64>? {
    let start = heap.blocks.address(of: block)
    let length = heap.memory.word(at: address &+ 8) &- start
    let capacity = heap.memory.word(at: address &+ 16) &- start
    guard capacity == heap.blocks.size(of: block), length <= capacity else { return nil }
    return 0..<length
  }

  private func deque(at address: UInt64, of block: Int) -> Range<UInt64>? {
    let (start, size) = (heap.blocks.address(of: block), heap.blocks.size(of: block))
    let first = heap.memory.word(at: address &+ 40) &- start
    let last = heap.memory.word(at: address &+ 72) &- start
    // Each of both iterators says where its part begins, as the map does.
    guard first <= last, last < min(size, .max - 8), first & 7 == 0, last & 7 == 0,
      heap.memory.word(at: start &+ first) == heap.memory.word(at: address &+ 24),
      heap.memory.word(at: start &+ last) == heap.memory.word(at: address &+ 56)
    else { return nil }
    return first..<last &+ 8
  }
}

extension Range<UInt64> {
  fileprivate func joined(with other: Range) -> Range {
    Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
  }
}
