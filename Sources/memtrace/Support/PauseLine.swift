import Reports
import TraceReader

/// What a pause or a resume has done, on one line.
struct PauseLine {
  let recording: RunningRecording

  init(_ recording: RunningRecording) { self.recording = recording }

  /// - Parameters:
  ///   - isPaused: What was asked for.
  ///   - time: The event time of the change; nil when it was so already.
  /// - Returns: The line.
  /// - Throws: ``TraceError`` when the trace cannot be read.
  func text(isPaused: Bool, at time: UInt64?) throws -> String {
    let what = "the recording of process \(recording.pid)"
    guard let time else { return "\(what) \(isPaused ? "is paused" : "is running") already" }
    let clock = try Trace(path: recording.path).clock
    return "\(what) \(isPaused ? "paused" : "resumed") at "
      + "\(TimeText.timestamp(clock.nanoseconds(EventTime(time)))) in \(recording.path)"
  }
}
