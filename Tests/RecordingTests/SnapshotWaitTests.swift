import Testing
import TraceReader
import TraceTestSupport

/// Threads that wait for long while snapshots are taken of the running process.
@Suite(.serialized) struct SnapshotWaitTests {
  /// What waits learns of signals of the program only.
  ///
  /// Also of one that comes while it stands still. Many snapshots within one wait take no more of a small stack than one.
  @Test(arguments: [("plain", 12), ("signals", 3)])
  func callsWaitOn(way: String, snapshots: Int) throws {
    let program = try TestProgram("long_waits.c", flags: ["-O1", "-pthread"])
    let asking = "'\(BuiltProducts.memtrace)' snapshot $MARKED_PID >asked.txt 2>&1"
    let run = try TracedRun(
      [program.path.string, way] + Array(repeating: asking, count: snapshots),
      start: .launcher(["--snapshot-on-request", "--no-follow"]), timeout: 120)
    #expect(run.recorded.outputText == "20 threads have waited\n")
    #expect(run.recorded.status == 5)
    let trace = try run.root()
    #expect(
      trace.snapshots.map(\.reason)
        == Array(repeating: .request, count: snapshots) + [.exit(5)])
    #expect(trace.snapshots.map(\.isComplete) == Array(repeating: true, count: snapshots + 1))
  }
}
