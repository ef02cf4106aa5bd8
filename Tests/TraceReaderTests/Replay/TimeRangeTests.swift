import SystemPackage
import Testing
import TraceTestSupport

@testable import TraceReader

/// Ranges of times read only the chunks they need.
@Suite struct TimeRangeTests {
  /// Ten rounds of two threads, each round of a thread in a chunk of its own, 100 ticks apart.
  ///
  /// A round allocates a block, frees the one of the round before and reallocates a third.
  private static func builder(notesLastTimes: Bool) -> TraceBuilder {
    var trace = TraceBuilder()
    trace.notesLastTimes = notesLastTimes
    let stacks = [trace.stack([0x10]), trace.stack([0x20])]
    for round in UInt64(1)...10 {
      for thread in UInt32(1)...2 {
        let start = 1000 + round * 100 + UInt64(thread) * 3
        let base = UInt64(thread) << 20
        trace.allocate(base + round * 64, 48, stack: stacks[0], thread: thread, time: start)
        trace.free(base + (round - 1) * 64, stack: stacks[1], thread: thread, time: start + 50)
        trace.add(
          .reallocBegin, address: base + 0x1_0000, stack: stacks[1], thread: thread,
          time: start + 60)
        trace.add(
          .reallocEnd, address: base + 0x1_0000, size: round, thread: thread, time: start + 61)
        trace.endChunk(of: thread)
      }
    }
    return trace
  }

  private static func replay(
    _ builder: TraceBuilder, _ range: Range<UInt64>, passesOver: Bool = true
  ) throws -> ReplayResult {
    var options = ReplayOptions()
    options.timeRange = EventTime(range.lowerBound)..<EventTime(range.upperBound)
    options.keepsLiveBlocks = true
    options.passesOverEarlier = passesOver
    return try builder.replay(options)
  }

  @Test func onlyTheChunksOfARangeAreRead() throws {
    try Self.builder(notesLastTimes: true).open { trace in
      #expect(trace.eventChunks().count == 20)
      // Round 5 begins at 1503 and 1506 and ends at 1564 and 1567.
      #expect(trace.eventChunks(from: 1500, to: 1599).map(\.baseTime) == [1503, 1506])
      #expect(trace.eventChunks(from: 1564, to: 1603).map(\.baseTime) == [1503, 1506, 1603])
      #expect(trace.eventChunks(from: 1565, to: 1602).map(\.baseTime) == [1506])
      #expect(trace.eventChunks(from: 1568).count == 10)
      #expect(trace.eventChunks(to: 1102).isEmpty)
    }
    try Self.builder(notesLastTimes: false).open { trace in
      #expect(trace.eventChunks(from: 1500, to: 1599).count == 10)
    }
  }

  @Test(arguments: [1500..<1700, 1530..<1555, 1564..<1565, 1110..<2500, 0..<1500, 5000..<6000])
  func figuresDoNotDependOnWhatIsRead(_ range: Range<UInt64>) throws {
    let results = try [true, false].map {
      try Self.replay(Self.builder(notesLastTimes: $0), range)
    }
    let all = try Self.replay(
      Self.builder(notesLastTimes: true), range, passesOver: false)
    #expect(results[0].eventCount == results[1].eventCount)
    for result in results {
      #expect(result.sites == all.sites)
      #expect(result.total == all.total)
      #expect(result.liveBlocks == all.liveBlocks)
      #expect(result.timeline == all.timeline)
      #expect(result.lastTime == all.lastTime)
      // The first round frees what was never allocated.
      #expect(result.errors.isEmpty == (range.lowerBound > 0))
      #expect((result.peak.bytes, result.peak.time) == (all.peak.bytes, all.peak.time))
    }
  }

  @Test func aRangeCountsItsEvents() throws {
    let result = try Self.replay(Self.builder(notesLastTimes: true), 1500..<1700)
    // Two rounds of two threads; a realloc allocates, too.
    #expect(result.eventCount == 16)
    #expect(result.total.totalCount == 8)
    #expect(result.total.totalBytes == 4 * 48 + 2 * (5 + 6))
    #expect(result.total.freedCount == 4)
  }

