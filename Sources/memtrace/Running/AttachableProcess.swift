import Attaching
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A process that is running already, and is to be recorded.
struct AttachableProcess {
  private let files: ProcessFiles
  private let library: FilePath

  /// - Throws: ``CommandFailure`` when there is no such process, or the recorder is missing.
  init(pid: pid_t) throws(CommandFailure) {
    files = try ProcessFiles(pid: pid)
    guard !files.isZombie else { throw Self.hasEnded(pid) }
    library = try PreloadLocator.current(environment: .current).locate()
  }

  /// What its trace is named after.
  var name: String {
    let link = FilePath("/proc/\(files.pid)/exe").resolved?.lastComponent?.string
    return link.map { $0.hasSuffix(" (deleted)") ? String($0.dropLast(10)) : $0 } ?? files.name
  }

  /// Tells a process that has none of what is looked for from one that has ended meanwhile.
  ///
  /// - Throws: ``CommandFailure`` when it has ended.
  func checkIsThere() throws(CommandFailure) {
    guard let now = try? ProcessFiles(pid: files.pid), !now.isZombie else {
      throw Self.hasEnded(files.pid)
    }
  }

  private static func hasEnded(_ pid: pid_t) -> CommandFailure {
    CommandFailure("process \(pid) has ended", exitStatus: ExitStatus.noTrace)
  }

  /// Where we find what the process has at a path.
  func place(of path: FilePath) -> FilePath {
    FilePath("/proc/\(files.pid)/root").appending(path.components)
  }

  /// Whether a folder is the same for the process, which may be in a container; or none for both.
  func sees(_ folder: FilePath) -> Bool {
    let ours = try? FileStatus(of: folder)
    let theirs = try? FileStatus(of: place(of: folder))
    guard let ours, let theirs else { return (ours == nil) == (theirs == nil) }
    return ours.isSameFile(as: theirs)
  }

  /// Whether it has our file system, as far as its root tells.
  var seesOurs: Bool { sees("/") }

  /// The recording that it is under already; nil: none.
  ///
  /// - Throws: ``CommandFailure`` when recording cannot be resumed.
  var recording: RunningRecording? {
    get throws(CommandFailure) {
      guard let recording = RunningRecording.ifAny(of: files) else { return nil }
      guard try LiveTrace(path: recording.path).canBePaused else {
        throw CommandFailure(
          "process \(files.pid) is being recorded already, in \(recording.path)",
          exitStatus: ExitStatus.cannotRecord)
      }
      return recording
    }
  }

  /// Brings the recorder in, which begins paused; ``checkState()`` comes first.
  ///
  /// - Parameters:
  ///   - output: The absolute path of the trace.
  ///   - options: How to record.
  ///   - takesSnapshots: Whether the process is to take requests for heap snapshots.
  /// - Returns: The recording.
  /// - Throws: ``CommandFailure`` when it cannot be attached to; it goes on as before.
  func attach(
    output: FilePath, options: AttachingOptions, takesSnapshots: Bool
  ) throws(CommandFailure) -> RunningRecording {
    try checkExecutable()
    let environment = RecordingEnvironment(
      library: library, output: output,
      depth: options.depth ?? RecordedEventsOptions.standardDepth,
      sampleInterval: options.sampleInterval, isPaused: true,
      recordsMappings: options.mappings, variables: options.size.variables,
      followsChildren: !options.noFollow, sessionID: .random(),
      snapshots: takesSnapshots ? ["MEMTRACE_SNAPSHOT_ON_REQUEST": "1"] : [:])
    var variables = environment.applied(to: EnvironmentVariables([:]))
    variables["LD_PRELOAD"] = nil
    variables["MEMTRACE_ATTACHED"] = String(files.ageNanoseconds ?? 0)
    // What goes wrong is said here, not in the output of the process.
    variables["MEMTRACE_VERBOSE"] = "0"
    let injection = RecorderInjection(
      pid: files.pid, library: library.string, options: variables.entries.map(\.bytes),
      isConfined: files.confinements != [ProcessFiles.Confinement()])
    do {
      try Self.uninterrupted { () throws(AttachError) in try injection.run() }
    } catch {
      try checkIsThere()
      throw failure(error)
    }
    guard let recording = RunningRecording.ifAny(of: files) else {
      return RunningRecording(pid: files.pid, writing: output)
    }
    return recording
  }

