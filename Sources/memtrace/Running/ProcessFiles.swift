import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// What `/proc` tells of a process: its status to everybody, its mappings to those who may trace
/// it.
struct ProcessFiles {
  let pid: pid_t
  private let status: String

  /// - Throws: ``CommandFailure`` when there is no such process.
  init(pid: pid_t) throws(CommandFailure) {
    self.pid = pid
    do {
      status = try Self.text("/proc/\(pid)/status")
    } catch {
      let reason =
        error == .noSuchFileOrDirectory || error == .noSuchProcess
        ? "there is no process \(pid)" : "process \(pid) cannot be looked at: \(error)"
      throw CommandFailure(reason, exitStatus: ExitStatus.noTrace)
    }
  }

  /// The process ID in every namespace that the process is in.
  var ids: Set<pid_t> { Set(fields("NSpid").compactMap { pid_t($0) }) }

  /// The process that it is a child of; 0 where that is in another namespace.
  var parent: pid_t? { fields("PPid").first.flatMap { pid_t($0) } }

  /// The user whose rights it has.
  var user: uid_t? { fields("Uid").dropFirst().first.flatMap { uid_t($0) } }

  /// Whether it has ended, and only waits for its parent to notice.
  var isZombie: Bool { saysZombie && fields("Threads").first == "1" }

  /// Whether its first thread has ended before others: most of what the kernel tells of a process is
  /// gone then.
  var hasLostFirstThread: Bool { saysZombie && !isZombie }

  private var saysZombie: Bool { fields("State").first == "Z" }

  /// Whether it was stopped, by a signal or a debugger.
  var isStopped: Bool { ["T", "t"].contains(fields("State").first ?? "") }

  /// How the kernel confines a thread to some system calls.
  struct Confinement: Hashable {
    /// 0: not at all, 1: to four of them, 2: by filters.
    var mode = "0"
    /// How many filters there are; empty before Linux 5.9.
    var filters = ""

    /// Whether what it does cannot be found out.
    var isOpaque: Bool { mode == "1" || mode != "0" && filters.isEmpty }
  }

  /// How its threads are confined; one for all of them, as a rule.
  var confinements: Set<Confinement> {
    let folder = "/proc/\(pid)/task"
    return Set(
      FilePath(folder).directoryEntries.compactMap { try? Self.text("\(folder)/\($0)/status") }
        .map { status in
          Confinement(
            mode: Self.fields("Seccomp", of: status).first.map(String.init) ?? "0",
            filters: Self.fields("Seccomp_filters", of: status).first.map(String.init) ?? "")
        }.map { $0.mode == "0" ? Confinement() : $0 })
  }

  /// The name of its program, of which the kernel keeps 15 bytes.
  var name: String { fields("Name").joined(separator: " ") }

  /// Whether it has a handler for a signal.
  func handles(_ signal: Int32) -> Bool {
    guard let caught = fields("SigCgt").first.flatMap({ UInt64($0, radix: 16) }) else {
      return false
    }
    return caught & 1 << UInt64(signal - 1) != 0
  }

  /// When it started, seconds on the clock of the machine since it was switched on; nil when
  /// `/proc` does not say.
  var startSeconds: Double? {
    // The name, in parentheses, may hold anything.
    guard let text = try? Self.text("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")"),
      let ticks = text[end...].split(separator: " ").dropFirst(20).first.flatMap({ UInt64($0) })
    else { return nil }
    return Double(ticks) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
  }

  /// Where its root is, as we find it.
  var root: FilePath { FilePath(ProcessFolder.path(of: pid)).appending("root") }

  /// The files of which the process has the beginning mapped, shared and writable; nil when they
  /// may not be looked at.
  var sharedFiles: [FilePath]? {
    guard let maps = try? Self.text("\(ProcessFolder.path(of: pid))/maps") else { return nil }
    return SharedMapping.all(inMaps: maps).map { FilePath($0.path) }.filter { !$0.isEmpty }
  }

  /// For how long it has run, in nanoseconds; nil when `/proc` does not say.
  var ageNanoseconds: UInt64? {
    guard let startSeconds else { return nil }
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    let seconds = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - startSeconds
    return UInt64(max(0, seconds) * 1e9)
  }

  private func fields(_ name: String) -> [Substring] { Self.fields(name, of: status) }

  private static func fields(_ name: String, of status: String) -> [Substring] {
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
    return Array(line.split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst())
  }

  private static func text(_ path: String) throws(Errno) -> String {
    String(decoding: try bytes(path), as: UTF8.self)
  }

  /// What a file of `/proc`, whose size is not known before, holds.
  static func bytes(_ path: String) throws(Errno) -> [UInt8] {
    do {
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      defer { try? file.close() }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65536)
      while case let count = try buffer.withUnsafeMutableBytes({ try file.read(into: $0) }),
        count > 0
      {
        bytes += buffer[..<count]
      }
      return bytes
    } catch {
      throw error as? Errno ?? .ioError
    }
  }
}
