import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Heap snapshots where the program might notice, or where something might go wrong.
@Suite(.serialized) struct SnapshotHazardTests {
  /// Compiled with `memtrace.h`, which programs need nothing else for.
  private static func hazards() throws -> TestProgram {
    try withHeader("snapshot_hazards.c")
  }

  private static func withHeader(_ source: String) throws -> TestProgram {
    try TestProgram(source, flags: TestProgram.withMarks)
  }

  @Test(arguments: [
    // Snapshots taken by the program, with the one at its end.
    ("not-dumpable", 1), ("threads", 21), ("children", 21), ("ids", 21), ("handlers", 21),
    ("vfork", 1), ("wait", 21), ("wait-for-all", 21), ("in-handler", 1),
  ])
  func hazardIsSurvived(which: String, count: Int) throws {
    let run = try TracedRun([try Self.hazards().path.string, which], timeout: 120)
    let trace = try run.root()
    #expect(trace.snapshots.count == count)
    #expect(trace.snapshots.allSatisfy { $0.isComplete })
    #expect(trace.header.snapshotsDone == UInt32(count))
    // Ten blocks that a global array holds.
    let memory = try trace.loadSnapshot(count - 1)
    let blocks = Set(try SnapshotTests.liveBlocks(trace, size: 32001))
    var held = Set<UInt64>()
    for region in trace.snapshots[count - 1].regions where region.kind == .image {
      memory.forEachWord(in: region.start..<region.end) { _, word in
        if blocks.contains(word) { held.insert(word) }
      }
    }
    #expect(blocks.count == 10)
    #expect(held == blocks)
  }

  /// Each would stand still in a handler on the same memory.
  @Test(arguments: [("exit", 1), ("snapshots", 21)])
  func threadsMayHaveASignalStackInCommon(which: String, count: Int) throws {
    let program = try Self.withHeader("shared_signal_stacks.c")
    let run = try TracedRun(
      [program.path.string, which], start: .launcher(["--snapshot-on-request"]), timeout: 120)
    #expect(run.recorded.outputText == "ok\n")
    let trace = try run.root()
    #expect(trace.snapshots.count == count)
    #expect(trace.snapshots.allSatisfy { $0.isComplete })
    let states = try #require(trace.snapshots.first?.threads.map(\.state))
    #expect(states.count == 25)
    #expect(states.count { $0 == .parked } == 24)
  }

  /// One takes the stack on which another one stands still, and is asked then.
  @Test func aSignalStackMayBeInUseWhenAnotherThreadTakesIt() throws {
    let program = try Self.withHeader("shared_signal_stacks.c")
    let run = try TracedRun([program.path.string, "meanwhile"], timeout: 60)
    #expect(run.recorded.outputText == "ok\n")
    #expect(run.recorded.status == 0)
  }

  /// Threads that stand still until the process ends answer nobody: nobody may make it wait for them.
  @Test func noThreadStopsTheOneThatEndsTheProcess() throws {
    let run = try TracedRun([try TestProgram("stopped_world.c").path.string], timeout: 60)
    #expect(run.recorded.outputText == "end\n")
    #expect(run.recorded.status == 3)
    let trace = try run.root()
    #expect(trace.snapshots.map(\.reason) == [.exit(3)])
    #expect(trace.snapshots.map(\.isComplete) == [true])
  }

  /// A copy of the process would be its namespace's first one, and end it.
  @Test func theFirstChildInANamespaceIsTheProgramsOwn() throws {
    let run = try TracedRun([try Self.withHeader("first_child.c").path.string])
    guard run.plain.outputText != "not permitted\n" else { return }
    #expect(run.recorded.outputText == "1, 2\n")
    let trace = try run.root()
    #expect(trace.snapshots.count == 2)
    #expect(trace.snapshots.allSatisfy { $0.isComplete })
    #expect(try SnapshotTests.liveBlocks(trace, size: 47001).count == 1)
  }

  /// A copy of the process would wait until a thread that is held has read of it.
  ///
  /// Where users may not have such descriptors, there is nothing to see.
  @Test func aForkThatThreadsAreToldOfIsAvoided() throws {
    let program = try TestProgram("userfaults.c", flags: ["-O0", "-pthread"])
    let run = try TracedRun([program.path.string])
    guard run.plain.outputText != "not permitted\n" else { return }
    #expect(run.recorded.outputText == "7\n")
    let leaks = try LeakedProgram(run.root()).report
    #expect(leaks.snapshot.isComplete)
    #expect(leaks.leaked.count == 0)
    #expect(leaks.reachable.count >= 1)
  }

