/// How much was live at a moment.
public struct LiveTotal: Hashable, Sendable {
  /// Live blocks; an estimate where the trace is a sample.
  public var count: UInt64
  /// Their requested bytes; likewise.
  public var bytes: UInt64
}

extension Trace {
  /// What was live at several moments, in one pass over the events; without the recorder's own
  /// blocks, as in all reports.
  ///
  /// - Parameters:
  ///   - times: The moments, in any order; the events up to each count.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: One element per moment, in their order.
  /// - Throws: Nothing at present: parts that cannot be read are left out.
  public func liveTotals(
    at times: [EventTime], progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws(TraceError) -> [LiveTotal] {
    let order = times.indices.sorted { times[$0] < times[$1] }
    var options = ReplayOptions()
    options.liveAt = order.last.map { times[$0] }
    let limits = ReplayLimits(options)
    var counter = LiveCounter(
      heap: HeapReplay(
        limits: limits, stackCount: 0,
        timeline: TimelineBuilder(start: 0, capacity: 1), rare: RareEvents(errorLimit: 0),
        sampling: Sampling(header: header), hasAnnounced: header.flags.contains(.announced)),
      times: order.map { times[$0].rawValue })
    var merger = EventMerger(
      file: file, chunks: eventChunks(to: limits.lastTime), progress: progress)
    merger.run(&counter)
    counter.finish()
    var totals = Array(repeating: LiveTotal(count: 0, bytes: 0), count: times.count)
    for (position, total) in zip(order, counter.totals) { totals[position] = total }
    return totals
  }
}

/// Looks at a replay each time that a moment has passed.
private struct LiveCounter: ~Copyable, EventSink {
  var heap: HeapReplay
  /// In ascending order.
  let times: [UInt64]
  private(set) var totals: [LiveTotal] = []

  init(heap: consuming HeapReplay, times: [UInt64]) {
    self.heap = heap
    self.times = times
  }

  mutating func receive(_ run: EventRun) -> Bool {
    var start = 0
    while start < run.count {
      let moment = totals.count < times.count ? times[totals.count] : .max
      var end = start
      while end < run.count, run.events[end].time <= moment { end += 1 }
      if end > start, !heap.receive(run.part(from: start, count: end - start)) { return false }
      if end < run.count { note() }
      start = end
    }
    return true
  }

  private mutating func note() {
    let (count, bytes) = (heap.tracker.liveCount, heap.tracker.liveBytes)
    let isEstimate = heap.sampling.isOn
    totals.append(
      LiveTotal(
        count: isEstimate ? SampleWeight.wholeCount(count) : count,
        bytes: isEstimate ? SampleWeight.wholeBytes(bytes) : bytes))
  }

  /// After the last event.
  mutating func finish() {
    heap.finish()
    while totals.count < times.count { note() }
  }
}
