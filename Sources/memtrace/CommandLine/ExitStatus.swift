/// The exit statuses of memtrace, all of them.
///
/// `record` passes the recorded command's own status through, so memtrace's own failures use
/// numbers that programs rarely use: sysexits(3) for its input and output, and the statuses of
/// shells and of env(1) for what has to do with launching.
enum ExitStatus {
  /// Wrong arguments (`EX_USAGE`).
  static let usage: Int32 = 64
  /// The trace is damaged, of another version, or no trace at all (`EX_DATAERR`).
  static let badTrace: Int32 = 65
  /// The trace does not exist or cannot be opened (`EX_NOINPUT`).
  static let noTrace: Int32 = 66
  /// A file that is to be written exists already or cannot be created (`EX_CANTCREAT`).
  static let cannotCreate: Int32 = 73
  /// Reading or writing failed halfway (`EX_IOERR`).
  static let ioError: Int32 = 74
  /// There are findings, and an option such as `--fail-on-leaks` asked for a status of its own: one
  /// that neither programs nor test runners use for something else.
  static let findings: Int32 = 86
  /// The command cannot be recorded, or memtrace itself is not complete.
  static let cannotRecord: Int32 = 125
  /// The command was found but is not executable, as in shells.
  static let notExecutable: Int32 = 126
  /// The command was not found, as in shells.
  static let notFound: Int32 = 127

  /// The status of a process that was killed by `signal`, as in shells.
  static func killed(by signal: Int32) -> Int32 { 128 &+ signal }
}
