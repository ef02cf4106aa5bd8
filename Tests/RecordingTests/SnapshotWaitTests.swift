import Testing
import TraceReader
import TraceTestSupport

/// Threads that wait without a time limit while a snapshot is taken of the running process.
@Suite(.serialized) struct SnapshotWaitTests {
  /// Three snapshots are asked for; what waits learns of signals of the program only, also of one
  /// that comes while it stands still.
  @Test(arguments: ["plain", "signals"])
  func callsWaitOn(way: String) throws {
    let program = try TestProgram("unlimited_waits.c", flags: ["-O1", "-pthread"])
    let asking = "'\(BuiltProducts.memtrace)' snapshot $MARKED_PID >asked.txt 2>&1"
    let run = try TracedRun(
      [program.path.string, way, asking, asking, asking],
      start: .launcher(["--snapshot-on-request", "--no-follow"]), timeout: 120)
    #expect(run.recorded.outputText == "15 threads have waited\n")
    #expect(run.recorded.status == 5)
    let trace = try run.root()
    #expect(trace.snapshots.map(\.reason) == [.request, .request, .request, .exit(5)])
    #expect(trace.snapshots.map(\.isComplete) == [true, true, true, true])
  }
}
