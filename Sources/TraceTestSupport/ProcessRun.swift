import Dispatch
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A process that a test ran to its end: what it printed and how it ended.
public struct ProcessRun: Sendable {
  /// What it wrote to standard output.
  public let output: [UInt8]
  /// What it wrote to standard error.
  public let errors: [UInt8]
  /// The exit status, or `nil` when a signal killed it.
  public let status: Int32?
  /// The signal that killed it; SIGKILL when it took longer than the watchdog allows.
  public let signal: Int32?
  /// Whether the watchdog had to end it.
  public let timedOut: Bool
  /// Its process id, which was its process group, too.
  public let pid: pid_t

  /// Standard output as text.
  public var outputText: String { String(decoding: output, as: UTF8.self) }
  /// Standard error as text.
  public var errorText: String { String(decoding: errors, as: UTF8.self) }

  /// Runs a program with a clean signal state, in a process group of its own.
  ///
  /// Output goes through files, so that no amount of it can block the program.
  ///
  /// - Parameters:
  ///   - arguments: `argv`; the first one is the path of the executable.
  ///   - environment: The whole environment, `NAME=value` each; `nil` for that of the test.
  ///   - directory: The working directory; `nil` for that of the test.
  ///   - input: What standard input holds.
  ///   - timeout: Seconds until the whole group is killed.
  /// - Returns: The finished run.
  /// - Throws: `Errno` when the program cannot be started.
  public static func run(
    _ arguments: [String], environment: [String]? = nil, directory: FilePath? = nil,
    input: String = "", timeout: Int = 60
  ) throws -> ProcessRun {
    let output = try scratchFile()
    let errors = try scratchFile()
    let source = try scratchFile(containing: input)
    defer { for file in [output, errors, source] { try? file.close() } }

    // There is no portable way to change the directory between fork and exec but env(1). It gets
    // the environment as arguments, so that a preload in it is not its own.
    let variables = environment ?? currentEnvironment()
    let start = directory.map { ["/usr/bin/env", "-i", "-C", $0.string] + variables } ?? []
    let pid = try spawn(
      start + arguments, directory == nil ? variables : [], [source, output, errors])
    let watchdog = Watchdog(pid: pid, seconds: timeout)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    let timedOut = watchdog.stop()
    let signal = status & 0x7f
    return ProcessRun(
      output: try contents(output), errors: try contents(errors),
      status: signal == 0 ? (status >> 8) & 0xff : nil, signal: signal == 0 ? nil : signal,
      timedOut: timedOut, pid: pid)
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String], _ files: [FileDescriptor]
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in files.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file.rawValue, Int32(number))
    }
    // Whatever else the test process has open is none of the program's business. Closing what is
    // not open is no error (glibc).
    for number in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, number) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var argv = arguments.map { strdup($0) } + [nil]
    var envp = environment.map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var pid: pid_t = 0
    let error = posix_spawn(&pid, arguments[0], &actions, &attributes, &argv, &envp)
    guard error == 0 else { throw Errno(rawValue: error) }
    return pid
  }

  /// A file without a name, that vanishes when it is closed.
  private static func scratchFile(containing text: String = "") throws -> FileDescriptor {
    // Close-on-exec from the start: other tests start processes at the same time.
    let name = FilePath("/tmp/memtrace-run-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    let file = try FileDescriptor.open(
      name, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
      permissions: .ownerReadWrite)
    _ = name.withPlatformString { unlink($0) }
    try file.writeAll(text.utf8)
    try file.seek(offset: 0, from: .start)
    return file
  }

  private static func contents(_ file: FileDescriptor) throws -> [UInt8] {
    let size = Int(try file.seek(offset: 0, from: .end))
    var bytes = [UInt8](repeating: 0, count: size)
    let count = try bytes.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }
    return Array(bytes.prefix(count))
  }

  private static func currentEnvironment() -> [String] {
    var entries: [String] = []
    var pointer = environ
    while let entry = pointer.pointee {
      entries.append(String(cString: entry))
      pointer += 1
    }
    return entries
  }
}

/// Kills a process group that takes too long, so that a hanging program fails a test instead of
/// stopping all of them.
private final class Watchdog: Sendable {
  private let finished = DispatchSemaphore(value: 0)
  private let answer = DispatchSemaphore(value: 0)
  private let fired = ManagedFlag()

  init(pid: pid_t, seconds: Int) {
    let watch: @Sendable () -> Void = { [finished, answer, fired] in
      if finished.wait(timeout: .now() + .seconds(seconds)) == .timedOut {
        fired.set()
        kill(-pid, SIGKILL)
      }
      answer.signal()
    }
    DispatchQueue.global().async(execute: watch)
  }

  /// Calls it off; says whether it had acted already.
  func stop() -> Bool {
    finished.signal()
    answer.wait()
    return fired.isSet
  }
}

/// A flag that one thread sets before it signals another.
private final class ManagedFlag: @unchecked Sendable {
  private(set) var isSet = false
  func set() { isSet = true }
}
