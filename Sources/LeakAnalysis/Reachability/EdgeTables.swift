import TraceReader

/// What is known of the blocks of a heap before any pointer was followed, by their sites and first words.
struct EdgeTables: Sendable {
  /// What is known of objects, by their first words.
  let layouts: [UInt64: ObjectLayout]
  let existentials: ExistentialValues
  let sideTables: SideTables
  /// Whether the collector of Python has nothing to do any more: objects that only its list has are leaked.
  let isCollected: Bool
  /// For each site whether nobody uses more of its blocks than was asked for.
  let isExact: [Bool]
  /// For each block whether it is a record of libdispatch that waits for work; nil where there is
  /// none.
  let idleRecords: Bits?
  /// For each block whether it is such a record that passes nothing on; nil where there is none.
  let plainRecords: Bits?
  /// For each block whether it is such a record that a source runs; nil where there is none.
  let handlers: Bits?
  /// The blocks in which libdispatch keeps something for a queue by a key.
  let queueSpecifics: Set<Int>
  /// The blocks that hold nothing, as bytes of files or addresses of code are in them.
  let pointerlessBlocks: Set<Int>
  /// The blocks with metadata of types of Swift.
  let metadataSlabs: Set<Int>
  /// The blocks with what GObject knows of fundamental types.
  let fundamentalTypes: Set<Int>
  /// What handlers of signals that have returned left on their stacks, by the blocks of these.
  let deadOnSignalStacks: [Int: [Range<UInt64>]]

  /// - Parameters:
  ///   - heap: The heap.
  ///   - layouts: What is known of objects, by their first words.
  ///   - facts: What is known of the stacks that allocated the blocks.
  ///   - valueSize: How many bytes a value of Swift takes, by the address of its type's value witnesses.
  init(
    _ heap: HeapImage, layouts: [UInt64: ObjectLayout] = [:],
    facts: StackFacts = StackFacts(), valueSize: (UInt64) -> UInt64? = { _ in nil }
  ) {
    self.layouts = layouts
    existentials = ExistentialValues(heap, layouts, valueSize)
    sideTables = SideTables(heap, isAllocated: facts.isSideTable)
    if case .exit = heap.info.reason {
      isCollected = !heap.memory.pythonClasses.isEmpty
    } else {
      isCollected = false
    }
    isExact = heap.blocks.sites.map { heap.slack == .unused || $0.operation.family != .malloc }
    idleRecords = DispatchCaches.records(heap)
    plainRecords = DispatchCaches.plainRecords(heap, isAllocated: facts.isOfDispatch)
    handlers = DispatchCaches.handlers(heap, isAllocated: facts.isOfDispatch)
    queueSpecifics = DispatchCaches.queueSpecifics(heap, isAllocated: facts.isOfDispatch)
    pointerlessBlocks = PointerlessBlocks.blocks(heap, isAllocated: facts.holdsNoPointers)
    metadataSlabs = MetadataSlabs.blocks(heap, isAllocated: facts.isSwiftMetadata)
    fundamentalTypes = FundamentalTypes.blocks(heap, isAllocated: facts.isOfGObject)
    deadOnSignalStacks = SignalStacks(heap.info, heap.lookup).deadWords()
  }
}
