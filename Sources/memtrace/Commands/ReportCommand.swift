import ArgumentParser
import LeakAnalysis
import Reports

/// `memtrace report`: one page about a trace.
struct ReportCommand: ReportingCommand {
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
  @OptionGroup(title: "Output") var output: DocumentOutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      // First, so that what is known of a snapshot is gone when the live blocks are collected.
      let (leaks, deinitialized) = try heap(session)
      var result = try session.trace.replay(
        ReplayRequest(), keepsLiveBlocks: true, progress: session.progress)
      session.trace.addNoticedErrors(to: &result)
      try session.write(
        OverviewReport(
          result, leaks: leaks, deinitialized: deinitialized,
          mapped: MappedSum(session.trace), source: session.source,
          checks: HeapCheck.made(in: session.trace),
          asksServers: symbols.debugFiles.debuginfod), to: output)
    }
  }

  /// The leaks of the last snapshot, and the objects that `unowned` references have outlived; nothing where
  /// there is no whole one, or not everything was recorded.
  private func heap(
    _ session: ReportSession
  ) throws -> (leaks: LeaksReport?, deinitialized: [DanglingReport.Deinitialized]) {
    let trace = session.trace
    guard trace.snapshots.contains(where: \.isComplete), trace.header.sampleInterval == 0 else {
      return (nil, [])
    }
    let analysis = try trace.leakAnalysis(
      atSnapshot: trace.snapshotIndex(at: nil), source: session.source, progress: session.progress)
    return (
      try OverviewReport.leaks(analysis, source: session.source),
      OverviewReport.deinitialized(analysis, source: session.source)
    )
  }
}
