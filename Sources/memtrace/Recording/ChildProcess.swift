import CLaunch
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// How a process ended.
enum ProcessEnding: Equatable {
  case exited(Int32)
  case killed(signal: Int32)

  /// What a shell would report for it.
  var exitStatus: Int32 {
    switch self {
    case .exited(let status): status
    case .killed(let signal): ExitStatus.killed(by: signal)
    }
  }
}

/// A command that runs in place of memtrace: same input, output, directory, signals.
///
/// The launcher blocks the signals it has to watch instead of handling them, and gives the child
/// back the mask that it inherited itself. So no disposition that a child inherits ever changes,
/// and it starts exactly as it would have without memtrace.
struct ChildProcess {
  let pid: pid_t
  private let savedMask: sigset_t

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - executable: The file to execute.
  ///   - arguments: `argv`, with the name of the command first.
  ///   - environment: The whole environment.
  /// - Returns: The running process.
  /// - Throws: ``CommandFailure`` with 126 or 127 when the kernel refuses.
  static func launch(
    executable: FilePath, arguments: [CString], environment: EnvironmentVariables
  ) throws(CommandFailure) -> ChildProcess {
    var watched = watchedSignals()
    var mask = sigset_t()
    sigprocmask(SIG_BLOCK, &watched, &mask)
    var pid: pid_t = 0
    var error = spawn(&pid, executable, arguments, environment, mask)
    if error == ENOEXEC {
      // A script without a first line that names its interpreter: execvp(3) gives it to the shell.
      error = spawn(
        &pid, "/bin/sh", shellArguments(executable, arguments), environment, mask)
    }
    guard error == 0 else {
      sigprocmask(SIG_SETMASK, &mask, nil)
      // The kernel says so of what the file names: it was there a moment ago itself.
      let reason =
        error == ENOENT && executable.exists
        ? "the interpreter that its first line names, or its dynamic linker, is not there"
        : "\(Errno(rawValue: error))"
      throw CommandFailure("\(executable): \(reason)", exitStatus: ExitStatus.notExecutable)
    }
    return ChildProcess(pid: pid, savedMask: mask)
  }

  /// Waits for the end of the process, and passes on the signals that were meant for it.
  func wait() -> ProcessEnding {
    defer {
      var mask = savedMask
      sigprocmask(SIG_SETMASK, &mask, nil)
    }
    var watched = Self.watchedSignals()
    while true {
      if let ending = poll() { return ending }
      var info = siginfo_t()
      let signal = sigwaitinfo(&watched, &info)
      guard signal > 0, signal != SIGCHLD else { continue }
      pass(on: signal, info)
    }
  }

  /// Gives the process a signal that was meant for it.
  ///
  /// The terminal sends its signals to the whole foreground group, the process included; and so do
  /// the process and those that it has started (`kill 0`).
  private func pass(on signal: Int32, _ info: siginfo_t) {
    if info.si_code == SI_KERNEL, !Self.isForMemtraceAlone(signal) { return }
    if Self.isFromWithin(info) { return }
    guard info.si_code == SI_QUEUE else {
      kill(pid, signal)
      return
    }
    _ = sigqueue(pid, signal, info._sifields._rt.si_sigval)
  }

  /// Looks whether the process has ended.
  ///
  /// Who has lost its parent and became memtrace's child is let go on the way: memtrace may be the
  /// first process of a container, as the command would have been.
  private func poll() -> ProcessEnding? {
    var status: Int32 = 0
    while true {
      let result = waitpid(-1, &status, WNOHANG)
      if result == pid { break }
      if result == 0 || (result < 0 && errno == EINTR) { return nil }
      if result < 0 { return .exited(ExitStatus.cannotRecord) }
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
  }

  /// The signals that the process may be meant by when memtrace gets them.
  ///
  /// Those of faults are sent as well, by whoever wants to see where a process hangs (`timeout -s ABRT`,
  /// the watchdog of a service manager). A fault of memtrace itself ends it though they are blocked.
  private static func watchedSignals() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [
      SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH, SIGURG, SIGIO, SIGPWR,
      SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ,
      SIGSTKFLT,
    ] + alarms { sigaddset(&set, signal) }
    for signal in __libc_current_sigrtmin()...__libc_current_sigrtmax() { sigaddset(&set, signal) }
    return set
  }

  /// An alarm that was set before memtrace was started, and the end of a terminal, of which only the
  /// leader of its session is told: both would have been for the process.
  private static func isForMemtraceAlone(_ signal: Int32) -> Bool {
    alarms.contains(signal) || (signal == SIGHUP && getsid(0) == getpid())
  }

  /// Whether somebody whom the command has started, or itself, has sent a signal, and is still there
  /// to be asked for its parents.
  private static func isFromWithin(_ info: siginfo_t) -> Bool {
    guard [SI_USER, SI_QUEUE, SI_TKILL].contains(Int(info.si_code)) else { return false }
    let own = getpid()
    var pid = info._sifields._kill.si_pid
    while pid > 0 {
      guard let parent = (try? ProcessFiles(pid: pid))?.parent else { return false }
      if parent == own { return true }
      pid = parent
    }
    return false
  }

  private static let alarms = [SIGALRM, SIGVTALRM, SIGPROF]

  private static func shellArguments(_ script: FilePath, _ arguments: [CString]) -> [CString] {
    let path = script.withPlatformString { CString(copying: $0) }
    return [CString("/bin/sh"), path] + arguments.dropFirst()
  }

  private static func spawn(
    _ pid: inout pid_t, _ executable: FilePath, _ arguments: [CString],
    _ environment: EnvironmentVariables, _ mask: sigset_t
  ) -> Int32 {
    var mask = mask
    var error: Int32 = 0
    pid = CString.withArray(arguments) { argv in
      CString.withArray(environment.entries) { envp in
        executable.withPlatformString { claunch_start($0, argv, envp, &mask, &error) }
      }
    }
    return error
  }
}
