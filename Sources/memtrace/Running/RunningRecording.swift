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
    let root = process.root
    return files.lazy
      // In another mount namespace the path leads somewhere else, or nowhere.
      .flatMap { [$0, root.appending($0.components)] }
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

  /// The header as it is now.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be read any more.
  func header() throws(CommandFailure) -> TraceFileHeader {
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

  /// Adds a mark for this moment to the trace.
  ///
  /// - Returns: Its event time.
  /// - Throws: ``CommandFailure`` when the recording has stopped or cannot be added to.
  func addMark(_ name: String) throws(CommandFailure) -> EventTime {
    try checkRecording()
    return try LiveTrace(path: path).addMark(name)
  }

  /// Events after the end of a recording are missing: what a mark says of them would be wrong.
  ///
  /// - Throws: ``CommandFailure`` when the recording has ended.
  func checkRecording() throws(CommandFailure) {
    guard try header().fields.stop_reason == MT_STOP_NONE.rawValue else {
      throw CommandFailure(
        "the recording of process \(pid) has stopped; `memtrace info \(path)` says why",
        exitStatus: ExitStatus.cannotRecord)
    }
  }
}

extension timespec {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }
}
