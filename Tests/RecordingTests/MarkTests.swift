import Reports
import Symbolication
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Marks from inside and outside a recorded process, and what grew between them.
@Suite(.serialized) struct MarkTests {
  /// `name bytes blocks` of each generation, of blocks of 33000 bytes and more.
  private func growth(_ trace: Trace, at moment: LiveMoment? = nil) throws -> [String] {
    var request = ReplayRequest()
    request.sizes = ByteRange("33000-33010")
    request.liveAt = moment
    let generations = try Generations(trace, marks: GenerationMarks(), request: request)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    return try GenerationsReport(source, generations, query: GenerationsQuery()).generations.map {
      "\($0.name) \($0.growth.bytes) \($0.growth.count)"
    }
  }

  @Test func marksFromOutsidePartTheBlocks() throws {
    // Neither asked for by an option, nor noticed.
    let (run, directory) = try MarkedProgram.record(
      "outside", "$M mark $P one", "$M mark $P 'two, or so'")
    #expect(run.status == 0)
    #expect(run.errorText == "")
    let lines = run.outputText.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines[0].contains(/^mark "one" of process \d+ at \d\d:\d\d\.\d{3}\.\d{3} in .*root.mtrace$/))
    #expect(lines[2] == "status 0")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(trace.marks.map(\.name) == ["one", "two, or so"])
    #expect(trace.marks.allSatisfy { $0.thread == .recorder })
    #expect(trace.coverage.damage.isEmpty)
    #expect(
      try growth(trace) == [
        "- Baseline - 330010 10", "one 660060 20", "two, or so 990120 30",
      ])
    #expect(
      try growth(trace, at: LiveMoment("two, or so")) == [
        "- Baseline - 330010 10", "one 660060 20",
      ])
  }

  @Test func marksTakeSnapshotsOfTheirName() throws {
    let (run, directory) = try MarkedProgram.record(
      "outside", "$M mark $P one --snapshot", "$M snapshot $P; $M mark $P two --snapshot",
      options: ["--snapshot-on-request"])
    #expect(run.status == 0)
    #expect(run.errorText == "")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(trace.marks.map(\.name) == ["one", "two"])
    #expect(
      trace.snapshots.map(\.reason) == [.mark("one"), .request, .mark("two"), .exit(0)])
    #expect(trace.snapshots.allSatisfy { $0.isComplete })
    #expect(try trace.snapshotIndex(.moment("two")) == 2)
    for (mark, snapshot) in zip(trace.marks, [trace.snapshots[0], trace.snapshots[2]]) {
      #expect(mark.time < snapshot.time)
    }
  }

  @Test func processThatMayNotBeLookedAtIsMarked() throws {
    // Nobody but root may see its mappings; here its trace lies in the working directory, there it
    // is named.
    let (run, directory) = try MarkedProgram.record(
      "not-dumpable", "$M mark $P here", "cd / && $M mark $P there --trace $OLDPWD/root.mtrace")
    #expect(run.status == 0)
    #expect(run.errorText == "")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(try growth(trace).dropFirst() == ["here 660060 20", "there 990120 30"])
  }

  @Test func refusalsAreExplained() throws {
    let (run, _) = try MarkedProgram.record(
      "outside",
      "$M mark $P one --snapshot; $M mark $P one --trace /dev/null",
      "$M mark 999999999 one; $M mark \(getpid()) one")
    #expect(run.outputText.split(separator: "\n").count == 1)
    let errors = run.errorText.split(separator: "\n").map {
      $0.replacing(/process \d+/, with: "process P")
    }
    #expect(
      errors == [
        "memtrace: process P takes no requests: it was recorded without --snapshot-on-request",
        "memtrace: /dev/null is no trace that process P is writing",
        "memtrace: there is no process P",
        "memtrace: process P is not being recorded; start it with `memtrace record -- COMMAND`, "
          + "or attach to it with `memtrace attach`",
      ])
  }

  @Test func marksInsideComeBetweenTheEventsAroundThem() throws {
    // Blocks are made every few hundred nanoseconds, more often than their times are written.
    let trace = try TracedRun([try MarkedProgram.program().path.string, "inside"]).root()
    #expect(trace.marks.map(\.name) == (0..<1000).map { "m\($0)" })
    #expect(
      try growth(trace) == ["- Baseline - 330010 10"] + (0..<1000).map { "m\($0) 33002 1" })
  }

  @Test func marksComeBetweenEventsAlsoAmongThreads() throws {
    let trace = try TracedRun([try MarkedProgram.program().path.string, "threads"]).root()
    #expect(
      try growth(trace) == ["- Baseline - 330010 10"] + (0..<100).map { "m\($0) 33001 1" })
  }

  @Test func threadThatMarksFirstOfAllIsKnown() throws {
    let trace = try TracedRun([try MarkedProgram.program().path.string, "first"]).root()
    let mark = try #require(trace.marks.first)
    #expect(mark.thread != .recorder)
    #expect(trace.threads.contains { $0.index == mark.thread })
  }

  @Test func anotherUsersProcessIsLeftAlone() throws {
    // Process 1 is root's; root itself may ask it.
    guard geteuid() != 0 else { return }
    let run = try ProcessRun.run([BuiltProducts.memtrace.string, "mark", "1", "here"])
    #expect(run.status == 66)
    #expect(run.errorText.contains("process 1 belongs to another user (0)"))
  }
}
