extension Trace {
  /// The time of the last event; 0 without any.
  ///
  /// Reads only the chunks whose headers do not tell.
  /// - Throws: Nothing at present: parts that cannot be read are left out.
  public func lastEventTime() throws(TraceError) -> EventTime {
    var latest = LastEvent()
    latest.time = latestFullChunk
    read(eventChunks.filter { $0.lastTime == nil }, &latest)
    return EventTime(latest.time)
  }

  /// The last event that has a stack, of whichever thread; nil without any.
  ///
  /// Reads only the chunks that can hold it.
  /// - Throws: Nothing at present: parts that cannot be read are left out.
  public func lastEvent() throws(TraceError) -> MemoryError.EventSite? {
    var latest = LastEvent()
    let end = latestFullChunk
    read(eventChunks.filter { $0.lastTime.map { $0 == end } ?? true }, &latest)
    return latest.site
  }

  private var latestFullChunk: UInt64 { eventChunks.lazy.compactMap(\.lastTime).max() ?? 0 }

  private func read(_ chunks: [EventChunk], _ latest: inout LastEvent) {
    var merger = EventMerger(file: file, chunks: chunks)
    merger.run(&latest)
  }
}

private struct LastEvent: EventSink {
  var time: UInt64 = 0
  private(set) var site: MemoryError.EventSite?

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      let event = run.events[position]
      time = max(time, event.time)
      if event.stack != 0, event.time >= site?.time.rawValue ?? 0 { note(event, run) }
    }
    return true
  }

  private mutating func note(_ event: RawEvent, _ run: EventRun) {
    let operation = Operation(rawValue: event.operation)
    site = MemoryError.EventSite(
      operation: operation == .reallocBegin ? .realloc : operation, stack: StackID(event.stack),
      thread: ThreadIndex(run.thread), time: EventTime(event.time))
  }
}
