import TraceReader

/// The parts of arrays that grow without moving, each as large as all in front of it together: those of
/// `concurrent_vector` and `concurrent_unordered_map` of oneTBB, and of tables of SWI-Prolog.
///
/// ```
/// table   first part   second part - its size   third part - its size   …
/// part    [n]          [n]                      [2 n]
/// ```
/// An element is found by its number in the array from the word of its part, so that words lead to as many bytes in
/// front of parts as these have. One such word tells nothing. But next to it stands the word of the part that is twice
/// or half as large, or of the first one, and one call has allocated both.
///
/// Source: `segment_table` in `oneapi/tbb/detail/_segment_table.h` of oneTBB, `putAtom` in `pl-atom.c` of SWI-Prolog.
struct ArrayParts: Sendable {
  /// By the addresses of the words that name them.
  private var parts: [UInt64: Int] = [:]

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - heap: The heap.
  ///   - reachability: What was reached while none was known.
  ///   - facts: Knows the calls of allocator functions.
  /// - Complexity: O(*words*) where there are blocks that were not reached, else O(*blocks*).
  init(_ heap: HeapImage, _ reachability: Reachability, _ facts: StackFacts) {
    let candidates = PartCandidates(heap, reachability, facts)
    guard !candidates.isEmpty else { return }
    heap.memory.forEachWord(in: 0..<UInt64.max) { address, value in
      if let part = candidates.part(namedAt: address, by: value) { parts[address] = part }
    }
  }

  var isEmpty: Bool { parts.isEmpty }

  /// The part that the word at an address names.
  func part(namedAt address: UInt64) -> Int? { parts[address] }
}

/// Blocks that may be parts, by the words that would name them.
private struct PartCandidates {
  private let heap: HeapImage
  private let facts: StackFacts
  private var blocks: [UInt64: Int] = [:]
  /// Has a bit for each of the words, by a hash of it, so that nearly all others are passed over.
  private var filter: Bits

  var isEmpty: Bool { blocks.isEmpty }

  init(_ heap: HeapImage, _ reachability: Reachability, _ facts: StackFacts) {
    (self.heap, self.facts) = (heap, facts)
    for block in 0..<heap.blocks.count where reachability.state(of: block) != .reached {
      let size = heap.blocks.size(of: block)
      if size >= 8 { blocks[heap.blocks.address(of: block) &- size] = block }
    }
    filter = Bits(count: 1 << (Int.bitWidth - (blocks.count * 16).leadingZeroBitCount))
    for word in blocks.keys { filter[hash(word)] = true }
  }

  /// The block that a word at an address names as a part.
  @inline(__always)
  func part(namedAt address: UInt64, by word: UInt64) -> Int? {
    guard filter[hash(word)], let block = blocks[word] else { return nil }
    return isPart(block, namedAt: address, by: word) ? block : nil
  }

  private func hash(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) >> 32) & (filter.count - 1)
  }

  @inline(never)
  private func isPart(_ block: Int, namedAt address: UInt64, by word: UInt64) -> Bool {
    let size = heap.blocks.size(of: block)
    let previous = heap.memory.word(at: address &- 8)
    if let other = blocks[heap.memory.word(at: address &+ 8)],
      heap.blocks.size(of: other) == size &* 2, isOfOneCall(block, other)
    {
      return true
    }
    if let other = blocks[previous], heap.blocks.size(of: other) &* 2 == size {
      return isOfOneCall(block, other)
    }
    guard let first = heap.blocks.block(at: previous), first != block,
      heap.blocks.size(of: first) == size, heap.blocks.block(at: word) == nil
    else { return false }
    return isOfOneCall(block, first)
  }

  private func isOfOneCall(_ block: Int, _ other: Int) -> Bool {
    guard let call = facts.allocatingCall(heap.blocks.site(of: block).stack) else { return false }
    return facts.allocatingCall(heap.blocks.site(of: other).stack) == call
  }
}
