import SystemPackage
import TraceReader

/// A failure that ends memtrace with one line on standard error and its own exit status.
struct CommandFailure: Error, CustomStringConvertible {
  /// What happened, to which file, and what to do about it; one line, no full stop.
  var description: String
  /// One of ``ExitStatus``.
  var exitStatus: Int32

  init(_ description: String, exitStatus: Int32) {
    self.description = description
    self.exitStatus = exitStatus
  }

  /// A trace that cannot be read.
  init(_ error: TraceError) {
    let status = try? FileStatus(of: FilePath(error.path))
    let hint = status?.isDirectory == true ? "; memtrace report lists those in it" : ""
    self.init(
      error.description + hint,
      exitStatus: error.status == .io ? ExitStatus.noTrace : ExitStatus.badTrace)
  }
}
