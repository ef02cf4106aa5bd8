import CTraceFormat
import Reports
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// A process that runs and is being recorded, found by its process ID.
struct RunningRecording {
  let pid: pid_t
  /// Its trace, as this process can open it.
  let path: FilePath

  /// Finds the trace of a process: the one that was named, else among the files that the process
  /// has mapped, else, where these may not be looked at, among those of the working directory.
  ///
  /// - Parameters:
  ///   - pid: The process ID.
  ///   - trace: The trace as the user named it.
  ///   - options: What the process should have been recorded with, for messages.
  /// - Throws: ``CommandFailure`` when there is no such process, it cannot be looked at, or is not
  ///   being recorded.
  init(pid: pid_t, trace: FilePath? = nil, options: String = "") throws(CommandFailure) {
    self.pid = pid
    let process = try ProcessFiles(pid: pid)
    guard !process.isZombie else {
      throw CommandFailure("process \(pid) has ended", exitStatus: ExitStatus.noTrace)
    }
    if let user = process.user, geteuid() != 0, user != geteuid() {
      throw CommandFailure(
        "process \(pid) belongs to another user (\(user)): ask as that user, or as root",
        exitStatus: ExitStatus.noTrace)
    }
    if let trace {
      path = trace
      guard Self.isWritten(trace, by: process) else {
        throw CommandFailure(
          "\(trace) is no trace that process \(pid) is writing", exitStatus: ExitStatus.noTrace)
      }
      return
    }
    guard let found = Self.find(process) else {
      throw Self.failure(process, options: options)
    }
    path = found
  }

  /// The recording of a process that is known to write this trace.
  init(pid: pid_t, writing path: FilePath) {
    self.pid = pid
    self.path = path
  }

  /// Finds the trace of a process, if it is being recorded.
  ///
  /// - Returns: Its recording; nil when there is none.
  static func ifAny(of process: ProcessFiles) -> RunningRecording? {
    find(process).map { RunningRecording(pid: process.pid, writing: $0) }
  }

  private static func find(_ process: ProcessFiles) -> FilePath? {
    guard let files = process.sharedFiles else { return nearbyTrace(of: process) }
    return files.lazy
      // In another mount namespace the path leads somewhere else, or nowhere.
      .flatMap { [$0, FilePath("/proc/\(process.pid)/root").appending($0.components)] }
      .first { path in
        TraceFileHeader(readingFrom: path).map {
          process.ids.contains($0.pid) && $0.hasNoEnding
        } ?? false
      }
  }

  /// The trace of a process whose mappings nobody but root may see, as it is not dumpable.
  ///
  /// It often lies where the process was started; the latest one, should it have run other programs
  /// before.
  private static func nearbyTrace(of process: ProcessFiles) -> FilePath? {
    let directory = FilePath.workingDirectory
    return directory.directoryEntries.filter { $0.hasSuffix(".mtrace") }
      .map { directory.appending($0) }
      .filter { isWritten($0, by: process) }
      .max { startTime($0) < startTime($1) }
  }

  private static func startTime(_ path: FilePath) -> UInt64 {
    TraceFileHeader(readingFrom: path)?.fields.start_mono_ns ?? 0
  }

  /// Whether some process is writing a trace: one that has its ID in some namespace, and has mapped
  /// it, as far as that may be seen.
  static func isWritten(_ path: FilePath) -> Bool {
    guard TraceFileHeader(readingFrom: path)?.hasNoEnding == true else { return false }
    return FilePath("/proc").directoryEntries.contains { entry in
      guard let pid = pid_t(entry), let process = try? ProcessFiles(pid: pid), !process.isZombie,
        isWritten(path, by: process)
      else { return false }
      guard let files = process.sharedFiles else { return process.user == geteuid() }
      // In another mount namespace it may lie somewhere else.
      return files.contains { $0.lastComponent == path.lastComponent }
    }
  }

  /// Whether a trace has the process's ID, no end, and was not begun before the process: it would
  /// be of an earlier one with the same ID.
  private static func isWritten(_ path: FilePath, by process: ProcessFiles) -> Bool {
    guard let header = TraceFileHeader(readingFrom: path), process.ids.contains(header.pid),
      header.hasNoEnding
    else { return false }
    guard let started = process.startSeconds else { return true }
    // The kernel counts the process's age in ticks of 10 ms, on a clock that goes on in sleep.
    var (awake, always, wall) = (timespec(), timespec(), timespec())
    clock_gettime(CLOCK_MONOTONIC, &awake)
    clock_gettime(CLOCK_BOOTTIME, &always)
    clock_gettime(CLOCK_REALTIME, &wall)
    let processStart = wall.seconds - (always.seconds - started)
    return Double(header.fields.start_wall_ns) / 1e9 > processStart - 1
  }

