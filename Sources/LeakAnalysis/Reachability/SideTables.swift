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
    ofObjects = Self.tablesOfObjects(heap)
    ofFreed = Self.tablesOfFreed(heap, isAllocated)
  }

  private static func tablesOfObjects(_ heap: HeapImage) -> Bits? {
    var tables: Bits?
    heap.memory.forEachValue { value in
      guard value & mark == mark else { return }
      let block = heap.lookup.block(containing: (value & ~mark) << 3)
      guard block >= 0, SwiftObjects.sideTableWord(of: heap.blocks.address(of: block)) == value
      else {
        return
      }
      if tables == nil { tables = Bits(count: heap.blocks.count) }
      tables?[block] = true
    }
    return tables
  }

  private static func tablesOfFreed(
    _ heap: HeapImage, _ isAllocated: (StackID) -> Bool
  ) -> Bits? {
    var tables: Bits?
    var known: [StackID: Bool] = [:]
    heap.memory.forEachWord(in: 0..<UInt64.max) { address, value in
      guard value == countsOfFreed else { return }
      let start = address &- 16
      let block = heap.lookup.block(containing: start)
      guard block >= 0, heap.blocks.address(of: block) == start,
        heap.blocks.size(of: block) == size
      else { return }
      let stack = heap.blocks.site(of: block).stack
      let isTable = known[stack] ?? isAllocated(stack)
      known[stack] = isTable
      guard isTable else { return }
      if tables == nil { tables = Bits(count: heap.blocks.count) }
      tables?[block] = true
    }
    return tables
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