  /// Whoever reads a guard is killed.
  @Test(arguments: ["alone", "thread"])
  func guardsAreNotReadAndUnusedMemoryIsSkipped(which: String) throws {
    let program = try TestProgram("guarded_memory.c", flags: ["-O0", "-pthread"])
    let run = try TracedRun([program.path.string, which])
    #expect(run.recorded.outputText == "done\n")
    let leaks = try LeakedProgram(run.root()).report
    #expect(leaks.snapshot.isComplete)
    #expect(leaks.leaked.count == 1)
    #expect(leaks.leaked.bytes == 41002)
    #expect(leaks.possible.count == 0)
  }

  /// With other threads at the end, a copy of the process writes; without one the process does.
  @Test func aSnapshotNeedsNoCopyAtTheEnd() throws {
    let run = try TracedRun([try TestProgram("no_copy.c").path.string])
    #expect(run.recorded.outputText == "no process can be made\n")
    let trace = try run.root()
    #expect(trace.snapshots.map(\.isComplete) == [true])
    #expect(trace.header.snapshotsDone == 1)
    let report = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", run.traces[0].string])
    #expect(report.outputText.contains(": 6 leaks for 264006 total leaked bytes."))
  }

  /// A copy lacks memory that is not copied, and what only that holds counts as leaked.
  ///
  /// At the end none is made.
  @Test func whatNoCopyHasHoldsBlocksAtTheEndOrIsMissing() throws {
    let program = try TestProgram("uncopied.c", flags: TestProgram.withMarks)
    let run = try TracedRun([program.path.string])
    let snapshots = try run.root().snapshots
    #expect(snapshots.map(\.skippedBytes) == [8192, 0])
    #expect(snapshots.map { $0.forkNanoseconds > 0 } == [true, false])
    #expect(snapshots.map { $0.pauseNanoseconds == $0.durationNanoseconds } == [false, true])
    let report = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", run.traces[0].string])
    #expect(report.outputText.contains(": 1 leak for 44003 total leaked bytes."))
    #expect(!report.outputText.contains("could not be read"))
    let before = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", "--snapshot", "0", run.traces[0].string])
    #expect(
      before.outputText.contains(
        "8.00 KiB of memory could not be read: what only it points to counts as leaked"))
  }

  /// For a moment the soft limit is raised, as far as the hard one lets it.
  @Test func aSnapshotIsTakenAtTheEndWhereNoDescriptorIsLeft() throws {
    let program = try TestProgram("no_descriptor.c")
    let run = try TracedRun([program.path.string, "soft"])
    #expect(run.recorded.outputText == "Too many open files\n")
    #expect(try run.root().snapshots.map(\.isComplete) == [true])
    let hard = try TracedRun([program.path.string, "hard"])
    #expect(hard.recorded.outputText == "Too many open files\n")
    let trace = try hard.root()
    #expect(trace.snapshots.isEmpty)
    let notes = trace.notes.filter { $0.kind == .noSnapshot }
    #expect(notes.map(\.text) == ["too many open files (ulimit -n)"])
    #expect(notes.map(\.value) == [UInt64(EMFILE)])
    let report = try ProcessRun.run([BuiltProducts.memtrace.string, "leaks", hard.traces[0].string])
    #expect(
      report.errorText.contains(
        "none could be taken at the end: too many open files (ulimit -n)"))
  }

  /// A thread that cannot be held would unmap what is being read.
  @Test func aSnapshotWithoutCopyNeedsThreadsThatStandStill() throws {
    let run = try TracedRun([try TestProgram("no_copy.c").path.string, "moving"], timeout: 120)
    #expect(run.recorded.outputText == "no process can be made\n")
    #expect(try run.root().snapshots.isEmpty)
  }

  @Test func childrenHaveSnapshotsOfTheirOwn() throws {
    let run = try TracedRun([try Self.hazards().path.string, "children"], timeout: 120)
    let children = try run.allTraces().filter {
      $0.header.flags.contains(.forked)
    }
    #expect(!children.isEmpty)
    for child in children { #expect(child.snapshots.map(\.reason) == [.underscoreExit(3)]) }
  }

  /// The signals, timers and marks that bring a snapshot about, each with the option for it.
  @Test(
    arguments: [
      (["requested"], ["--snapshot-on-request", "--no-follow"], [.request, .exit(0)]),
      (["terminated"], ["--snapshot-on-crash"], [.signal(15)]),
      (["mark"], ["--snapshot-at-marks"], [.mark("here"), .exit(0)]),
      (["marks"], ["--snapshot-at-marks"], (0..<5).map { _ in .mark("again") } + [.exit(0)]),
      (["mark"], [], [.exit(0)]),
      (["mark"], ["--no-exit-snapshot"], []),
    ] as [([String], [String], [SnapshotReason])])
  func isTakenWhereItIsAskedFor(
    arguments: [String], options: [String], reasons: [SnapshotReason]
  ) throws {
    let command = [try Self.hazards().path.string] + arguments + [BuiltProducts.memtrace.string]
    let trace = try TracedRun(command, start: .launcher(options)).root()
    #expect(trace.snapshots.map(\.reason) == reasons)
    #expect(trace.snapshots.allSatisfy { $0.isComplete })
    let marks = ["mark": ["here"], "marks": Array(repeating: "again", count: 5)]
    #expect(trace.marks.map(\.name) == marks[arguments[0]] ?? [])
  }

  /// What a call leaves alone may hold the only pointer to a block.
  @Test(arguments: ["mark", "snapshot"])
  func registersOfTheCallerAreKept(way: String) throws {
    // The snapshot at the end waits until this one is written.
    let run = try TracedRun(
      [try Self.withHeader("registers.c").path.string, way],
      start: .launcher(["--snapshot-at-marks"]))
    let trace = try run.root()
    let taker = try #require(trace.snapshots.first?.threads.first { $0.state == .taker })
    let blocks = try SnapshotTests.liveBlocks(trace, size: 44001)
    #expect(blocks.count == 5)
    #expect(Set(blocks).isSubset(of: taker.registers))
    #expect(taker.pc != 0)
  }

  @Test func isTakenAtIntervals() throws {
    let run = try TracedRun(
      [try Self.hazards().path.string, "interval"], start: .launcher(["--snapshot-interval", "1"]))
    let reasons = try run.root().snapshots.map(\.reason)
    #expect(reasons.dropLast().allSatisfy { $0 == .interval })
    #expect((2...4).contains(reasons.count))
    #expect(reasons.last == .exit(0))
  }

  /// A tick would end it, or be taken for a signal that somebody has sent.
  @Test(arguments: ["sigaction", "signal"])
  func signalsThatTheProgramSetsAreItsOwn(way: String) throws {
    let program = try TestProgram("all_signals.c").path.string
    let ticks = { (disposition: String) in
      try TracedRun(
        [program, disposition, way], start: .launcher(["--snapshot-interval", "1"])
      ).root().snapshots.map(\.reason)
    }
    let reasons = try ticks("defaults")
    #expect(reasons.count >= 2)
    #expect(reasons.dropLast().allSatisfy { $0 == .interval })
    #expect(try ticks("handlers") == [.exit(0)])
  }

  /// Firefox's fork server sets the signals of its children, and these enter a sandbox.
  @Test func nothingTicksInASandbox() throws {
    let run = try TracedRun(
      [try TestProgram("ticking.c").path.string, "sandbox"],
      start: .launcher(["--snapshot-interval", "1000", "--snapshot-on-request"]))
    #expect(run.recorded.outputText == "0 timers, 0 handlers\n")
    #expect(try run.root().coverage.stop?.cause == .sandbox)
  }

  /// One that has set all signals before its first event, of which nobody was to see them.
  @Test func ticksOfAForkedChildAreHandled() throws {
    let run = try TracedRun(
      [try TestProgram("ticking.c").path.string, "child"],
      start: .launcher(["--snapshot-interval", "1000"]))
    #expect(run.recorded.outputText == "ticks are handled\n")
  }

  @Test(arguments: [("segv", 11), ("abort", 0)] as [(String, Int32)])
  func isTakenBeforeACrash(way: String, signal: Int32) throws {
    let run = try TracedRun(
      [try TestProgram("endings.c").path.string, way], start: .launcher(["--snapshot-on-crash"]))
    let expected: SnapshotReason = signal == 0 ? .abort : .signal(signal)
    #expect(try run.root().snapshots.map(\.reason) == [expected])
  }

  /// Children that have made no trace of their own yet, and have none of their parent's pages.
  @Test func aForkedChildEndsByTheSignalThatItGets() throws {
    let run = try TracedRun(
      [try TestProgram("forked_signals.c").path.string],
      start: .launcher(["--snapshot-on-crash"]))
    #expect(
      run.recorded.outputText == "6: 6\n7: 7\n8: 8\n4: 4\n11: 11\n15: 15\n2: 2\n")
  }

  /// Whoever handles SIGABRT may go on: the snapshot of `abort` is not that of the end then.
  @Test(
    arguments: [
      ("jump", [.abort, .exit(11)]), ("jump-limited", [.abort, .exit(11)]),
      ("wait", [.abort, .underscoreExit(13)]), ("return", [.abort]),
    ] as [(String, [SnapshotReason])])
  func anAbortMayBeSurvived(way: String, reasons: [SnapshotReason]) throws {
    let run = try TracedRun(
      [try TestProgram("handled_abort.c").path.string, way],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace"]))
    let trace = try run.root()
    #expect(trace.snapshots.map(\.reason) == reasons)
    #expect(trace.snapshots.allSatisfy { $0.isComplete })
    let goesOn = way != "return"
    #expect(try MarkedEvents(trace)[39001].freed == (goesOn ? 1 : 0))
    #expect(try MarkedEvents(trace)[39002].freed == (way.hasPrefix("jump") ? 1 : 0))
  }

  @Test(arguments: [(["--snapshot-contents"], true), ([], false)] as [([String], Bool)])
  func textIsKeptOnlyOnRequest(options: [String], isKept: Bool) throws {
    let command = [try Self.hazards().path.string, "mark"]
    let trace = try TracedRun(command, start: .launcher(options)).root()
    let memory = try trace.loadSnapshot(0)
    let secret = "secret7".utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let found = try SnapshotTests.liveBlocks(trace, size: 32001).contains {
      memory.word(at: $0) == secret
    }
    #expect(found == isKept)
    #expect(trace.snapshots[0].keepsContents == isKept)
  }

  @Test func needsNeitherPtraceNorItsRelatives() throws {
    let program = try TestProgram("snapshot_threads.c")
    // Static, so that the recorder is not in there: it would stop before the filter.
    let filter = try TestProgram("deny_ptrace.c", flags: ["-static"])
    let run = try TracedRun(
      [filter.path.string, program.path.string],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace"]), timeout: 120)
    let info = try #require(try run.root().snapshots.first)
    #expect(info.isComplete)
    #expect(info.threads.filter { $0.state == .parked }.count == 40)
  }

  /// The copy of the process that writes an image keeps nothing of the host's open.
  ///
  /// A host that is kept waiting on a busy machine may learn that too late. One whose copy keeps the
  /// pipe open always does.
  @Test(arguments: [false, true])
  func descriptorsAreClosedInTheCopy(isRefused: Bool) throws {
    let isInTime = try (0..<5).contains { _ in try pipeIsClosedBeforeTheEnd(isRefused) }
    #expect(isInTime)
  }

  /// Whether the reader of a pipe learns that it was closed while the snapshot is being written.
  private func pipeIsClosedBeforeTheEnd(_ isRefused: Bool) throws -> Bool {
    let program = try Self.hazards().path.string
    let filter = try TestProgram("deny_ptrace.c", flags: ["-static"]).path.string
    let run = try TracedRun(
      (isRefused ? [filter] : []) + [program, "pipe"],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace"]), timeout: 120)
    let trace = try run.root()
    // The one at the end waits for the first, of which this is about.
    try #require(trace.snapshots.count == 2)
    let info = trace.snapshots[0]
    let closed = try #require(trace.marks.first)
    #expect(info.isComplete)
    // The time of a snapshot lies in its pause.
    let elapsed = trace.clock.nanoseconds(from: info.time, to: closed.time)
    return elapsed + info.pauseNanoseconds < info.durationNanoseconds
  }

  /// The kernel calls a process a zombie whose first thread has ended, and one that has ended itself
  /// as long as its parent does not notice.
  @Test func whoHasEndedIsToldFromWhoGoesOn() throws {
    let directory = try ScratchDirectory()
    let script = """
      (MEMTRACE_OUTPUT=$PWD/root.mtrace MEMTRACE_SNAPSHOT_ON_REQUEST=1 LD_PRELOAD=$2 $3 & echo $! >pid.txt
        exec sleep 1000) & parent=$!
      until [ -s pid.txt ]; do :; done
      read pid <pid.txt
      field() {
        while read name value; do
          if [ "$name" = $1: ]; then break; fi
        done </proc/$pid/status
      }
      until field State; [ "$value" = 'Z (zombie)' ]; do :; done
      $1 snapshot $pid --trace root.mtrace >/dev/null; echo $?
      (cd / && $1 mark $pid found >/dev/null; echo $?)
      $1 info root.mtrace | grep Ended:
      kill -STOP $pid
      $1 snapshot $pid --trace root.mtrace 2>error.txt & asking=$!
      until field ShdPnd; [ $value != 0000000000000000 ]; do :; done
      kill -KILL $pid
      wait $asking; echo $?
      sed "s/ $pid / P /" error.txt
      kill $parent
      """
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", script, "sh", BuiltProducts.memtrace.string, BuiltProducts.library.string,
        try TestProgram("first_thread_ends.c", flags: ["-pthread"]).path.string,
      ], environment: TracedRun.minimalEnvironment, directory: directory.path)
    #expect(
      run.outputText == """
        0
        0
        Ended:            the process is still running
        66
        memtrace: process P has ended

        """)
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(trace.snapshots.map(\.reason) == [.request])
  }

  @Test func processThatTakesNoRequestsIsLeftAlone() throws {
    let own = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "snapshot", "\(getpid())"], timeout: 60)
    #expect(own.status == 66)
    #expect(own.errorText.contains("is not being recorded"))
    let none = try ProcessRun.run([BuiltProducts.memtrace.string, "snapshot", "999999999"])
    #expect(none.status == 66)
    #expect(none.errorText == "memtrace: there is no process 999999999\n")
  }
}
