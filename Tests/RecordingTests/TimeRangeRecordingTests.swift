import Testing
import TraceTestSupport

@testable import TraceReader

/// What the recorder says of the times of its chunks.
@Suite struct TimeRangeRecordingTests {
  @Test func fullChunksTellTheirLastTimes() throws {
    let run = try TracedRun([try TestProgram("busy.c").path.string, "100000"])
    let trace = try run.root()
    // Without the chunk of the recorder's own blocks.
    let chunks = trace.eventChunks().filter { $0.thread != 0 }
    let recoder = EventRecoder()

    #expect(chunks.count > 3)
    #expect(chunks.last?.lastTime == nil)
    for chunk in chunks.dropLast() {
      let events = try #require(recoder.events(of: chunk, in: trace.file, limit: .max).events)
      #expect(chunk.lastTime == events.last?.time.rawValue)
    }
    // By the chunks, not by the clock: the process may have stood still in any of them.
    let middle = chunks[chunks.count / 2].baseTime
    let needed = trace.eventChunks(from: middle).count
    #expect(needed < chunks.count)

    var options = ReplayOptions()
    options.timeRange = EventTime(middle)..<EventTime.distantFuture
    let all = try trace.replay(options)
    options.passesOverEarlier = true
    let part = try trace.replay(options)
    #expect(part.total == all.total && part.sites == all.sites && part.peak.bytes == all.peak.bytes)
    #expect(part.total.totalCount > 10_000)
    #expect(part.eventCount < all.eventCount)
  }

  @Test func blocksAfterAPauseAreDatedAfterIt() throws {
    let trace = try TracedRun([try TestProgram("quiet_spells.c").path.string]).root()
    let events = try MarkedEvents(trace)
    for pause in (0 as UInt64)..<16 {
      let before = try #require(events.lives[51000 + pause]?.first).allocation.time
      let after = try #require(events.lives[52000 + pause]?.first).allocation.time
      #expect(trace.clock.nanoseconds(from: before, to: after) >= 59_500_000, "pause \(pause)")
    }
  }
}
