import Testing
import TraceReader
import TraceTestSupport

@Suite struct FilterTests {
  /// Allocations at 1010, 1020, 1030, 1040; the first is freed at 1035.
  private var trace: TraceBuilder {
    var trace = TraceBuilder()
    for index in UInt64(1)...3 {
      trace.allocate(index << 12, index * 100, time: 1000 + index * 10)
    }
    trace.free(1 << 12, time: 1035)
    trace.allocate(4 << 12, 400, time: 1040)
    return trace
  }

  private func replay(_ change: (inout ReplayOptions) -> Void) throws -> ReplayResult {
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    change(&options)
    return try trace.replay(options)
  }

  @Test func timeRangeCountsWhatWasAllocatedInIt() throws {
    let result = try replay { $0.timeRange = EventTime(1020)..<EventTime(1040) }
    #expect(result.total.totalCount == 2)
    #expect(result.total.totalBytes == 500)
    #expect(result.total.freedCount == 0)
    #expect(result.peak.bytes == 500)
    #expect(result.liveBlocks.map(\.size) == [200, 300])
    #expect(result.errors.isEmpty)
    #expect(result.eventCount == 4)
  }

  @Test func timeRangeExcludesItsEnd() throws {
    #expect(
      try replay { $0.timeRange = EventTime(1000)..<EventTime(1010) }.total.totalCount == 0)
  }

  @Test func emptyTimeRangeHasNothing() throws {
    #expect(try replay { $0.timeRange = EventTime(0)..<EventTime(0) }.total == Tally())
  }

  @Test func sizesAreRequestedSizes() throws {
    let result = try replay { $0.sizes = 100...200 }
    #expect(result.total.totalCount == 2)
    #expect(result.total.freedCount == 1)
    #expect(result.liveBlocks.map(\.size) == [200])
    #expect(result.sites.count == 2)
  }

  @Test func liveAtIncludesItsTime() throws {
    #expect(try replay { $0.liveAt = EventTime(1030) }.total.liveBytes == 600)
    #expect(try replay { $0.liveAt = EventTime(1034) }.total.liveBytes == 600)
    #expect(try replay { $0.liveAt = EventTime(1035) }.total.liveBytes == 500)
  }

  @Test func liveBlocksTellEverything() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x10])
    trace.allocate(
      0x1000, 100, alignment: 64, Operation(rawValue: 6), stack: stack, thread: 3, time: 1005)
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    let result = try trace.replay(options)
    #expect(
      result.liveBlocks == [
        LiveBlock(
          address: Address(0x1000), size: 100, alignment: 64, operation: Operation(rawValue: 6),
          stack: stack, thread: ThreadIndex(3), time: EventTime(1005), site: 0)
      ])
  }

  @Test func progressReachesTheEnd() throws {
    let calls = Calls()
    _ = try replay { $0.progress = { calls.add($0, $1) } }
    #expect(calls.last?.done == calls.last?.total)
    #expect((calls.last?.total ?? 0) > 0)
  }
}

/// Collects calls; a replay makes them one after the other.
private final class Calls: @unchecked Sendable {
  private(set) var last: (done: UInt64, total: UInt64)?

  func add(_ done: UInt64, _ total: UInt64) { last = (done, total) }
}
