import TraceReader

/// Processes that ended without a chance to take a heap snapshot.
enum KilledProcess {
  /// Whether a process was killed, by whatever signal; so may be what still runs.
  static func isKilled(_ trace: Trace) -> Bool {
    switch trace.ending {
    case .signal, .abort, .unknown: true
    case .exit, .underscoreExit, .quickExit, .exec: false
    }
  }

  /// The option that makes a snapshot of such a process, with a comma; nothing where none does.
  static func wayToASnapshot(_ trace: Trace) -> String {
    switch trace.ending {
    case .signal(9): ""  // SIGKILL
    case .unknown: "--snapshot-on-crash takes one, unless that was SIGKILL, "
    default: "--snapshot-on-crash takes one, "
    }
  }

  /// Who started a process to see it crash; nil for any other.
  ///
  /// Source: `--gtest_internal_run_death_test` in `gtest-death-test.cc`, of death tests in the style
  /// "threadsafe".
  static func whoExpected(_ trace: Trace, command: String) -> String? {
    if let note = trace.notes.last(where: { $0.kind == .mayCrash }) { return note.text }
    return command.contains("--gtest_internal_run_death_test=")
      ? "death test of GoogleTest" : nil
  }
}
