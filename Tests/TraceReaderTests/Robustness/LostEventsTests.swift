import CTraceFormat
import Testing
import TraceReader
import TraceTestSupport

/// What looks like an error for want of events that are missing in the file.
@Suite struct LostEventsTests {
  /// A trace whose second chunk tells why the third one has one error only until its last block.
  ///
  /// A block and a large one; both end, and others begin there; these end, the first of them twice.
  /// Then a block is freed twice.
  private static func trace(threads: UInt32 = 1) -> TraceBuilder {
    var trace = TraceBuilder()
    for index in 1...threads { trace.thread(index, tid: 4710 + index, name: "app") }
    trace.allocate(0x1000, 24, time: 1010)
    trace.free(0x1000, time: 1020)
    trace.allocate(0x9000, 4096, time: 1030)
    trace.endChunk(of: 1)
    trace.allocate(0x1000, 24, time: 1110)
    trace.free(0x9000, time: 1120)
    trace.allocate(0x9100, 24, time: 1130)
    trace.endChunk(of: 1)
    trace.free(0x1000, time: 1210)
    trace.free(0x9100, time: 1220)
    trace.free(0x1000, time: 1230)
    trace.allocate(0x2000, 24, time: 1240)
    trace.free(0x2000, time: 1250)
    trace.free(0x2000, stack: StackID(7), time: 1260)
    return trace
  }

  /// Replays a trace after a change of the bytes of its second chunk of events, from its header on.
  private func replay(
    _ trace: TraceBuilder, _ change: (inout ArraySlice<UInt8>) -> Void = { _ in }
  ) throws -> ReplayResult {
    var bytes = trace.bytes()
    let start = Int(MT_FILE_HEADER_SIZE) + 4096 + trace.eventChunkLength
    change(&bytes[start..<start + trace.eventChunkLength])
    let file = try TemporaryFile(bytes)
    return try withExtendedLifetime(file) { try Trace(path: file.path).replay() }
  }

  private func times(_ result: ReplayResult) -> [UInt64] {
    result.errors.map(\.offending.time.rawValue)
  }

  private func clear(_ bytes: inout ArraySlice<UInt8>) {
    for position in bytes.indices { bytes[position] = 0 }
  }

  @Test func allErrorsOfAWholeTraceAreTold() throws {
    let result = try replay(Self.trace())
    #expect(times(result) == [1230, 1260])
    #expect(result.errorCounts == [.doubleFree: 2])
    #expect(result.coverage.lostTimes == nil)
    #expect(result.coverage.doubtfulErrors == 0)
  }

  @Test func whatAMissingChunkMayExplainIsNotTold() throws {
    let result = try replay(Self.trace(), clear)
    #expect(result.coverage.lostTimes == LostTimes(from: EventTime(1030), through: EventTime(1210)))
    #expect(times(result) == [1260])
    #expect(result.errorCounts == [.doubleFree: 1])
    #expect(result.coverage.doubtfulErrors == 3)
  }

  /// Nobody knows until when another thread has written into the chunk.
  @Test func ofSeveralThreadsNothingBehindIsTold() throws {
    let result = try replay(Self.trace(threads: 2), clear)
    #expect(result.coverage.lostTimes == LostTimes(from: EventTime(1010)))
    #expect(times(result) == [])
    #expect(result.coverage.doubtfulErrors == 4)
  }

  @Test func aDamagedChunkTellsWhenItsEventsWere() throws {
    let result = try replay(Self.trace(threads: 2)) { bytes in
      // Behind the first event.
      for position in bytes.indices.dropFirst(64 + 4) { bytes[position] = 0xff }
    }
    let lost = try #require(result.coverage.lostTimes)
    #expect((1110...1120).contains(lost.first.rawValue))
    #expect(lost.last == EventTime(1130))
    #expect(times(result).last == 1260)
    #expect(!times(result).contains(1220))
  }

  @Test func inFrontOfACutErrorsAreTold() throws {
    var trace = Self.trace()
    trace.endChunk(of: 1)
    trace.allocate(0x3000, 24, time: 2000)
    let bytes = trace.bytes()
    let file = try TemporaryFile(Array(bytes.dropLast(trace.eventChunkLength)))
    try withExtendedLifetime(file) {
      let result = try Trace(path: file.path).replay()
      #expect(result.coverage.lostTimes == LostTimes(from: EventTime(1260)))
      #expect(result.coverage.doubtfulErrors == 0)
      #expect(times(result) == [1230, 1260])
    }
  }
}
