internal import Memtrace

/// The marks that tell `memtrace check` which test was running.
///
/// The names are part of what `docs/ci.md` says about tests: any harness may set them.
enum TestMark {
  /// Marks the beginning of a test.
  static func begin(_ test: String) {
    Memtrace.mark("test began: \(test)")
  }

  /// Marks the end of a test.
  static func end(_ test: String) {
    Memtrace.mark("test ended: \(test)")
  }
}
