/// Why the recorder could not be brought into a process that is running.
public enum AttachError: Error, Equatable {
  /// ptrace is not allowed.
  case notPermitted
  /// A debugger, strace or the like traces the process.
  case tracedByOther
  /// The process has ended.
  case ended
  /// No thread was seen at a safe point in time; what stood in the way of the last one.
  case noSafePoint(String)
  /// Its loader cannot be called: it has none, or another C library.
  case noLoader
  /// The loader refused the recorder; its message.
  case refused(String)
  /// The recorder could not begin; its message.
  case notRecording(String)
  /// The process is under seccomp, and its filters do not let the recorder's calls pass.
  case confined
  /// The process is under seccomp, and its filters may not be looked at.
  case unknownFilters
  /// The recorder is there already.
  case recordedAlready
  /// A call in the process failed; the system's error number.
  case failed(Int32)
}
