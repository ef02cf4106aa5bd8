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
  /// - Throws: ``CommandFailure`` when the trace cannot be read any more.
  func text(isPaused: Bool, at time: EventTime?) throws(CommandFailure) -> String {
    let what = "the recording of process \(recording.pid)"
    guard let time else { return "\(what) \(isPaused ? "is paused" : "is running") already" }
    return "\(what) \(isPaused ? "paused" : "resumed") at \(try recording.timestamp(time)) "
      + "in \(recording.path)"
  }

  /// What is said at the end of a recording for some time where others record for longer.
  var goesOn: String {
    "the recording of process \(recording.pid) goes on: another memtrace has resumed it as well"
  }

  /// Prints what the end of a recording for some time has paused.
  ///
  /// - Parameters:
  ///   - time: The event time of the pause; nil when it was paused already.
  ///   - children: How many children of the process were paused as well.
  /// - Throws: ``CommandFailure`` when the trace cannot be read any more.
  func printPause(at time: EventTime?, children: Int) throws(CommandFailure) {
    print(try text(isPaused: true, at: time))
    if children > 0 { print("paused as well: \(children.grouped) of its children") }
  }
}
