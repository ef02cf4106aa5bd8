import TraceReader

/// Which part of a block is in use, where a container of C++ says so.
///
/// ```
/// vector    first element   end of the last one   end of the memory
/// deque     map   u64 its length   first element (4 words)   end of the last one (likewise)
///           4 words: the element   its part   the end of that   where the map names it
/// ```
/// These words in a row belong to a container that has its elements, or the addresses of its parts, in the block. What
/// stands elsewhere in it was there before, and nothing reads it.
struct UsedParts: Sendable {
  private var parts: [Int: Range<UInt64>] = [:]

  /// Knows of none.
  init() {}

  /// Looks for the containers of some blocks, anywhere in the memory.
  ///
  /// - Complexity: O(*words*).
  init(of holders: [Int], in heap: HeapImage) {
    var isWanted = Bits(count: heap.blocks.count)
    for holder in holders { isWanted[holder] = true }
    self.init(in: heap) { block, _ in isWanted[block] }
  }

  /// Looks for containers.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isWanted: Whether what a container at an address says of a block counts.
  /// - Complexity: O(*words*).
  init(in heap: HeapImage, where isWanted: (_ block: Int, _ container: UInt64) -> Bool) {
    let finder = ContainerFinder(heap: heap)
    var (last, first, second) = (0 as UInt64, 0 as UInt64, 0 as UInt64)
    heap.memory.forEachWord(in: 0..<UInt64.max) { address, third in
      if address != last &+ 8 { (first, second) = (0, 0) }
      // Nearly all words are passed over by these.
      if first != 0, first <= second ? second <= third && first < third : first < third {
        finder.parts(ofContainerWith: first, second, third, at: address &- 16) { part, container in
          guard isWanted(part.block, container) else { return }
          parts[part.block] = parts[part.block]?.joined(with: part.used) ?? part.used
        }
      }
      (last, first, second) = (address, second, third)
    }
  }

  var isEmpty: Bool { parts.isEmpty }

  /// The blocks of which something is known.
  var blocks: some Collection<Int> { parts.keys }

  /// What is in use of a block, in bytes from its beginning; nil where no container is known to have it.
  subscript(block: Int) -> Range<UInt64>? { parts[block] }

  /// Whether a place in a block is outside of what is in use; false where no container is known to have the block.
  func isUnused(_ offset: UInt64, in block: Int) -> Bool {
    parts[block].map { !$0.contains(offset) } ?? false
  }

  /// Forgets what is known of a block.
  mutating func remove(_ block: Int) { parts[block] = nil }
}

/// Recognises containers by three words in a row.
private struct ContainerFinder {
  let heap: HeapImage

  struct Part {
    var block: Int
    var used: Range<UInt64>
  }

  /// Visits the parts of the container to which three words at an address belong: all of a vector, or the element, its
  /// part and the end of that of the iterator by which a deque begins.
  func parts(
    ofContainerWith first: UInt64, _ second: UInt64, _ third: UInt64, at address: UInt64,
    _ body: (_ part: Part, _ container: UInt64) -> Void
  ) {
    if first <= second, let block = block(at: first, endingAt: third) {
      body(Part(block: block, used: 0..<second &- first), address)
    }
    guard first >= second, first < third, let begin = iterator(at: address) else { return }
    let container = address &- 16
    let map = heap.memory.word(at: container)
    guard let mapBlock = block(at: map), let end = iterator(at: address &+ 32),
      begin.name >= map, begin.name <= end.name,
      end.name &- map &+ 8 <= heap.blocks.size(of: mapBlock)
    else { return }
    body(Part(block: mapBlock, used: begin.name &- map..<end.name &- map &+ 8), container)
    if begin.block == end.block {
      guard begin.offset <= end.offset else { return }
      body(Part(block: begin.block, used: begin.offset..<end.offset), container)
    } else {
      let size = heap.blocks.size(of: begin.block)
      body(Part(block: begin.block, used: begin.offset..<size), container)
      body(Part(block: end.block, used: 0..<end.offset), container)
    }
  }

  private struct Iterator {
    var block: Int
    var offset: UInt64
    /// Where the map names the part.
    var name: UInt64
  }

  private func iterator(at address: UInt64) -> Iterator? {
    let memory = heap.memory
    let part = memory.word(at: address &+ 8)
    let (element, end) = (memory.word(at: address), memory.word(at: address &+ 16))
    let name = memory.word(at: address &+ 24)
    guard element >= part, element < end, name & 7 == 0, name < .max - 8,
      memory.word(at: name) == part,
      let block = block(at: part, endingAt: end)
    else { return nil }
    return Iterator(block: block, offset: element &- part, name: name)
  }

  private func block(at start: UInt64, endingAt end: UInt64) -> Int? {
    block(at: start).flatMap { heap.blocks.size(of: $0) == end &- start ? $0 : nil }
  }

  private func block(at start: UInt64) -> Int? {
    let block = heap.lookup.block(containing: start)
    return block >= 0 && heap.blocks.address(of: block) == start ? block : nil
  }
}

extension Range<UInt64> {
  fileprivate func joined(with other: Range) -> Range {
    Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
  }
}