  // MARK: What must be so

  /// Whether it may be attached to, as far as its state tells.
  ///
  /// - Throws: ``CommandFailure`` where it may not.
  func checkState() throws(CommandFailure) {
    if files.pid == getpid() { throw refusal("it is memtrace itself") }
    if let user = files.user, geteuid() != 0, user != geteuid() {
      throw refusal("it belongs to another user (\(user)); ask as that user, or as root")
    }
    guard isOpenToUs else { throw refusal(Self.notPermitted) }
    if files.hasLostFirstThread {
      throw refusal("its first thread has ended; start it with `memtrace record`")
    }
    if files.isStopped {
      throw refusal("it is stopped; let it go on first (kill -CONT \(files.pid))")
    }
    // By filters, which are looked at once a thread is stopped; not where threads have other ones.
    let confinements = files.confinements
    if confinements.count > 1 || confinements.contains(where: \.isOpaque) {
      throw failure(.confined)
    }
  }

  /// Whether its files may be looked at: not those of a process that has given up being dumped, or has rights
  /// that we have not.
  private var isOpenToUs: Bool {
    var status = stat()
    return stat("/proc/\(files.pid)/root/.", &status) == 0 || errno != EACCES && errno != EPERM
  }

  private func checkExecutable() throws(CommandFailure) {
    if let reason = Recordability.refusal(ofRunning: FilePath("/proc/\(files.pid)/exe")) {
      throw refusal(reason)
    }
  }

  private func refusal(_ reason: String) -> CommandFailure {
    CommandFailure(
      "cannot attach to process \(files.pid): \(reason)", exitStatus: ExitStatus.cannotRecord)
  }

  // MARK: What went wrong

  private func failure(_ error: AttachError) -> CommandFailure {
    switch error {
    case .notPermitted: refusal(Self.notPermitted)
    case .tracedByOther: refusal("a debugger or strace traces it already")
    case .ended: Self.hasEnded(files.pid)
    case .noSafePoint(let obstacle):
      refusal("none of its threads was in a place where it can be disturbed: \(obstacle)")
    case .noLoader: refusal("it has no loader of glibc that could be called")
    case .refused(""):
      // What the C library has for this before 2.34 leaves no message.
      refusal("its loader refuses the recorder; its C library may be older than that of memtrace")
    case .refused(let message): refusal("its loader refuses the recorder: \(message)")
    case .notRecording(let message):
      refusal(message.isEmpty ? "the recorder did not begin" : message)
    case .confined:
      refusal(
        "it is under seccomp, which may end it for system calls of the recorder; start it with "
          + "`memtrace record`")
    case .unknownFilters:
      refusal(
        "it is under seccomp, which may end it for system calls of the recorder, and its filter "
          + "may not be looked at; ask as root, outside of its container")
    case .recordedAlready: refusal("the recorder is in it already, and its recording has ended")
    case .failed(let number): refusal("\(Errno(rawValue: number))")
    }
  }

  private static var notPermitted: String {
    let scope = (try? ProcessFiles.bytes("/proc/sys/kernel/yama/ptrace_scope"))?.first
    guard geteuid() != 0, let scope, scope != UInt8(ascii: "0") else {
      return "the system does not let it be traced (ptrace); start it with "
        + "`memtrace record --paused`"
    }
    return "kernel.yama.ptrace_scope lets root trace it only: use sudo, or start it with "
      + "`memtrace record --paused`"
  }

  /// Makes calls that must not end halfway.
  private static func uninterrupted(_ body: () throws(AttachError) -> Void) throws(AttachError) {
    var signals = sigset_t()
    var before = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
  }
}
