import Testing
import TraceReader
import TraceTestSupport

/// Threads that have no memory where the recorder's variables would be.
@Suite struct ForeignThreadTests {
  private static func run(_ which: String, options: [String] = []) throws -> TracedRun {
    let program = try TestProgram(
      "foreign_threads.c", flags: TestProgram.withMarks + ["-fno-stack-protector"])
    return try TracedRun(
      [program.path.string, which], start: .launcher(options), timeout: 60)
  }

  private static func expectWhole(_ trace: Trace, snapshots: Int) throws {
    #expect(trace.snapshots.count == snapshots)
    for snapshot in trace.snapshots {
      #expect(snapshot.isComplete)
      #expect(snapshot.threads.map(\.state) == [.taker, .parked])
    }
    // The block that the thread's memory holds, too.
    #expect(try LeakedProgram(trace).report.leaked.count == 0)
    #expect(try SnapshotTests.liveBlocks(trace, size: 47011).count == 1)
  }

  @Test func theProcessMayEndMeanwhile() throws {
    let run = try Self.run("exit")
    #expect(run.recorded.outputText == "end\n")
    try Self.expectWhole(run.root(), snapshots: 1)
  }

  /// Its call goes on: it ends by a signal of the program only.
  @Test func theyGoOnAfterSnapshots() throws {
    let run = try Self.run("snapshots")
    #expect(run.recorded.outputText == "ended 1 times\nend\n")
    try Self.expectWhole(run.root(), snapshots: 11)
  }

  @Test func aRequestIsHandedToTheFirstThread() throws {
    let run = try Self.run("request", options: ["--snapshot-on-request"])
    let trace = try run.root()
    #expect(trace.snapshots.map(\.reason) == [.request, .exit(0)])
    try Self.expectWhole(trace, snapshots: 2)
  }

  /// The function behind the hook is known before, as looking for it takes the loader's variables;
  /// and waits are not noted in what the thread has where the recorder's would be, if it has
  /// anything there.
  @Test(arguments: ["calls", "bare"])
  func callsByNumberLeaveTheirMemoryAlone(which: String) throws {
    let run = try Self.run(which)
    #expect(run.plain.outputText == "called by the thread, changed 0 bytes\nend\n")
    #expect(run.recorded.outputText == run.plain.outputText)
    try Self.expectWhole(run.root(), snapshots: 1)
  }

  /// The process ends by the very signal, and the trace says so.
  @Test(arguments: [("fault", Int32(11)), ("terminate", 15)])
  func aSignalEndsTheProcess(which: String, signal: Int32) throws {
    let run = try Self.run(which, options: ["--snapshot-on-crash"])
    #expect(run.plain.signal == signal)
    #expect(try run.root().header.endStatus == signal)
  }
}
