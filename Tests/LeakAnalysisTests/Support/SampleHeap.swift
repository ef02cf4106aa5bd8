import CTraceFormat
import LeakAnalysis
import TraceTestSupport

@testable import TraceReader

/// A small heap made by hand.
///
/// ```
/// 0x0040_1000 ..< 0x0040_2000   the program's code and constants
/// 0x0040_4000 ..< 0x0040_5000   its variables
/// 0x0100_0000 ..< 0x0110_0000   [heap]
/// 0x7f00_0000_0000 ..< +64 KiB  anonymous
/// 0x7ffe_0000_0000 ..< +64 KiB  [stack], stack pointer in the middle
/// ```
struct SampleHeap {
  static let constants: UInt64 = 0x40_1000
  static let globals: UInt64 = 0x40_4000
  static let heap: UInt64 = 0x100_0000
  static let mapping: UInt64 = 0x7f00_0000_0000
  static let stack: UInt64 = 0x7ffe_0000_0000
  static let stackPointer = stack + 0x8000
  static let threadPointer: UInt64 = 0x7f10_0000_0740

  var trace = TraceBuilder()
  var snapshot: SnapshotBuilder
  private var next = SampleHeap.heap + 16

  /// A process with one thread and no blocks.
  init(registers: [UInt64] = [], reason: mt_snapshot_reason = MT_SNAPSHOT_AT_EXIT) {
    trace.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0, start: Address(0x40_0000),
        end: Address(0x40_5000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    trace.thread(1, tid: 4711)
    snapshot = SnapshotBuilder(time: 1_000_000, reason: reason)
    snapshot.region(
      Self.constants..<Self.constants + 0x1000, path: "/opt/app/app", protection: .read)
    snapshot.region(Self.globals..<Self.globals + 0x1000, path: "/opt/app/app")
    snapshot.region(Self.heap..<Self.heap + 0x10_0000, path: "[heap]")
    snapshot.region(Self.mapping..<Self.mapping + 0x1_0000)
    snapshot.region(Self.threadPointer & ~4095..<(Self.threadPointer & ~4095) + 0x1000)
    snapshot.region(Self.stack..<Self.stack + 0x1_0000, path: "[stack]")
    snapshot.thread(
      1, tid: 4711, sp: Self.stackPointer, registers: registers, tlsBase: Self.threadPointer)
  }

  /// Adds a block in the heap and sets its first words.
  ///
  /// - Returns: Its address.
  mutating func block(
    _ size: UInt64 = 32, words: [UInt64] = [], stack: StackID = .none,
    operation: Operation = .malloc
  ) -> UInt64 {
    let address = next
    next += (size + 31) & ~15
    trace.allocate(address, size, operation, stack: stack)
    snapshot.words(at: address, words)
    return address
  }

  /// Maps the Swift runtime.
  mutating func addSwiftRuntime() {
    snapshot.region(0x60_0000..<0x60_1000, path: "/usr/lib/libswiftCore.so")
  }

  /// Frees a block, which leaves its words.
  mutating func free(_ address: UInt64) { trace.free(address) }

  /// Sets words.
  mutating func set(_ address: UInt64, _ words: UInt64...) {
    snapshot.words(at: address, words)
  }

  /// Writes the trace, reads it back and analyses it.
  ///
  /// - Parameters:
  ///   - layouts: What is known of objects, by their first words.
  ///   - sharedCounts: What counts for objects of `std::shared_ptr`, by its first word.
  ///   - allocatesSideTables: Whether all blocks may be side tables of Swift objects.
  ///   - allocatesNoPointers: Whether all blocks of such a size may be ones without pointers to others.
  ///   - countsReferences: Whether a stack allocates values that count their references.
  ///   - isHashTable: Whether a stack allocates tables of `HashMap`.
  ///   - isSwiftMetadata: Whether a stack is one by which the Swift runtime keeps what it knows of types.
  ///   - isUnnamedOfSwiftRuntime: Whether a stack is one by which that runtime may allocate something else for itself.
  ///   - isOfDispatch: Whether a stack is one by which libdispatch allocates.
  ///   - isOfGObject: Whether a stack is one by which GObject allocates.
  ///   - isContainer: Whether a stack allocates room for elements of containers.
  ///   - isElements: Whether a stack allocates room for elements of a `std::vector` or `std::deque`.
  ///   - allocatingCall: The call by which a stack allocates.
  ///   - callers: The calls around that, the innermost first.
  ///   - isWeak: Whether what lies at an offset of a block does not keep what it points to.
  ///   - isCounted: Whether what lies at an offset of a block is counted by what it points to.
  ///   - isUnused: Whether nothing can lie at an offset of a block that would hold what it points to.
  ///   - valueSizes: How many bytes values of Swift take, by the value witnesses of their types.
  /// - Returns: The analysis.
  /// - Throws: When the trace cannot be written or read.
  func analysis(
    layouts: [UInt64: ObjectLayout] = [:], sharedCounts: [UInt64: SharedCounts] = [:],
    allocatesSideTables: Bool = false, allocatesNoPointers: Bool = false,
    countsReferences: @escaping (StackID) -> Bool = { _ in false },
    isHashTable: @escaping (StackID) -> Bool = { _ in false },
    isSwiftMetadata: @escaping (StackID) -> Bool = { _ in false },
    isUnnamedOfSwiftRuntime: @escaping (StackID) -> Bool = { _ in false },
    isOfDispatch: @escaping (StackID) -> Bool = { _ in false },
    isOfGObject: @escaping (StackID) -> Bool = { _ in false },
    isContainer: @escaping (StackID) -> Bool = { _ in false },
    isElements: @escaping (StackID) -> Bool = { _ in false },
    allocatingCall: @escaping (StackID) -> UInt64? = { _ in nil },
    callers: @escaping (StackID) -> [UInt64] = { _ in [] },
    isWeak: @escaping (UInt64) -> Bool = { _ in false },
    isCounted: @escaping (UInt64) -> Bool = { _ in false },
    isUnused: @escaping (UInt64) -> Bool = { _ in false }, valueSizes: [UInt64: UInt64] = [:]
  ) throws -> LeakAnalysis {
    let file = try write()
    return LeakAnalysis(
      try Trace(path: file.path).heap(atSnapshot: 0), layouts: layouts, sharedCounts: sharedCounts,
      facts: StackFacts(
        isSideTable: { _ in allocatesSideTables },
        holdsNoPointers: { _ in allocatesNoPointers }, countsReferences: countsReferences,
        isHashTable: isHashTable, isSwiftMetadata: isSwiftMetadata,
        isUnnamedOfSwiftRuntime: isUnnamedOfSwiftRuntime, isOfDispatch: isOfDispatch,
        isOfGObject: isOfGObject, isContainer: isContainer, isElements: isElements,
        calls: { stack in allocatingCall(stack).map { [$0] + callers(stack) } ?? [] },
        isWeak: { offset, _, _ in isWeak(offset) },
        isCounted: { offset, _, _ in isCounted(offset) },
        isUnused: { offset, _, _ in isUnused(offset) }),
      valueSize: { valueSizes[$0] })
  }

  /// Writes the trace, reads it back and looks for pointers into freed blocks.
  func dangling(
    layouts: [UInt64: ObjectLayout] = [:], sharedCounts: [UInt64: SharedCounts] = [:],
    allocatesSideTables: Bool = false, isOfDispatch: @escaping (StackID) -> Bool = { _ in false },
    allocatingCall: @escaping (StackID) -> UInt64? = { _ in nil }
  ) throws -> [DanglingPointer] {
    let file = try write()
    let trace = try Trace(path: file.path)
    let analysis = LeakAnalysis(
      try trace.heap(atSnapshot: 0), layouts: layouts, sharedCounts: sharedCounts,
      facts: StackFacts(
        isSideTable: { _ in allocatesSideTables }, isOfDispatch: isOfDispatch,
        calls: { allocatingCall($0).map { [$0] } ?? [] }))
    return try DanglingPointers(analysis, in: trace).pointers
  }

  private func write() throws -> TemporaryFile {
    var trace = trace
    trace.snapshot(snapshot)
    return try TemporaryFile(trace.bytes())
  }
}

extension LeakAnalysis {
  /// The addresses of the leaked blocks, in ascending order.
  var leaked: [UInt64] {
    (0..<leaks.count).map { heap.blocks.address(of: leaks.block(of: $0)) }
  }

  /// The addresses of the roots of leaks, the oldest first.
  var roots: [UInt64] { leaks.roots.map { heap.blocks.address(of: leaks.block(of: $0)) } }

  /// Whether the block at an address can be reached.
  func state(at address: UInt64) -> Reachability.State? {
    heap.blocks.block(at: address).map(reachability.state(of:))
  }

  /// The leaked block at an address.
  func node(at address: UInt64) -> Int? {
    heap.blocks.block(at: address).flatMap(leaks.node(of:))
  }

  /// What kind of root holds the block at an address.
  func rootKind(at address: UInt64) -> Root.Kind? {
    heap.blocks.block(at: address).flatMap { reachability.path(to: $0)?.slot.root.kind }
  }
}