  private static func failure(_ process: ProcessFiles, options: String) -> CommandFailure {
    let pid = process.pid
    guard process.sharedFiles == nil else {
      return CommandFailure(
        "process \(pid) is not being recorded; start it with `memtrace record\(options) -- COMMAND`, "
          + "or attach to it with `memtrace attach`",
        exitStatus: ExitStatus.noTrace)
    }
    return CommandFailure(
      "process \(pid) does not let its memory be looked at, and no trace here is its own; name "
        + "its trace with --trace", exitStatus: ExitStatus.noTrace)
  }

  private func header() throws(CommandFailure) -> TraceFileHeader {
    guard let header = TraceFileHeader(readingFrom: path) else { throw unreadable }
    return header
  }

  /// An event time as users read it: since the start of the recording.
  ///
  /// Read from the header alone, since the trace of a process that runs may be huge.
  ///
  /// - Returns: Minutes and seconds, as reports have them.
  /// - Throws: ``CommandFailure`` when the header cannot be read any more.
  func timestamp(_ time: EventTime) throws(CommandFailure) -> String {
    guard let header = try? TraceHeader(path: path) else { throw unreadable }
    return TimeText.timestamp(TraceClock(header: header).nanoseconds(time))
  }

  private var unreadable: CommandFailure {
    CommandFailure("\(path): cannot be read any more", exitStatus: ExitStatus.noTrace)
  }

  // MARK: Marks

  /// Adds a mark for this moment to the trace.
  ///
  /// - Returns: Its event time.
  /// - Throws: ``CommandFailure`` when the recording has stopped or cannot be added to.
  func addMark(_ name: String) throws(CommandFailure) -> EventTime {
    try checkRecording()
    return try LiveTrace(path: path).addMark(name)
  }

  // MARK: Pauses

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

  /// Lets time pass, until the process ends or somebody interrupts (SIGINT, SIGTERM).
  ///
  /// - Parameter length: How much; nil: without end.
  /// - Returns: Whether the process is still there.
  func wait(_ length: Duration?) -> Bool {
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

  /// Events after the end of a recording are missing: what a mark says of them would be wrong.
  private func checkRecording() throws(CommandFailure) {
    guard try header().fields.stop_reason == MT_STOP_NONE.rawValue else {
      throw CommandFailure(
        "the recording of process \(pid) has stopped; `memtrace info \(path)` says why",
        exitStatus: ExitStatus.cannotRecord)
    }
  }

  // MARK: Snapshots

  /// - Throws: ``CommandFailure`` when the process does not take requests for snapshots.
  func checkRequests() throws(CommandFailure) { _ = try requestSignal() }

  /// Asks for a snapshot and waits until it is written.
  ///
  /// - Returns: Its number.
  /// - Throws: ``CommandFailure`` when the process does not take requests, ends, or does not answer.
  func takeSnapshot(timeout: Duration) throws(CommandFailure) -> Int {
    let signal = try requestSignal()
    let deadline = ContinuousClock.now + timeout
    // One that is being written now would let the process pass over the request.
    var fields = try header().fields
    while fields.snapshots_done < fields.snapshots { fields = try pause(deadline) }
    let number = fields.snapshots
    var nextRequest = ContinuousClock.now
    while fields.snapshots_done <= number {
      if fields.snapshots == number, ContinuousClock.now >= nextRequest {
        try send(signal)
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
    try checkRecording()
    let signal = try requestSignal()
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
        try send(signal, value: request)
        nextRequest = ContinuousClock.now + .milliseconds(200)
      }
      _ = try pause(deadline)
    }
  }

  /// The signal that the recorder handles; sent to anything else it would end the process.
  private func requestSignal() throws(CommandFailure) -> Int32 {
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
    guard kill(pid, 0) == 0 || errno != ESRCH else {
      throw CommandFailure("process \(pid) has ended", exitStatus: ExitStatus.noTrace)
    }
    usleep(5000)
    return try header().fields
  }
}

extension timespec {
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }

  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }
}