  /// A chunk that ends between the halves of a `realloc` is read for the stack in it.
  @Test func halvesOfAReallocAreReadTogether() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x10])
    builder.allocate(0x1000, 16, stack: stack, time: 1010)
    builder.endChunk(of: 1)
    builder.allocate(0x2000, 16, stack: stack, time: 1020)
    builder.add(.reallocBegin, address: 0x1000, stack: stack, time: 1030)
    builder.endChunk(of: 1)
    builder.add(.reallocEnd, address: 0x3000, size: 32, time: 1040)
    try builder.open { trace in
      #expect(trace.eventChunks(from: 1035).map(\.baseTime) == [1020, 1040])
    }
    let result = try Self.replay(builder, 1035..<2000)
    #expect(result.sites.map(\.stack) == [stack])
    #expect(result.eventCount == 1)
  }

  /// The bytes of the trace, and where its first event lies in them.
  private static func bytes() throws -> (bytes: [UInt8], firstEvent: Int) {
    let builder = builder(notesLastTimes: true)
    let first = try builder.open { $0.eventChunks().first }
    let chunk = try #require(first)
    return (builder.bytes(), Int(chunk.offset))
  }

  @Test func damageInChunksThatAreNotNeededIsNotMet() throws {
    var (bytes, firstEvent) = try Self.bytes()
    // No event has this tag.
    bytes[firstEvent] = 0xff
    try withTrace(bytes) { (trace: Trace) throws in
      var options = ReplayOptions()
      #expect(try trace.replay(options).coverage.damageCount == 1)
      options.timeRange = EventTime(1500)..<EventTime(1600)
      options.passesOverEarlier = true
      #expect(try trace.replay(options).coverage.damageCount == 0)
    }
  }

  @Test func aLastTimeBeforeTheFirstOneSaysNothing() throws {
    var (bytes, firstEvent) = try Self.bytes()
    // The last field of the chunk header, outside of what its check covers.
    bytes.replaceSubrange(firstEvent - 8..<firstEvent, with: [1, 0, 0, 0, 0, 0, 0, 0])
    try withTrace(bytes) { (trace: Trace) throws in
      #expect(trace.eventChunks(from: 2000).map(\.baseTime) == [1103, 2003, 2006])
    }
  }

  @Test(arguments: [true, false])
  func theLastEventIsFound(notesLastTimes: Bool) throws {
    let builder = Self.builder(notesLastTimes: notesLastTimes)
    #expect(try builder.open { try $0.lastEventTime() } == EventTime(2067))
    #expect(try TraceBuilder().open { try $0.lastEventTime() } == .distantPast)
    #expect(try TraceBuilder().open { try $0.lastEvent() } == nil)
  }

  @Test func visitsBeginWithTheFirstChunkOfARange() throws {
    try Self.builder(notesLastTimes: true).open { trace in
      var visited: [(UInt64, UInt64)] = []
      try trace.forEachEvent(from: EventTime(2053)) { index, event in
        visited.append((index, event.time.rawValue))
        return true
      }
      // The last round: 2003, 2006, then from 2053 on what counts.
      #expect(visited.map(\.0) == [0, 0, 0, 1, 2, 3, 4, 5])
      #expect(visited.map(\.1) == [2003, 2006, 2053, 2056, 2063, 2064, 2066, 2067])
    }
  }

  @Test(arguments: [true, false])
  func packingTellsTheTimesOfAllChunks(notesLastTimes: Bool) throws {
    try withTrace(Self.builder(notesLastTimes: notesLastTimes).packed()) { trace in
      #expect(trace.eventChunks().allSatisfy { $0.lastTime == $0.baseTime + 61 })
      #expect(trace.eventChunks(from: 1500, to: 1599).map(\.baseTime) == [1503, 1506])
    }
  }
}
