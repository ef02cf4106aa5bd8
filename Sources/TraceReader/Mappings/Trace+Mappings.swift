extension Trace {
  /// Whether calls that map memory were recorded.
  public var recordsMappings: Bool { header.flags.contains(.mappings) }

  /// What the program's calls had mapped at a moment, and what they had unmapped before.
  ///
  /// - Parameter end: The moment; everything by default.
  /// - Returns: The mappings, and sums of them.
  public func mappings(until end: EventTime = .distantFuture) -> MappingHistory {
    var replay = MappingReplay(mappingCalls, until: end, start: header.firstTime)
    replay.finishTimeline(at: min(end, header.lastTime), clock: clock)
    return replay.history
  }
}

extension TraceHeader {
  /// When the recording began, as event times are.
  fileprivate var firstTime: EventTime { EventTime(startTicks >> min(tickShift, 63)) }

  /// The last time that the recorder has noted.
  fileprivate var lastTime: EventTime {
    EventTime(max(endTicks, latestTicks, stopTicks) >> min(tickShift, 63))
  }
}
