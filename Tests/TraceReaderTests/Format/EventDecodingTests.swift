import Testing
import TraceReader
import TraceTestSupport

@Suite struct EventDecodingTests {
  @Test(arguments: blockOperations)
  func operationSurvives(_ operation: Operation) throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x2000, 0x1000])
    trace.add(operation, address: 0x7f00_1234_5670, size: 100, alignment: 64, stack: stack)
    let event = try #require(try trace.events().first)
    #expect(event.operation == operation)
    #expect(event.address == Address(0x7f00_1234_5670))
    #expect(event.stack == stack)
    #expect(event.size == (operation.kind == .allocation || operation.hasSize ? 100 : 0))
    #expect(event.alignment == (operation.hasAlignment ? 64 : 0))
    #expect(event.thread == ThreadIndex(1))
    #expect(event.time == EventTime(1001))
  }

  @Test func controlOperationsSurvive() throws {
    var trace = TraceBuilder()
    trace.add(.reallocBegin, address: 0x1001, stack: StackID(5))
    trace.add(.reallocEnd, address: 0x2002, size: 20)
    trace.add(.reallocFail, size: 30)
    trace.add(.reallocLeft, size: 40)
    trace.add(.failed, size: 40, stack: StackID(6), function: Operation(rawValue: 2))
    let events = try trace.events()
    #expect(
      events.map(\.operation)
        == [.reallocBegin, .reallocEnd, .reallocFail, .reallocLeft, .failed])
    #expect(events[0].address == Address(0x1001))
    #expect(events[0].stack == StackID(5))
    #expect(events[1].address == Address(0x2002))
    #expect(events.map(\.size) == [0, 20, 30, 40, 40])
    #expect(events[4].function.name == "calloc")
    #expect(events[4].stack == StackID(6))
  }

  /// Random bytes say so of a deallocation as often as of an allocation.
  @Test func noDeallocationFails() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 8)
    trace.add(.failed, size: 40, stack: StackID(6), function: .free)
    trace.allocate(0x2000, 8)
    let result = try trace.replay()
    #expect(result.eventCount == 1)
    #expect(result.failedAllocationCount == 0)
    #expect(result.coverage.damageCount == 1)
  }

  @Test(arguments: [1, 2, 3])
  func manyRandomEventsSurvive(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var trace = TraceBuilder()
    // Chunks longer than a window, and short ones.
    trace.eventChunkLength = seed == 1 ? 1 << 20 : 4096
    var expected: [Event] = []
    for _ in 0..<40_000 {
      let operation = blockOperations[Int.random(in: 0..<blockOperations.count, using: &random)]
      let shift = UInt64.random(in: 0..<60, using: &random)
      let step = UInt64.random(in: 0..<1 << (shift / 2), using: &random)
      let event = Event(
        operation: operation, time: EventTime(trace.time &+ step), thread: ThreadIndex(1),
        // No block that is announced has an address of the kernel.
        address: Address(random.next() >> max(shift, operation.isOfAnnounced ? 1 : 0)),
        size: operation.kind == .allocation || operation.hasSize ? random.next() >> shift : 0,
        alignment: operation.hasAlignment ? 1 << (shift / 2) : 0,
        stack: StackID(UInt32.random(in: 0 ... .max, using: &random)))
      trace.append(event)
      expected.append(event)
    }
    #expect(try trace.events() == expected)
  }

  @Test func threadEventChangesTheThread() throws {
    var trace = TraceBuilder()
    trace.allocate(0x10, 1, thread: 1)
    trace.add(.thread, thread: 7, lane: 1)
    trace.add(.malloc, address: 0x20, size: 1, thread: 7, lane: 1)
    #expect(try trace.events().map(\.thread) == [ThreadIndex(1), ThreadIndex(7)])
  }

  @Test func unknownOperationEndsTheChunkAlone() throws {
    var trace = TraceBuilder()
    trace.allocate(0x10, 1)
    trace.add(Operation(rawValue: 63))
    trace.allocate(0x20, 1)
    trace.endChunk(of: 1)
    trace.allocate(0x30, 1)
    let result = try trace.replay()
    #expect(result.total.totalCount == 2)
    #expect(result.coverage.damage.map(\.reason) == ["bytes that are no event"])
  }

  @Test func visitStopsWhenAskedTo() throws {
    var trace = TraceBuilder()
    for index in UInt64(0)..<10 { trace.allocate(index * 16, 1) }
    var seen = 0
    try trace.open { opened in
      _ = try opened.forEachEvent { index, _ in
        seen += 1
        return index < 3
      }
    }
    #expect(seen == 4)
  }
}
