import CTraceFormat
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension RunningRecording {
  /// - Throws: ``CommandFailure`` when the process does not take requests for snapshots.
  func checkRequests() throws(CommandFailure) { _ = try requestSignal() }

  /// Asks for a snapshot and waits until it is written.
  ///
  /// - Returns: Its number.
  /// - Throws: ``CommandFailure`` when the process does not take requests, ends, or does not answer.
  func takeSnapshot(timeout: Duration) throws(CommandFailure) -> Int {
    _ = try requestSignal()
    let deadline = ContinuousClock.now + timeout
    // One that is being written now would let the process pass over the request.
    var fields = try header().fields
    while fields.snapshots_done < fields.snapshots { fields = try pause(deadline) }
    let number = fields.snapshots
    var nextRequest = ContinuousClock.now
    while fields.snapshots_done <= number {
      if fields.snapshots == number, ContinuousClock.now >= nextRequest {
        try send(requestSignal())
        nextRequest = ContinuousClock.now + .seconds(1)
      }
      fields = try pause(deadline)
    }
    return Int(number)
  }

  /// Asks for a snapshot with a name and waits until it is written.
  ///
  /// The name lies in the header of the trace, since a signal carries none.
  ///
  /// - Returns: Its number.
  /// - Throws: ``CommandFailure`` when the process does not take requests, ends, or does not answer.
  func takeSnapshot(named name: String, timeout: Duration) throws(CommandFailure) -> Int {
    _ = try requestSignal()
    let deadline = ContinuousClock.now + timeout
    let live = try LiveTrace(path: path)
    while !live.lockForAsking() { _ = try pause(deadline) }
    let request = live.ask(name)
    defer { live.askNoMore() }
    var nextRequest = ContinuousClock.now
    while true {
      if let number = live.answer {
        while live.snapshotsDone <= number { _ = try pause(deadline) }
        return Int(number)
      }
      // The process passes over requests while another snapshot is being written.
      if ContinuousClock.now >= nextRequest {
        try send(requestSignal(), value: request)
        nextRequest = ContinuousClock.now + .milliseconds(200)
      }
      _ = try pause(deadline)
    }
  }

  /// The signal that the recorder handles; sent to anything else it would end the process.
  private func requestSignal() throws(CommandFailure) -> Int32 {
    try checkRecording()
    let signal = Int32(truncatingIfNeeded: try header().fields.snapshot_signal)
    guard (SIGUSR1...64).contains(signal) else {
      throw CommandFailure(
        "process \(pid) takes no requests: it was recorded without --snapshot-on-request",
        exitStatus: ExitStatus.cannotRecord)
    }
    guard try ProcessFiles(pid: pid).handles(signal) else {
      throw CommandFailure(
        "process \(pid) takes no requests any more: it no longer handles signal \(signal)",
        exitStatus: ExitStatus.cannotRecord)
    }
    return signal
  }

  private func send(_ signal: Int32, value: UInt32? = nil) throws(CommandFailure) {
    let result =
      value.map { sigqueue(pid, signal, sigval(sival_int: Int32(bitPattern: $0))) }
      ?? kill(pid, signal)
    guard result != 0 else { return }
    throw CommandFailure(
      "process \(pid) cannot be asked: \(Errno(rawValue: errno))",
      exitStatus: ExitStatus.cannotRecord)
  }

  /// Lets some time pass.
  private func pause(_ deadline: ContinuousClock.Instant) throws(CommandFailure) -> mt_file_header {
    guard ContinuousClock.now < deadline else {
      throw CommandFailure(
        "process \(pid) has not written a snapshot in time; its threads may hold back the signal, "
          + "or its disk is full", exitStatus: ExitStatus.ioError)
    }
    guard let process = try? ProcessFiles(pid: pid), !process.isZombie else {
      throw CommandFailure("process \(pid) has ended", exitStatus: ExitStatus.noTrace)
    }
    usleep(5000)
    return try header().fields
  }
}
