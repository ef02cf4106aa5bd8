import TraceReader

/// The moment whose live blocks a report shows.
public enum LiveMoment: Sendable, Hashable {
  /// When the live bytes were greatest.
  case peak
  /// A point in time.
  case time(TimePoint)

  /// Reads `peak` or a point in time; other texts are names of marks.
  public init(_ text: String) {
    self = text == "peak" ? .peak : .time(TimePoint(orMark: text))
  }
}

/// Which part of a trace is replayed, in the words of the user.
public struct ReplayRequest: Sendable, Hashable {
  /// Only blocks allocated from this time on.
  public var from: TimePoint?
  /// Only events up to this time.
  public var to: TimePoint?
  /// The state as of this moment instead of the end.
  public var liveAt: LiveMoment?
  /// Only blocks whose requested size is in this range.
  public var sizes: ByteRange?
  /// How many other allocations may come between a temporary one and its free.
  public var temporaryDistance: UInt32 = 1

  /// Makes a request for everything.
  public init() {}

  /// Whether a time is given as a part of the recording.
  var usesPercent: Bool {
    var points = [from, to]
    if case .time(let point) = liveAt { points.append(point) }
    return points.contains { point in
      if case .millionths = point { return true }
      return false
    }
  }
}

extension Trace {
  /// Replays what was asked for.
  ///
  /// - Throws: ``ReportError`` when the time range is empty, `TraceError` when reading fails.
  public func replay(
    _ request: ReplayRequest, keepsLiveBlocks: Bool = false,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws -> ReplayResult {
    var options = ReplayOptions()
    options.sizes = request.sizes?.bytes
    options.temporaryDistance = request.temporaryDistance
    options.progress = progress
    let length = try length(for: request)
    options.timeRange = try timeRange(request, length: length)
    options.passesOverEarlier = true
    switch request.liveAt {
    case .time(let point):
      let moment = try eventTime(of: point, length: length)
      try checkHolds(moment, options.timeRange)
      options.liveAt = moment
    case .peak:
      // Twice: the peak is known only at the end, and the columns are to be exact as of then.
      options.eventLimit = try replay(options).peak.eventIndex
    case nil: break
    }
    options.keepsLiveBlocks = keepsLiveBlocks
    return try replay(options)
  }

  /// The length of the recording that percentages are of.
  ///
  /// A process that was killed has written no end, and the recorder's last note of the time may be
  /// long before the last event, so that has to be found first.
  func length(for request: ReplayRequest) throws -> UInt64 {
    request.usesPercent ? try wholeLength() : recordedNanoseconds
  }

  /// The length up to the end or, of a process that has written none, to the last event.
  func wholeLength() throws -> UInt64 {
    guard header.endTicks == 0 else { return recordedNanoseconds }
    return max(recordedNanoseconds, clock.nanoseconds(try lastEventTime()))
  }

  func timeRange(_ request: ReplayRequest, length: UInt64) throws -> Range<EventTime>? {
    guard request.from != nil || request.to != nil else { return nil }
    let from = try request.from.map { try nanoseconds(at: $0, length: length) } ?? 0
    let to = try request.to.map { try nanoseconds(at: $0, length: length) } ?? .max
    guard from < to else {
      throw ReportError.badValue(
        "--from \(TimeText.timestamp(from)) is not before --to \(TimeText.timestamp(to))")
    }
    let start = try request.from.map { try boundary($0, length: length) } ?? .distantPast
    let end = try request.to.map { try boundary($0, length: length) } ?? .distantFuture
    // Both may fall into one tick of the clock.
    return start < end ? start..<end : start..<max(start, EventTime(start.rawValue &+ 1))
  }

  /// Nothing that is allocated from a time on lives before that time, and of what comes after the
  /// end of a range nothing is known.
  private func checkHolds(_ moment: EventTime, _ range: Range<EventTime>?) throws {
    guard let range else { return }
    let text = { [clock] (time: EventTime) in TimeText.timestamp(clock.nanoseconds(time)) }
    if moment < range.lowerBound {
      throw ReportError.badValue(
        "--live-at \(text(moment)) is not after --from \(text(range.lowerBound))")
    }
    if moment > range.upperBound {
      throw ReportError.badValue(
        "--live-at \(text(moment)) is after --to \(text(range.upperBound))")
    }
  }

  /// Where a range begins, or ends before: just behind a mark, with which no event shares its time
  /// unless it was before.
  private func boundary(_ point: TimePoint, length: UInt64) throws -> EventTime {
    let time = try eventTime(of: point, length: length)
    guard case .mark = point, time < .distantFuture else { return time }
    return EventTime(time.rawValue + 1)
  }

  /// The event time of a point in time.
  ///
  /// - Throws: ``ReportError`` when there is no such mark.
  func eventTime(of point: TimePoint, length: UInt64) throws -> EventTime {
    if let nanoseconds = point.nanoseconds(ofRecording: length) {
      return clock.eventTime(nanoseconds: nanoseconds)
    }
    guard case .mark(let name) = point else { return .distantFuture }
    guard let mark = marks.last(where: { $0.name == name }) else {
      throw ReportError.notFound(TimePoint.message(notFound: name, marks: marks.map(\.name)))
    }
    return mark.time
  }

  /// A point in time in nanoseconds since the recording began.
  ///
  /// - Throws: ``ReportError`` when there is no such mark.
  func nanoseconds(at point: TimePoint, length: UInt64) throws -> UInt64 {
    try point.nanoseconds(ofRecording: length)
      ?? clock.nanoseconds(eventTime(of: point, length: length))
  }

  /// A point in time in nanoseconds since the recording began.
  ///
  /// - Throws: ``ReportError`` when there is no such mark, `TraceError` when reading fails: for a part
  ///   of the recording of a process that was killed, its last event has to be found.
  public func nanoseconds(at point: TimePoint) throws -> UInt64 {
    try nanoseconds(at: point, minimumLength: 0)
  }

  /// The same, where parts are those of a recording that is at least so long, in nanoseconds.
  func nanoseconds(at point: TimePoint, minimumLength: UInt64) throws -> UInt64 {
    var request = ReplayRequest()
    request.from = point
    return try nanoseconds(at: point, length: max(length(for: request), minimumLength))
  }
}
