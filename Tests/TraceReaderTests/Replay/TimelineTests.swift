import Testing
import TraceReader
import TraceTestSupport

@Suite struct TimelineTests {
  private func timeline(
    _ events: [(time: UInt64, size: UInt64)], buckets: Int
  ) throws -> Timeline {
    var trace = TraceBuilder()
    for (index, event) in events.enumerated() {
      trace.allocate(UInt64(index + 1) << 12, event.size, time: event.time)
    }
    var options = ReplayOptions()
    options.timelineBuckets = buckets
    return try trace.replay(options).timeline
  }

  @Test func bucketsKeepTheirMaximum() throws {
    let timeline = try timeline([(1000, 10), (1001, 20), (1003, 30)], buckets: 8)
    #expect(timeline.start == EventTime(1000))
    #expect(timeline.bucketTicks == 1)
    #expect(timeline.liveBytes == [10, 30, 30, 60])
    #expect(timeline.liveCounts == [1, 2, 2, 3])
  }

  @Test func bucketsBecomeLongerAsNeeded() throws {
    let timeline = try timeline([(1000, 10), (1003, 20), (1015, 30)], buckets: 4)
    #expect(timeline.bucketTicks == 4)
    #expect(timeline.bucketNanoseconds == 4)
    #expect(timeline.liveBytes == [30, 30, 30, 60])
  }

  @Test func longSilenceIsNoProblem() throws {
    let timeline = try timeline([(1000, 10), (1 << 60, 20)], buckets: 4)
    #expect(timeline.liveBytes.count <= 4)
    #expect(timeline.liveBytes.last == 30)
  }

  @Test(arguments: [2, 3, 7, 64])
  func numberOfBucketsIsBounded(_ buckets: Int) throws {
    let events = (0..<500).map { (time: 1000 + UInt64($0 * $0), size: UInt64(1)) }
    let timeline = try timeline(events, buckets: buckets)
    #expect(timeline.liveBytes.count <= buckets)
    #expect(timeline.liveBytes.last == 500)
    #expect(timeline.liveBytes == timeline.liveBytes.sorted())
  }
}
