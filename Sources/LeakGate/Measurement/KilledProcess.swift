import Reports
import TraceReader

/// Processes that ended without a chance to take a heap snapshot.
enum KilledProcess {
  /// Whether a process was killed, by whatever signal; so may be what still runs.
  static func isKilled(_ trace: Trace) -> Bool {
    switch trace.ending {
    case .signal, .abort, .running, .unknown: true
    case .exit, .underscoreExit, .quickExit, .exec: false
    }
  }

  /// The option that makes a snapshot of such a process, with a comma; nothing where none does.
  static func wayToASnapshot(_ trace: Trace) -> String {
    switch trace.ending {
    case .signal(9): ""  // SIGKILL
    case .running, .unknown: "--snapshot-on-crash takes one, unless that was SIGKILL, "
    default: "--snapshot-on-crash takes one, "
    }
  }

  /// Who started a process to see it crash; nil for any other.
  ///
  /// Source: `--gtest_internal_run_death_test` in `gtest-death-test.cc`, of death tests in the style
  /// "threadsafe".
  static func whoExpected(_ trace: Trace, command: String, names: StackNames) -> String? {
    if let note = trace.notes.last(where: { $0.kind == .mayCrash }) { return note.text }
    if command.contains("--gtest_internal_run_death_test=") { return "death test of GoogleTest" }
    guard trace.header.flags.contains(.forked) else { return nil }
    return harness(of: trace.stacks, names).map { "forked by a test of \($0), killed" }
  }

  /// Whose test was forked, and goes on in the child: where that was not to be killed, the test fails.
  ///
  /// So do death tests of GoogleTest in the style "fast", and all tests of Check. The outermost frames come first.
  private static func harness(of stacks: StackTable, _ names: StackNames) -> String? {
    var (left, found) = (mostNodes, String?.none)
    stacks.forEachFrame { frame in
      found = names.frames(of: frame).lazy.compactMap { $0.symbol.flatMap { harnesses[$0] } }.first
      left -= 1
      return found == nil && left > 0
    }
    return found
  }

  /// Of the nodes of stacks, so many are looked at.
  private static let mostNodes = 1024
  /// By the functions that call each test.
  private static let harnesses = [
    "_ZN7testing4Test3RunEv": "GoogleTest", "_ZN7testing8UnitTest3RunEv": "GoogleTest",
    "srunner_run": "Check", "srunner_run_tagged": "Check",
  ]
}
