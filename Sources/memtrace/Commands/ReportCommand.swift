import ArgumentParser
import LeakAnalysis
import Reports
import Symbolication

/// `memtrace report`: one page about a trace.
struct ReportCommand: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Show one page with what matters, and what to type next.",
    usage: "memtrace report [TRACE | FOLDER | -- COMMAND …] [options]",
    discussion: """
      What ran and how it ended, memory errors with their stacks, memory hogs, the live bytes over \
      time with their peak, the categories and the stacks that hold most, and places that allocate \
      only to free again. Of a folder, such as that of a recording of many processes, its traces \
      in a line each.

      Examples:
        memtrace report server.mtrace
        memtrace report -- ./server --once
        memtrace report traces/
        memtrace report server.mtrace -o server.json
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "Output") var output: DocumentOutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  func run() throws {
    let input = try input.input()
    if case .file(let name) = input, let traces = try TraceFolder.traces(in: name) {
      try recording.checkNone(for: name)
      try ReportOutput.checkCanBeWritten(output.output)
      try list(traces, in: name)
      return
    }
    try ReportSession.run(input, recording: recording, symbols: symbols, output: output) {
      session in try session.write(page(session), to: output)
    }
  }

  /// Writes the traces of a folder in a line each; a recording that is there twice is listed once.
  private func list(
    _ traces: [TraceFolder.Entry], in folder: String
  ) throws {
    let files = SymbolFiles()
    var rows: [TracesReport.Row] = []
    var problems: [String] = []
    var failure: CommandFailure?
    for copies in TraceCopies.grouped(traces.map(\.path)) {
      do {
        let (path, row) = try copies.best(by: \.warnings.count) { path in
          try self.row(of: path, sharing: files)
        }
        rows.append(row)
        problems += copies.notes(choosing: path)
      } catch let unreadable as CommandFailure {
        failure = unreadable
        problems.append(unreadable.description)
      }
    }
    // Of a folder with nothing to read there is nothing to list.
    if rows.isEmpty, let failure { throw failure }
    let report = TracesReport(folder: folder, traces: rows, problems: problems)
    try ReportOutput.write(report, to: output)
  }

  private func row(of trace: String, sharing files: SymbolFiles) throws -> TracesReport.Row {
    try ReportSession.run(trace: trace, symbols: symbols, sharing: files) { session in
      let leaked = try lastHeap(session) {
        try TracesReport.Row.leaked(in: $0, source: session.source)
      }.found
      var result = try session.trace.replay(ReplayRequest(), progress: session.progress)
      session.trace.addNoticedErrors(to: &result)
      return try TracesReport.Row(result, leaked: leaked, source: session.source)
    }
  }

  private func page(_ session: ReportSession) throws -> OverviewReport {
    // First, so that what is known of a snapshot is gone when the live blocks are collected.
    let (heap, leaksUnknown) = try lastHeap(session) { analysis in
      (
        leaks: try OverviewReport.leaks(analysis, source: session.source),
        deinitialized: OverviewReport.deinitialized(analysis, source: session.source)
      )
    }
    var result = try session.trace.replay(
      ReplayRequest(), keepsLiveBlocks: true, progress: session.progress)
    session.trace.addNoticedErrors(to: &result)
    return try OverviewReport(
      result, leaks: heap?.leaks, leaksUnknown: leaksUnknown,
      deinitialized: heap?.deinitialized ?? [],
      mapped: MappedSum(session.trace), source: session.source,
      checks: HeapCheck.made(in: session.trace), asksServers: symbols.debugFiles.debuginfod)
  }

  /// What is found in the heap of the last snapshot; where there is no whole one, or not everything was
  /// recorded, why nothing is known of it.
  private func lastHeap<Finding>(
    _ session: ReportSession, find: (LeakAnalysis) throws -> Finding
  ) throws -> (found: Finding?, unknown: String?) {
    let index: Int
    do {
      index = try session.trace.snapshotIndex()
    } catch let error as ReportError {
      return (nil, error.description)
    }
    let analysis = try session.trace.leakAnalysis(
      atSnapshot: index, source: session.source, progress: session.progress)
    return (try find(analysis), nil)
  }
}
