import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Recordings that begin paused: what is allocated while they are not is there whole, all else not at
/// all.
@Suite(.serialized) struct PauseTests {
  private func record(
    _ which: String, options: [String] = [], environment: [String] = []
  ) throws -> TracedRun {
    try TracedRun(
      [try TestProgram("paused.c", flags: TestProgram.withMarks).path.string, which],
      start: .launcher(["--paused"] + options), environment: environment)
  }

  /// Sizes that are not to be in any trace.
  private func expectNothingFromPauses(
    _ events: MarkedEvents, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let sizes = events.lives.keys.filter { (21000..<22000).contains($0) }
    #expect(sizes.isEmpty, sourceLocation: sourceLocation)
    #expect(events.unknownFrees == 0, sourceLocation: sourceLocation)
    #expect(events.doubleOwners == 0, sourceLocation: sourceLocation)
  }

  @Test func blocksAreFollowedIntoPausesAndOutOfThem() throws {
    let root = try record("both-ways").root()
    let events = try MarkedEvents(root)
    expectNothingFromPauses(events)
    for size in [31001, 31002, 31003, 31004, 31005, 31006] as [UInt64] {
      #expect(events[size] == .init(allocated: 1, freed: 1), "\(size)")
    }
    #expect(events[31007] == .init(allocated: 1))
    #expect(root.header.flags.contains(.pausable))

    let windows = try #require(root.windows)
    #expect(windows.count == 2)
    let end = try #require(windows[0].end)
    #expect(windows[0].start < end && end < windows[1].start)
    #expect(windows[1].end == nil)
    // A resume comes before all that it lets in, a pause behind it.
    for (size, window) in [(31001, 0), (31006, 0), (31007, 1)] as [(UInt64, Int)] {
      let time = try #require(events.lives[size]?.first).allocation.time
      #expect(time >= windows[window].start && time <= windows[window].end ?? .distantFuture)
    }
    let result = try root.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.unknownFrees == 0)
    #expect(result.coverage.implicitlyFreed == 0)
  }

  @Test func everyFunctionIsPaused() throws {
    let events = try MarkedEvents(try record("functions").root())
    expectNothingFromPauses(events)
    for size in (31100 as UInt64)...31108 {
      #expect(events[size] == .init(allocated: 1, freed: 1), "\(size)")
    }
  }

  @Test func threadsFollow() throws {
    let events = try MarkedEvents(try record("threads").root())
    expectNothingFromPauses(events)
    #expect(events[31201] == .init(allocated: 200, freed: 200))
    #expect(events[31202] == .init(allocated: 4, freed: 4))
    #expect(events[31203] == .init(allocated: 1, freed: 1))
  }

  /// A server that runs for weeks may begin a thread for each request.
  @Test func threadsThatAreNotRecordedLeaveNothing() throws {
    let root = try record("unseen").root()
    #expect(root.threads.map(\.index) == [ThreadIndex(1), ThreadIndex(2)])
    let events = try MarkedEvents(root)
    expectNothingFromPauses(events)
    #expect(events[31701] == .init(allocated: 1, freed: 1))
    #expect(events.lives[31701]?.first?.deallocation?.thread == ThreadIndex(2))
  }

  @Test func forkedChildrenGoOnAsTheirParentWas() throws {
    let traces = try record("forks").allTraces()
    try #require(traces.count == 3)
    let events = try traces.map { try MarkedEvents($0) }
    for size in [21302, 21303, 21304] as [UInt64] {
      #expect(events.allSatisfy { $0[size] == .init() })
    }
    #expect(events[0][31301] == .init(allocated: 1, freed: 1))
    #expect(events[0][31303] == .init(allocated: 1, freed: 1))
    #expect(events[1][31302] == .init(allocated: 1, freed: 1))
    #expect(events[2][31304] == .init(allocated: 1, freed: 1))
    #expect(traces.map { $0.windows?.count } == [1, 1, 1])
    #expect(try traces[1].replay().errors.isEmpty)
    #expect(try traces[1].replay().coverage.inheritedFrees == 1)
  }

  @Test func programsThatAreExecutedBeginPaused() throws {
    let traces = try record("exec").allTraces()
    try #require(traces.count == 2)
    #expect(try MarkedEvents(traces[0])[31501] == .init(allocated: 1, freed: 1))
    #expect(try MarkedEvents(traces[1])[21501] == .init())
    #expect(traces[1].windows == [])
  }

  @Test func leaksOfTheTimeInBetweenAreFound() throws {
    let root = try record("leaks").root()
    #expect(root.snapshots.map(\.reason) == [.exit(0)])
    let leaks = try LeakedProgram(root).report
    #expect(leaks.leaked.bytes == 31401 + 31402)
    #expect(leaks.leaked.count == 2)
    #expect(leaks.possibleRowCount == 0)
  }

  @Test func whatIsNeverResumedHoldsNothing() throws {
    let run = try record("never")
    let root = try run.root()
    #expect(root.windows == [])
    #expect(try MarkedEvents(root).count == 0)
    // A snapshot would tell of no block.
    #expect(root.snapshots.isEmpty)
    let report = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "report", "root.mtrace"],
      environment: TracedRun.minimalEnvironment, directory: run.directory.path)
    #expect(report.status == 0)
    #expect(
      report.outputText.contains(
        "\nRecording was paused all the time: nothing was recorded. 'memtrace resume PID' begins it.\n"
      ))
  }

  /// Of a neighbour that is not recorded, in particular, nothing is.
  @Test func retainsOfRecordedObjectsAreRecorded() throws {
    let run = try TracedRun(
      [try TestProgram("paused_objects.swift", flags: ["-O"]).path.string],
      start: .launcher(["--paused", "--refcounts"]))
    let root = try run.root()
    // Two words before two numbers.
    let late = try #require(try MarkedEvents(root).lives[32]?.first).allocation.address
    var counts: [Address: Int] = [:]
    #expect(
      root.forEachRefcount {
        counts[$0.object, default: 0] += 1
        return true
      } == [])
    #expect(Set(counts.keys) == [late])
    #expect(counts[late, default: 0] >= 200)
  }

  @Test func aSampleIsTakenWhileItIsNotPaused() throws {
    let root = try record(
      "samples", options: ["--sample", "16KiB"], environment: ["MEMTRACE_SAMPLE_SEED=4"]
    ).root()
    let result = try root.replay()
    let sites = result.sites.filter { $0.sizeClass.bytes == 1008 }
    let total = sites.reduce(0) { $0 + $1.tally.totalCount }
    let variance = sites.reduce(0) { $0 + ($1.variance?.totalCount ?? 0) }
    #expect(abs(Double(total) - 20000) < 4 * variance.squareRoot())
    #expect(result.sites.allSatisfy { ![32, 2000, 2016].contains($0.sizeClass.bytes) })
    #expect(root.windows?.count == 1)
  }

  /// A library that is initialised before the recorder has begun.
  @Test func aLibraryMayResumeFirst() throws {
    let library = try TestProgram(
      "paused_first.c", flags: TestProgram.withMarks + ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("paused.c", flags: TestProgram.withMarks).path.string, "never"],
      start: .launcher(["--paused"]), environment: ["LD_PRELOAD=\(library.path)"])
    let root = try run.root()
    #expect(try MarkedEvents(root)[31601] == .init(allocated: 1, freed: 1))
    #expect(try MarkedEvents(root)[21601] == .init())
    #expect(root.marks.map(\.name) == ["first"])
    #expect(root.windows?.count == 1)
  }

  @Test func theVariableAloneWillDo() throws {
    let run = try TracedRun(
      [try TestProgram("paused.c", flags: TestProgram.withMarks).path.string, "functions"],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace", "MEMTRACE_PAUSED=1"]))
    #expect(try MarkedEvents(try run.root())[31100] == .init(allocated: 1, freed: 1))
  }

  @Test func withoutTheOptionNothingIsPaused() throws {
    let run = try TracedRun(
      [try TestProgram("paused.c", flags: TestProgram.withMarks).path.string, "functions"])
    let root = try run.root()
    let events = try MarkedEvents(root)
    for size in [21100, 31100, 21200] as [UInt64] {
      #expect(events[size] == .init(allocated: 1, freed: 1))
    }
    #expect(root.windows == nil)
    #expect(!root.header.flags.contains(.pausable))
  }

  @Test(arguments: [
    (["check"], "Error: 'check' needs all blocks to be recorded; leave --paused out."),
    (
      ["record", "--zombies"],
      "Error: --zombies needs all blocks to be recorded; leave --paused out."
    ),
  ])
  func whatNeedsAllBlocksIsRefused(command: [String], message: String) throws {
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string] + command + ["--paused", "--", "true"],
      environment: TracedRun.minimalEnvironment)
    #expect(run.status == 64)
    #expect(run.errorText.split(separator: "\n").first == message[...])
  }

  // MARK: From outside

  @Test(arguments: ["outside", "not-dumpable"])
  func othersResumeAndPause(which: String) throws {
    let (run, directory) = try MarkedProgram.record(
      which, "$M resume $P; $M resume $P", "$M pause $P; $M pause $P", options: ["--paused"])
    #expect(run.errorText == "")
    let lines = run.outputText.split(separator: "\n").map {
      $0.replacing(/process \d+/, with: "process P").replacing(
        /at \d\d:\d\d\.\d{3}\.\d{3} in .*root/, with: "at T in root")
    }
    #expect(
      lines == [
        "the recording of process P resumed at T in root.mtrace",
        "the recording of process P is running already",
        "the recording of process P paused at T in root.mtrace",
        "the recording of process P is paused already", "status 0",
      ])
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    let events = try MarkedEvents(trace)
    #expect(events[33001] == .init())
    #expect(events[33003] == .init(allocated: 20))
    #expect(events[33004] == .init())
    #expect(trace.windows?.count == 1)
    #expect(trace.windows?.first?.end != nil)
    #expect(trace.coverage.damage.isEmpty)
  }

  @Test func aTimeCanBeGiven() throws {
    let (run, directory) = try MarkedProgram.record(
      "outside", "$M resume $P --for 10ms", "$M resume $P", options: ["--paused"])
    #expect(run.errorText == "")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    let events = try MarkedEvents(trace)
    #expect(events[33003] == .init())
    #expect(events[33004] == .init(allocated: 30))
    let windows = try #require(trace.windows)
    try #require(windows.count == 2)
    let end = try #require(windows[0].end)
    #expect(
      trace.clock.nanoseconds(end) - trace.clock.nanoseconds(windows[0].start) >= 10_000_000)
    #expect(windows[1].end == nil)
  }

  /// Of two that record at the same time the first one to end does not pause the other's recording.
  @Test func theLastOnePauses() throws {
    let (run, directory) = try MarkedProgram.record(
      "outside",
      """
      ( $M resume $P --for 1h >first.txt 2>&1 & echo $! >pid.txt; wait $!; echo >ended.txt ) &
      until grep -qs resumed first.txt; do :; done; $M resume $P --for 10ms >second.txt
      """, "kill -TERM $(cat pid.txt); until [ -s ended.txt ]; do :; done", options: ["--paused"])
    #expect(run.errorText == "")
    let second = try String(
      contentsOfFile: directory.path.appending("second.txt").string, encoding: .utf8)
    #expect(second.hasSuffix(" goes on: another memtrace has resumed it as well\n"))
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    let events = try MarkedEvents(trace)
    #expect(events[33003] == .init(allocated: 20))
    #expect(events[33004] == .init())
    #expect(trace.windows?.map { $0.end != nil } == [true])
  }

  @Test func whoeverWaitsPausesWhenInterrupted() throws {
    let (run, directory) = try MarkedProgram.record(
      "outside", "$M resume $P --for 1h | { read line; kill -INT $(pgrep -f 'resum[e] '$P); cat; }",
      "true", options: ["--paused"])
    #expect(run.errorText == "")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(try MarkedEvents(trace)[33003] == .init())
    #expect(trace.windows?.map { $0.end != nil } == [true])
  }

  @Test func refusalsAreExplained() throws {
    let (run, _) = try MarkedProgram.record(
      "outside", "$M resume $P", "$M pause $P; $M resume 999999999; $M resume $P --for soon")
    let errors = run.errorText.split(separator: "\n").map {
      $0.replacing(/process \d+/, with: "process P")
    }
    let refusal =
      "memtrace: process P is recorded all the time: only one that was started with `memtrace record "
      + "--paused` can be paused and resumed"
    #expect(
      errors.prefix(4) == [
        refusal[...], refusal[...], "memtrace: there is no process P",
        "Error: --for takes a time such as 30s or 500ms, not 'soon'.",
      ])
  }
}
