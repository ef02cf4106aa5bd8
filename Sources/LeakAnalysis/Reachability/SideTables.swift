import TraceReader

/// The side tables of Swift objects.
///
/// ```
/// +0 object   +16 counts   +24 u32 weak references
/// ```
/// Weak references lead to the side table, which says where the object is without holding it. When
/// the object is freed the side table stays for them, and what it says then may be the address of
/// any later block.
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

  /// Whether the first word of a block is what its side table says of the object.
  @inline(__always)
  func isBackReference(of block: Int, _ value: UInt64, _ target: EdgeScanner.Target) -> Bool {
    if let ofFreed, ofFreed[block] { return true }
    guard let ofObjects, ofObjects[block], target.edgeClass == .start else { return false }
    return memory.word(at: value &+ 8)
      == SwiftObjects.sideTableWord(of: blocks.address(of: block))
  }
}
