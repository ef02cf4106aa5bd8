import CTraceFormat
import LeakAnalysis
import Testing
import TraceReader

@Suite("Records that libdispatch keeps for later work")
struct DispatchCacheTests {
  private static let module: UInt64 = 3
  private static let variables = SampleHeap.threadPointer - 0x200
  private static let vector = SampleHeap.mapping + 0x100

  /// A thread with thread-local variables of libdispatch, which begin a list of records.
  ///
  /// - Parameters:
  ///   - record: The first of the list.
  ///   - heap: Without the variables.
  ///   - offset: Where those of libdispatch are, behind those of others in an executable.
  /// - Returns: The heap with the variables.
  private static func heap(
    first record: UInt64, _ heap: SampleHeap, at offset: UInt64 = 0
  ) -> SampleHeap {
    var heap = heap
    heap.snapshot.addClass("", at: module | offset << 32, kind: MT_SNAPSHOT_DISPATCH.rawValue)
    heap.set(SampleHeap.threadPointer + 8, vector)
    heap.set(vector + 16 * module, variables)
    heap.set(variables + offset + 24, record)
    return heap
  }

  @Test("What they say of work that is done does not hold it; they hold each other")
  func idle() throws {
    var heap = SampleHeap()
    let work = heap.block()
    let second = heap.block(64, words: [0, 0, 0, 0, 0, work])
    let first = heap.block(64, words: [0, 0, second, 0, 0, work, 0, work])
    let queued = heap.block()
    let record = heap.block(64, words: [0, 0, 0, 0, 0, queued])
    heap.set(SampleHeap.globals, record)
    #expect(try heap.analysis().leaked == [work, second, first])
    #expect(try Self.heap(first: first, heap).analysis().leaked == [work])
    #expect(try Self.heap(first: first, heap, at: 64).analysis().leaked == [work])
  }

  @Test("What they passed on before holds nothing once they are used for work of their own")
  func reused() throws {
    var heap = SampleHeap()
    let (work, passed) = (heap.block(), heap.block())
    let plain = heap.block(
      64, words: [0, 0, 0, 0, SampleHeap.constants, work, 0, passed], stack: StackID(7))
    heap.set(SampleHeap.globals, plain)
    let withoutCache = Self.heap(first: 0, heap)
    #expect(try withoutCache.analysis(isOfDispatch: { $0 == StackID(7) }).leaked == [passed])
    // Of another's block nothing is known, nor where libdispatch is not in the process.
    #expect(try withoutCache.analysis(isOfDispatch: { $0 == StackID(8) }).leaked == [])
    #expect(try heap.analysis(isOfDispatch: { $0 == StackID(7) }).leaked == [])
    // One that passes something on names its functions first.
    heap.set(plain, SampleHeap.constants)
    #expect(
      try Self.heap(first: 0, heap).analysis(isOfDispatch: { $0 == StackID(7) }).leaked == [])
  }

  @Test("Those that sources run name none of the list that they were in")
  func handlers() throws {
    var heap = SampleHeap()
    let (work, other) = (heap.block(), heap.block())
    let next = heap.block(64)
    let atEvent = heap.block(64, words: [0, 0, next, 0, 0, work])
    let atEnd = heap.block(64, words: [0, 0, next, 0, 0, other])
    let awaited = heap.block(
      104, words: [0, 0, 0, 0, 0, atEvent, atEnd], stack: StackID(7))
    let source = heap.block(120, words: Array(repeating: 0, count: 11) + [awaited])
    heap.set(SampleHeap.globals, source)
    let recorded = Self.heap(first: 0, heap)
    #expect(try recorded.analysis(isOfDispatch: { $0 == StackID(7) }).leaked == [next])
    // Of another's block nothing is known, nor where libdispatch is not in the process.
    #expect(try recorded.analysis(isOfDispatch: { $0 == StackID(8) }).leaked == [])
    #expect(try heap.analysis(isOfDispatch: { $0 == StackID(7) }).leaked == [])
    // What else is named there is no record: then the other is none, either.
    heap.set(awaited + 56, source)
    #expect(
      try Self.heap(first: 0, heap).analysis(isOfDispatch: { $0 == StackID(7) }).leaked == [])
  }

  @Test("A block of another size is none of them")
  func otherBlock() throws {
    var heap = SampleHeap()
    let held = heap.block()
    let block = heap.block(80, words: [0, 0, 0, 0, 0, held])
    #expect(try Self.heap(first: block, heap).analysis().leaked == [])
  }

  @Test("A list that leads back to itself comes to an end")
  func ring() throws {
    var heap = SampleHeap()
    let record = heap.block(64)
    heap.set(record + 16, record)
    #expect(try Self.heap(first: record, heap).analysis().leaked == [])
  }
}
