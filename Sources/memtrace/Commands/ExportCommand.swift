import ArgumentParser
import Reports
import TraceReader

/// `memtrace export`: stacks for other tools.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write who allocated how much for other tools: flame graphs, pprof.",
    usage: "memtrace export [TRACE | -- COMMAND …] [options]",
    discussion: """
      html is a flame graph for a browser: a page of its own, with all values to choose from. folded \
      has a line for each stack, for flamegraph.pl, inferno or speedscope. pprof is a profile with \
      all values, and with thread and type of each sample as labels, for go tool pprof, Parca or \
      Pyroscope.

      Examples:
        memtrace export server.mtrace -o server.html
        memtrace export server.mtrace --live-at peak -o peak.html
        memtrace export server.mtrace --value total-blocks | flamegraph.pl > a.svg
        memtrace export server.mtrace -o server.pb
        go tool pprof -http=: server.pb
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "Output") var output: ExportOptions
  @OptionGroup(title: "Filters") var filters: FilterOptions
  @OptionGroup(title: "Time and size") var time: TimeOptions
  @OptionGroup(title: "Call tree") var tree: CallTreeViewOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    if output.format == .pprof, let option = tree.given {
      throw ValidationError("\(option) goes with html and folded; pprof has options of its own.")
    }
    if output.format != .html, tree.minPercent != nil {
      throw ValidationError("--min-percent goes with html.")
    }
  }

  func run() throws {
    try output.checkCanBeWritten()
    try ReportSession.run(input.input(), recording: recording, symbols: symbols) { session in
      let filter = filters.filter(
        in: time.scope, endNote: try session.trace.endNote(time.request))
      let result = try session.trace.replay(time.request, progress: session.progress)
      session.progress(0, 0)
      warn(of: result, filter, in: session)
      switch output.format {
      case .folded:
        let stacks = try FoldedStacks(
          result, source: session.source, filter: filter, value: output.value,
          options: tree.options)
        if stacks.lines.isEmpty { warn(noStacks, in: session) }
        try output.write { file in try stacks.lines.forEach { _ = try file.write($0) } }
      case .html:
        let graph = try FlameGraph(
          result, source: session.source, query: query(filter))
        try output.write { file in try graph.parts.forEach { _ = try file.write($0) } }
      case .pprof:
        let profile = try PprofProfile(
          result, source: session.source, filter: filter, shown: output.value)
        try output.write { file in try file.write(profile.bytes) }
      }
      session.noteMissingNames()
    }
  }

  /// Says on standard error what the trace does not hold: none of the forms has a place for it.
  private func warn(of result: ReplayResult, _ filter: SiteFilter, in session: ReportSession) {
    let gaps = session.source.trace.figuresWarnings + CoverageSummary(result.coverage).warnings
    for gap in gaps + [filter.endNote].compactMap({ $0 }) { warn(gap, in: session) }
  }

  private func warn(_ text: String, in session: ReportSession) {
    Diagnostics.write("\(session.file?.string ?? "the recording"): \(text)")
  }

  /// Of folded stacks there is nothing to see then.
  private var noStacks: String {
    let isOfLive = output.value == .liveBytes || output.value == .liveBlocks
    let next = isOfLive ? "; --value total-bytes counts what was freed, too" : ""
    return "no stack to export: none that is asked for has \(output.value.rawValue)\(next)"
  }

  private func query(_ filter: SiteFilter) -> FlameGraph.Query {
    var query = FlameGraph.Query()
    query.filter = filter
    query.moment = time.momentText
    query.shown = output.value
    query.options = tree.options
    if let share = tree.leastShare { query.leastShare = share }
    return query
  }
}
