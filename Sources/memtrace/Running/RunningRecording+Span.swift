import Reports

#if canImport(Glibc)
  import Glibc
#endif

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

  /// Lets time pass, until the process ends or somebody interrupts (SIGINT, SIGTERM).
  ///
  /// - Parameter length: How much; nil: without end.
  /// - Returns: Whether the process is still there.
  private func wait(_ length: Duration?) -> Bool {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    defer { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
    let deadline = length.map { ContinuousClock.now + $0 }
    while let process = try? ProcessFiles(pid: pid), !process.isZombie {
      let left = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
      guard left > .zero else { return true }
      var slice = timespec(min(left, .milliseconds(100)))
      if sigtimedwait(&signals, nil, &slice) > 0 { return true }
    }
    return false
  }
}

extension timespec {
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}
