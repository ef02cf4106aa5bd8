import TraceReader

extension RunningRecording {
  /// Pauses or resumes the recording of allocations.
  ///
  /// - Returns: The event time of the change; nil when it is so already.
  /// - Throws: ``CommandFailure`` when the recording has stopped, cannot be paused or not be added to.
  func setPaused(_ isPaused: Bool) throws(CommandFailure) -> EventTime? {
    let live = try pausable()
    if !isPaused { live.leave() }
    return try live.setPaused(isPaused)
  }

  /// Resumes the recording until this process pauses it: if it is killed before, the recorder does.
  ///
  /// - Returns: The event time of the change, nil when it was running already; and what holds the
  ///   recording, to be let go of behind the pause.
  /// - Throws: As ``setPaused(_:)``.
  func resumeHeld() throws(CommandFailure) -> (time: EventTime?, hold: LiveTrace) {
    let live = try pausable()
    live.hold()
    return (try live.setPaused(false), live)
  }

  private func pausable() throws(CommandFailure) -> LiveTrace {
    try checkRecording()
    let live = try LiveTrace(path: path)
    guard live.canBePaused else {
      throw CommandFailure(
        "process \(pid) is recorded all the time: only one that was started with "
          + "`memtrace record --paused` can be paused and resumed",
        exitStatus: ExitStatus.cannotRecord)
    }
    return live
  }
}
