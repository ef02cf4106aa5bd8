import Reports

extension RunningRecording {
  /// Records for some time: resumes, waits and pauses again, with a line about each on standard
  /// output.
  ///
  /// The process pauses by itself if this one is killed before. Of several that record at the same time
  /// the last one pauses.
  ///
  /// - Parameters:
  ///   - duration: nil: until ^C.
  ///   - beforePause: What is done at the end, while the process is still recorded.
  /// - Throws: ``CommandFailure`` when the recording cannot be switched.
  func record(
    for duration: Duration?, beforePause: () -> Void = {}
  ) throws(CommandFailure) {
    let line = PauseLine(self)
    let (time, hold) = try resumeHeld()
    defer { hold.letGo() }
    print(try line.text(isPaused: false, at: time))
    // Whoever reads it through a pipe is to know now; if nobody does, the end is to come all the same.
    try? Diagnostics.finishOutput()
    if duration == nil { Diagnostics.write("^C ends the recording; process \(pid) goes on") }
    guard wait(duration) else {
      return print("process \(pid) has ended; its allocations were recorded until then")
    }
    beforePause()
    guard !hold.isHeldByAnother else { return print(line.goesOn) }
    try line.printPause(at: setPaused(true), children: pauseChildren())
  }
}
