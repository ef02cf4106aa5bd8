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
    #expect(run.recorded.outputText == "32 threads have waited\n")
    #expect(run.recorded.status == 5)
    let trace = try run.root()
    #expect(
      trace.snapshots.map(\.reason)
        == Array(repeating: .request, count: snapshots) + [.exit(5)])
    #expect(trace.snapshots.map(\.isComplete) == Array(repeating: true, count: snapshots + 1))
  }

  /// A wait for a time is over when it would be without snapshots.
  ///
  /// They are asked for as long as it lasts: with its whole time after each it would never end. Also where the thread has
  /// a signal stack, on which nothing can be waited for within the handler.
  @Test(arguments: ["", "stack"]) func waitsForATimeEnd(way: String) throws {
    let program = try TestProgram("limited_waits.c", flags: ["-O1", "-pthread"])
    let run = try TracedRun(
      [program.path.string, way], start: .launcher(["--snapshot-on-request", "--no-follow"]),
      timeout: 120)
    let calls = [
      "poll", "__poll_chk", "poll by number", "usleep", "nanosleep", "nanosleep by number",
      "clock_nanosleep", "thrd_sleep", "epoll_wait", "epoll_pwait2", "sigtimedwait",
      "semtimedop", "io_getevents", "FUTEX_WAIT",
    ]
    let sockets = ["recv", "accept", "connect"]
    let over = (way == "" ? calls + sockets : calls).map { "\($0) is over\n" }
    let last = way == "" ? "recv has 1 byte\nconnect returned 0, Success\n" : ""
    #expect(run.recorded.outputText == over.joined() + last)
    #expect(try run.root().snapshots.first?.reason == .request)
  }

  /// A thread that waits goes on with that after it has taken a snapshot itself.
  @Test func askedOnesWaitOn() throws {
    let program = try TestProgram("long_waits.c", flags: ["-O1", "-pthread"])
    let run = try TracedRun(
      [program.path.string, "each"], start: .launcher(["--snapshot-on-request", "--no-follow"]),
      timeout: 120)
    #expect(run.recorded.outputText == "32 threads have waited\n")
    #expect(run.recorded.status == 5)
    let trace = try run.root()
    // While one is written no other is taken.
    #expect(trace.snapshots.first?.reason == .request)
    #expect(trace.snapshots.last?.reason == .exit(5))
    #expect(trace.snapshots.filter { !$0.isComplete }.isEmpty)
  }
  /// A thread that waits for what is overwritten or unmapped does not wake up when the process ends.
  @Test func nobodyWakesUpAtTheEnd() throws {
    let run = try TracedRun([try TestProgram("waits_at_end.c").path.string])
    let trace = try run.root()

    #expect(run.recorded.outputText == "end\n")
    #expect(run.recorded.status == 0)
    #expect(trace.snapshots.map(\.reason) == [.exit(0)])
    #expect(trace.snapshots.map(\.isComplete) == [true])
  }
  /// Signals without a handler end no wait, also those that come while a thread stands still.
  @Test func signalsThatDoNothingEndNoWait() throws {
    let program = try TestProgram(
      "passing_signals.c", flags: TestProgram.withMarks + ["-pthread"])
    let run = try TracedRun([program.path.string], timeout: 60)

    #expect(run.recorded.outputText == "all are over\n")
    #expect(try run.root().snapshots.count > 1)
  }

  /// Whose other end is slow moves all in one call, as without snapshots; and so do reads that take
  /// long.
  ///
  /// The kernel ends such a call for any handler, with what it has moved until then. A signal of the
  /// program's does so still, also where the thread has a signal stack, which that handler may need.
  @Test(arguments: ["", "signals"], ["", "stacks"])
  func snapshotsCutNoTransfersShort(way: String, stacks: String) throws {
    let program = try TestProgram("cut_transfers.c", flags: TestProgram.withMarks + ["-pthread"])
    let run = try TracedRun([program.path.string, way, stacks], timeout: 60)
    let names = [
      "write to a pipe", "writev to a pipe", "write to a socket", "send", "sendmsg", "recv",
    ]
    let ending = way == "signals" ? " was cut: 1\n" : ": 1048576, 1\n"
    let devices = "none of a device was cut: 1\n"

    #expect(run.plain.outputText == names.map { $0 + ending }.joined() + devices)
    #expect(run.plain.status == 3)
    let snapshots = try run.root().snapshots
    #expect(snapshots.map(\.isComplete) == Array(repeating: true, count: stacks == "" ? 2 : 3))
  }

  /// Who submits to an io_uring and waits in one call does both, also while a snapshot is taken.
  ///
  /// The kernel ends such a call for any handler, as though it had waited. Threads in which it works
  /// for the process take no signals, and nobody waits for them. Kernels may forbid rings. On a busy machine Linux
  /// 6.18 itself ends one in thirty of such waits before their time, also of the unrecorded program: then the
  /// program is run again. What the recorder ends it would end each time.
  @Test(arguments: [("plain", 1), ("signals", 0)])
  func snapshotsCutNoWaitsForRingsShort(way: String, done: Int) throws {
    let program = try TestProgram("ring_waits.c", flags: TestProgram.withMarks + ["-pthread"])
    let expected = "submitted 1, \(done) done\n"
    func recorded() throws -> TracedRun {
      try TracedRun([program.path.string, way], start: .launcher(["--no-follow"]), timeout: 60)
    }
    var run = try recorded()
    for _ in 0..<9 where run.plain.outputText != "no ring\n" {
      if run.plain.outputText == expected, run.recorded.outputText == expected { break }
      run = try recorded()
    }
    #expect(run.recorded.outputText == run.plain.outputText)
    #expect(run.recorded.status == run.plain.status)
    guard run.plain.outputText != "no ring\n" else { return }

    #expect(run.plain.outputText == expected)
    #expect(try run.root().snapshots.map(\.isComplete) == [true, true])
  }
}
