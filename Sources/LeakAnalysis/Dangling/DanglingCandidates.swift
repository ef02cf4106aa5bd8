import TraceReader

/// The words of live memory that can point into a block that was freed: into what the allocator has, where no block
/// is any more.
///
/// Left out is what an allocator keeps for itself, since nothing but variables, stacks, registers and reachable blocks
/// holds anything: its lists lead through freed blocks, and begin in its own variables. Left out, too, are the ends of
/// live blocks, to which iterators point.
struct DanglingCandidates: ~Copyable {
  /// A word.
  struct Word: BitwiseCopyable {
    /// Where it is; of registers, the number times 8.
    var address: UInt64
    var value: UInt64
    /// The block that it is in, or the position of its root with the highest bit set.
    var holder: UInt32
  }

  private static let rootMark: UInt32 = 1 << 31

  private(set) var words = GrowingList<Word>()
  private let analysis: LeakAnalysis
  private let memory: FreeMemory

  /// Collects the words.
  init(_ analysis: LeakAnalysis) {
    self.analysis = analysis
    memory = FreeMemory(analysis.heap)
    addRoots()
    addBlocks()
  }

  private mutating func addRoots() {
    let words = RootWords(analysis.heap)
    for (position, root) in analysis.roots.enumerated() where Self.canHold(root.category) {
      words.forEach(of: root) { address, value in
        guard memory.contains(value), analysis.scanner.target(of: value, at: address) == nil else {
          return
        }
        let holder = UInt32(truncatingIfNeeded: position) | Self.rootMark
        self.words.append(Word(address: address, value: value, holder: holder))
      }
    }
  }

  /// Not memory of which nobody knows whether it is used, nor stacks that handlers may not use any more.
  private static func canHold(_ category: Root.Category) -> Bool {
    switch category {
    case .global, .threadLocal, .mapping, .stack, .registers, .kernel: true
    case .unknownHeap, .signalStack, .ignored, .immortal: false
    }
  }

  private mutating func addBlocks() {
    let blocks = analysis.heap.blocks
    for block in 0..<blocks.count {
      guard analysis.reachability.state(of: block) != .unreached,
        blocks.site(of: block).thread != .recorder
      else { continue }
      let start = blocks.address(of: block)
      analysis.scanner.forEachOtherWord(of: block) { offset, value in
        guard memory.contains(value) else { return }
        words.append(
          Word(
            address: start &+ offset, value: value,
            holder: UInt32(truncatingIfNeeded: block)))
      }
    }
  }

  /// The block that a word is in; nil for a root.
  func block(of word: Word) -> Int? {
    word.holder & Self.rootMark == 0 ? Int(word.holder) : nil
  }

  /// The root that a word is in; nil for a block.
  func root(of word: Word) -> Root? {
    guard word.holder & Self.rootMark != 0 else { return nil }
    return analysis.roots[Int(word.holder & ~Self.rootMark)]
  }

  /// What has to be known of the past: where the words lead, and what was where those in blocks are.
  func addresses() -> [UInt64] {
    var addresses: [UInt64] = []
    addresses.reserveCapacity(2 * words.count)
    for position in 0..<words.count {
      let word = words[position]
      addresses.append(word.value)
      if block(of: word) != nil { addresses.append(word.address) }
    }
    return addresses
  }
}

/// The memory that allocators have, where no block is.
private struct FreeMemory {
  private let heap: HeapImage
  /// Ascending, without those that hold the allocator's variables.
  private let ranges: [Range<UInt64>]
  private let lowest: UInt64
  private let highest: UInt64

  init(_ heap: HeapImage) {
    self.heap = heap
    ranges = AllocatorMemory(heap).heaps
    lowest = ranges.first?.lowerBound ?? .max
    highest = ranges.last?.upperBound ?? 0
  }

  /// Whether a word leads there; not one to the end of a block.
  ///
  /// What was unmapped is free as well, but seldom kept in a snapshot. What is mapped elsewhere belongs to somebody
  /// now, whoever had a block there.
  @inline(__always)
  func contains(_ value: UInt64) -> Bool {
    if value < lowest || value >= highest { return false }
    return search(value)
  }

  @inline(never)
  private func search(_ value: UInt64) -> Bool {
    let position = ranges.partitioningIndex { $0.upperBound > value }
    guard position < ranges.count, ranges[position].lowerBound <= value else { return false }
    return heap.lookup.block(containing: value) < 0 && heap.lookup.block(containing: value &- 1) < 0
  }
}
