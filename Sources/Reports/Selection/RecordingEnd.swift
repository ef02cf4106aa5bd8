import TraceReader

extension Trace {
  /// A line for when points in time that the user gave come after the end of the recording, which
  /// then holds none of what they ask for; nil when none does.
  ///
  /// - Parameter points: The options, and what was given for them.
  /// - Returns: The line; nil when the recording goes on as long.
  /// - Throws: `TraceError` when reading fails.
  public func endNote(_ points: [(option: String, point: TimePoint?)]) throws -> String? {
    var times: [(option: String, nanoseconds: UInt64)] = []
    for case (let option, let point?) in points {
      // Marks and parts of the recording are in it.
      guard case .nanoseconds(let time) = point else { continue }
      times.append((option, time))
    }
    guard times.contains(where: { $0.nanoseconds > recordedNanoseconds }) else { return nil }
    let end = try wholeLength()
    // Times are shown in whole microseconds: one that was copied from a report is not after it.
    var late: [String] = []
    for (option, time) in times where time / 1000 > end / 1000 && !late.contains(option) {
      late.append(option)
    }
    if late.isEmpty { return nil }
    return
      "The recording ends at \(TimeText.timestamp(end)), before \(late.joined(separator: " and "))."
  }

  /// A line for when this part of the trace begins or ends after the recording does.
  ///
  /// - Parameters:
  ///   - request: The part of the trace.
  ///   - moment: The option that gave the moment.
  ///   - others: Other options, and what was given for them.
  /// - Returns: The line; nil when the recording goes on as long.
  /// - Throws: `TraceError` when reading fails.
  public func endNote(
    _ request: ReplayRequest, moment: String = "--live-at",
    others: [(option: String, point: TimePoint?)] = []
  ) throws -> String? {
    var liveAt: TimePoint?
    if case .time(let point) = request.liveAt { liveAt = point }
    return try endNote([("--from", request.from), ("--to", request.to), (moment, liveAt)] + others)
  }
}
