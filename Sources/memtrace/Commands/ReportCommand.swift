import ArgumentParser
import LeakAnalysis
import Reports

/// `memtrace report`: one page about a trace.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Show one page with what matters, and what to type next.",
    usage: "memtrace report [TRACE | -- COMMAND …] [options]",
    discussion: """
      What ran and how it ended, memory errors with their stacks, memory hogs, the live bytes over \
      time with their peak, the categories and the stacks that hold most, and places that allocate \
      only to free again.

      Examples:
        memtrace report server.mtrace
        memtrace report -- ./server --once
        memtrace report server.mtrace --format json -o server.json
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols) { session in
      var result = try session.trace.replay(
        ReplayRequest(), keepsLiveBlocks: true, progress: session.progress)
      session.trace.addOverreleases(to: &result)
      let isComplete = session.trace.header.sampleInterval == 0
      let leaks =
        session.trace.snapshots.isEmpty || !isComplete ? nil : try lastSnapshot(session)
      try session.write(
        OverviewReport(result, leaks: leaks, source: session.source), to: output)
    }
  }

  private func lastSnapshot(_ session: ReportSession) throws -> LeakAnalysis {
    let index = try session.trace.snapshotIndex(at: nil)
    return try session.trace.leakAnalysis(
      atSnapshot: index, source: session.source, progress: session.progress)
  }
}
