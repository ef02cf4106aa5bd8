/// Collects the live memory over time in a bounded number of buckets.
///
/// The length of a recording is not known for sure before its last event, so when the buckets do
/// not suffice, each two become one of double length.
struct TimelineBuilder {
  private let start: UInt64
  private var width: UInt64
  private var end: UInt64
  private let capacity: Int
  private var bytes: [UInt64] = []
  private var counts: [UInt64] = []
  private var greatestBytes: UInt64 = 0
  private var greatestCount: UInt64 = 0

  /// - Parameters:
  ///   - start: The beginning of the first bucket.
  ///   - capacity: The greatest number of buckets, at least 2.
  init(start: UInt64, capacity: Int) {
    self.capacity = max(2, min(capacity, 1 << 20)) & ~1
    self.start = start
    width = 1
    end = Self.sum(start, width)
  }

  /// The last time for which ``advance(to:_:_:)`` need not be called any more.
  @inline(__always)
  var lastTime: UInt64 { end == .max ? .max : end &- 1 }

  /// Comes to the time of an event; what was live before it has been so since the last one.
  @inline(__always)
  mutating func advance(to time: UInt64, _ liveBytes: UInt64, _ liveCount: UInt64) {
    if time >= end { closeBuckets(before: time, liveBytes, liveCount) }
  }

  /// Notes what is live after an event that made it more.
  @inline(__always)
  mutating func note(_ liveBytes: UInt64, _ liveCount: UInt64) {
    // Seldom so: a branch that is foreseen costs less than to store the same again.
    if liveBytes > greatestBytes { greatestBytes = liveBytes }
    if liveCount > greatestCount { greatestCount = liveCount }
  }

  @inline(never)
  private mutating func closeBuckets(before time: UInt64, _ lastBytes: UInt64, _ lastCount: UInt64)
  {
    while time >= end, end < .max {
      // A long silence would fill many buckets one by one: widen them first.
      while (time &- start) / width >= UInt64(capacity) { double() }
      if time < end { break }
      closeBucket(lastBytes, lastCount)
    }
  }

  private mutating func closeBucket(_ lastBytes: UInt64, _ lastCount: UInt64) {
    bytes.append(greatestBytes)
    counts.append(greatestCount)
    greatestBytes = lastBytes
    greatestCount = lastCount
    end = Self.sum(end, width)
  }

  private mutating func double() {
    // The open bucket is the left half of a double one, or its right half.
    let openIsRight = bytes.count % 2 == 1
    if openIsRight {
      greatestBytes = max(greatestBytes, bytes.removeLast())
      greatestCount = max(greatestCount, counts.removeLast())
    }
    bytes = Self.halved(bytes)
    counts = Self.halved(counts)
    end = openIsRight ? end : Self.sum(end, width)
    width = width > .max / 2 ? .max : width * 2
  }

  private static func halved(_ values: [UInt64]) -> [UInt64] {
    stride(from: 0, to: values.count - 1, by: 2).map { max(values[$0], values[$0 + 1]) }
  }

  private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }

  /// The timeline with the open bucket as its last.
  func finished(clock: TraceClock) -> Timeline {
    var timeline = Timeline()
    timeline.start = EventTime(start)
    timeline.bucketTicks = width
    timeline.bucketNanoseconds = clock.span(nanoseconds: width)
    timeline.liveBytes = bytes + [greatestBytes]
    timeline.liveCounts = counts + [greatestCount]
    return timeline
  }
}
