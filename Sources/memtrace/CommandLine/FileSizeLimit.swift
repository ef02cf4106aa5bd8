#if canImport(Glibc)
  import Glibc
#endif

/// The limit on the size of files (`ulimit -f`).
enum FileSizeLimit {
  /// Makes of it an error to report, not a reason to die, from now on: also for programs that are started.
  static func letWritesFail() {
    signal(SIGXFSZ, SIG_IGN)
  }
}
