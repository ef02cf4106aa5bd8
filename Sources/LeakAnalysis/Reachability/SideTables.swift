import TraceReader

/// The side tables of Swift objects.
///
/// ```
/// +0 object   +16 counts   +24 u32 weak references
/// ```
/// Weak references lead to the side table, which says where the object is without holding it. When
/// the object is freed the side table stays for them, and what it says then may be the address of
/// any later block. The second word is not in use.
struct SideTables {
  /// For each block whether it is the side table of an object that has it; nil where there is none.
  private let ofObjects: Bits?
  /// For each block whether it is the side table of an object that was freed.
  private let ofFreed: Bits?
  private let blocks: HeapBlocks
  private let memory: SnapshotMemory

  private static let mark: UInt64 = 3 << 62
  private static let size: UInt64 = 32
  /// No reference, and bit 32 for being taken down.
  private static let countsOfFreed: UInt64 = 1 << 32 | 1

  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one that allocates side tables: other blocks may look like
  ///     one that has no object any more.
  init(_ heap: HeapImage, isAllocated: (StackID) -> Bool) {
    (blocks, memory) = (heap.blocks, heap.memory)
    var ofObjects: Bits?
    var ofFreed: Bits?
    // One pass for both: it goes over all that a snapshot keeps.
    heap.memory.forEachWord(in: 0..<UInt64.max) { address, value in
      if value & Self.mark == Self.mark {
        Self.add(Self.tableOfObject(value, heap), to: &ofObjects, heap)
      } else if value == Self.countsOfFreed {
        Self.add(
          Self.tableOfFreed(countsAt: address, heap, isAllocated: isAllocated), to: &ofFreed, heap)
      }
    }
    (self.ofObjects, self.ofFreed) = (ofObjects, ofFreed)
  }

  private static func add(_ block: Int?, to tables: inout Bits?, _ heap: HeapImage) {
    guard let block else { return }
    if tables == nil { tables = Bits(count: heap.blocks.count) }
    tables?[block] = true
  }

  /// The side table that an object's word leads to.
  private static func tableOfObject(_ word: UInt64, _ heap: HeapImage) -> Int? {
    let block = heap.lookup.block(containing: (word & ~mark) << 3)
    guard block >= 0, SwiftObjects.sideTableWord(of: heap.blocks.address(of: block)) == word
    else { return nil }
    return block
  }

  /// The side table whose counts are those of an object that was freed.
  private static func tableOfFreed(
    countsAt address: UInt64, _ heap: HeapImage, isAllocated: (StackID) -> Bool
  ) -> Int? {
    let start = address &- 16
    let block = heap.lookup.block(containing: start)
    guard block >= 0, heap.blocks.address(of: block) == start,
      heap.blocks.size(of: block) == size, isAllocated(heap.blocks.site(of: block).stack)
    else { return nil }
    return block
  }

  /// Whether a block is the side table of an object, or was that of one.
  @inline(__always)
  func contains(_ block: Int) -> Bool {
    if let ofFreed, ofFreed[block] { return true }
    return ofObjects.map { $0[block] } ?? false
  }

  /// Whether a word of a side table holds nothing: what it says of its object, and what was in its memory before,
  /// between its parts and behind them.
  @inline(never)
  func isIdle(_ word: UInt64, of block: Int, _ value: UInt64, _ target: EdgeScanner.Target) -> Bool
  {
    if let ofFreed, ofFreed[block] { return true }
    let start = blocks.address(of: block)
    guard word == start else { return isTable(at: start, of: memory.word(at: start)) }
    return target.edgeClass == .start && isTable(at: start, of: value)
  }

  /// Whether an object says that its side table is at an address.
  private func isTable(at address: UInt64, of object: UInt64) -> Bool {
    memory.word(at: object &+ 8) == SwiftObjects.sideTableWord(of: address)
  }
}
