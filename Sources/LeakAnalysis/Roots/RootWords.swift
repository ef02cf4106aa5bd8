import TraceReader

/// The words of the roots of a heap.
struct RootWords {
  private let heap: HeapImage
  /// The second words of the control blocks of threads.
  private let vectors: Set<UInt64>

  init(_ heap: HeapImage) {
    self.heap = heap
    vectors = Set(heap.info.threads.filter { $0.tlsBase != 0 }.map { $0.tlsBase &+ 8 })
  }

  /// Visits the blocks that stacks and registers lead to, also into their middle: somebody may be at work there.
  ///
  /// - Parameters:
  ///   - roots: Of any category.
  ///   - body: Called with a block once for each word that leads there.
  func forEachBlockInHand(of roots: [Root], _ body: (_ block: Int) -> Void) {
    for root in roots where root.category == .stack || root.category == .registers {
      forEach(of: root) { _, value in
        let block = heap.lookup.block(containing: value & EdgeScanner.addressMask)
        if block >= 0 { body(block) }
      }
    }
  }

  /// Visits the words of a root that may be pointers, with what glibc and the Swift runtime encode
  /// put right.
  func forEach(of root: Root, _ body: (_ address: UInt64, _ value: UInt64) -> Void) {
    if case .registers = root.kind {
      guard heap.info.threads.indices.contains(root.thread) else { return }
      for (number, value) in heap.info.threads[root.thread].registers.enumerated() {
        body(UInt64(number) * 8, value)
      }
      return
    }
    if case .kernel = root.kind {
      for (number, word) in heap.info.kernelWords.enumerated() {
        body(UInt64(number) * 8, word.value)
      }
      return
    }
    if case .signalStack = root.kind {
      let start = root.range.lowerBound
      body(start, beginning(ofBlockAt: start))
      return
    }
    if case .unknownHeap = root.kind {
      forEachOutsideOfBlocks(in: root.range, body)
      return
    }
    if root.isBlock { return }
    let isTagging = mayTag(root)
    heap.blocks.forEachPart(of: root.range, in: nil) { part in
      heap.memory.forEachWord(in: part) { address, value in
        let value = vectors.contains(address) ? value &- Self.vectorHeader : value
        body(address, isTagging ? value & ~7 : value)
      }
    }
  }

  /// The kernel uses all of a stack, wherever in a block it begins.
  private func beginning(ofBlockAt address: UInt64) -> UInt64 {
    let block = heap.lookup.block(containing: address)
    return block >= 0 ? heap.blocks.address(of: block) : address
  }

  /// Visits the words of the allocator's memory that no known block holds, nor one that was freed held last: blocks
  /// are not roots.
  private func forEachOutsideOfBlocks(
    in range: Range<UInt64>, _ body: (_ address: UInt64, _ value: UInt64) -> Void
  ) {
    let blocks = heap.blocks
    var next = max(0, blocks.firstPosition(from: range.lowerBound) - 1)
    heap.blocks.forEachPart(of: range, in: nil) { part in
      heap.memory.forEachWord(in: part) { address, value in
        while next < blocks.recordedCount, address >= blocks.end(of: next) { next += 1 }
        let isOutside = next == blocks.recordedCount || address < blocks.address(of: next)
        if isOutside, !heap.abandoned.contains(address) { body(address, value) }
      }
    }
  }

  /// Whether a root may hold tables of types of the Swift runtime.
  ///
  /// These keep their capacity in the lowest bits of the pointer to their indices:
  /// `ConcurrentReadableHashMap` in `include/swift/Runtime/Concurrent.h`. They are in variables of
  /// the runtime, and in those that compilers make for it in every image, the caches of generic
  /// types.
  private func mayTag(_ root: Root) -> Bool {
    guard case .global = root.kind else { return false }
    return heap.hasSwift
  }

  /// The second word of a thread's control block points behind the first element of its vector of
  /// dynamic thread-local variables, 16 bytes into the block: as good as a pointer to the beginning.
  private static let vectorHeader: UInt64 = 16
}
