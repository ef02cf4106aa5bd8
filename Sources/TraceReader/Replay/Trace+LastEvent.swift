extension Trace {
  /// The time of the last event; 0 without any.
  ///
  /// Reads only the chunks whose headers do not tell.
  /// - Throws: Nothing at present: parts that cannot be read are left out.
  public func lastEventTime() throws(TraceError) -> EventTime {
    var latest = LatestTime(time: eventChunks.lazy.compactMap(\.lastTime).max() ?? 0)
    var merger = EventMerger(file: file, chunks: eventChunks.filter { $0.lastTime == nil })
    merger.run(&latest)
    return EventTime(latest.time)
  }
}

private struct LatestTime: EventSink {
  private(set) var time: UInt64

  init(time: UInt64) {
    self.time = time
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count { time = max(time, run.events[position].time) }
    return true
  }
}
