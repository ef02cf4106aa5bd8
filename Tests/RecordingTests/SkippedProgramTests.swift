import Testing
import TraceReader

/// Programs that a recording goes past: MEMTRACE_SKIP.
@Suite struct SkippedProgramTests {
  @Test func aSkippedProgramHasATraceWithoutEvents() throws {
    let program = try TestProgram("fork.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "'\(program.path)'; exit 5"], environment: ["MEMTRACE_SKIP=other,fork-?*"])
    let traces = try run.traces(of: program)
    #expect(traces.map(\.ending) == [.exit(0), .exit(7)])
    for trace in traces {
      #expect(trace.coverage.stop?.cause == .requested)
      #expect(trace.coverage.eventsDropped == 0)
      #expect(trace.snapshots.isEmpty)
      #expect(try trace.replay().total.totalCount == 0)
    }
    #expect(run.recorded.status == 5)
  }

  @Test func whatASkippedProgramStartsIsRecorded() throws {
    let program = try TestProgram("fork.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "env -i NAME=value '\(program.path)'; exit 0"],
      environment: ["MEMTRACE_SKIP=env"])
    let traces = try run.traces(of: program)
    #expect(traces.count == 2)
    let first = try #require(traces.first)
    #expect(try MarkedEvents(first)[12001] == .init(allocated: 1, freed: 1))
    #expect(first.coverage.stop == nil)
    #expect(first.snapshots.count == 1)
    let stopped = try run.allTraces().filter { $0.coverage.stop != nil }
    #expect(stopped.map { $0.process.executablePath.hasSuffix("/env") } == [true])
  }

  @Test func theFirstProgramIsRecordedWhateverIsSkipped() throws {
    let run = try TracedRun(
      [try TestProgram("fork.c").path.string], environment: ["MEMTRACE_SKIP=*"])
    #expect(try MarkedEvents(run.root())[12001] == .init(allocated: 1, freed: 1))
  }
}
