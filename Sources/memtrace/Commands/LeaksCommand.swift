import ArgumentParser
import LeakAnalysis
import Reports
import TraceReader

extension LeaksGrouping: ExpressibleByArgument {}

/// `memtrace leaks`: blocks that nothing can reach any more.
struct LeaksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leaks",
    abstract: "Show the blocks that nothing points to any more, and what they drag along.",
    usage: "memtrace leaks [TRACE | -- COMMAND …] [options]",
    discussion: """
      Looks at a heap snapshot of the trace: 'memtrace record' takes one when the program ends. A \
      block is leaked when no chain of pointers leads to it from variables, stacks, registers, \
      thread-local variables or mappings. Blocks that hold each other are root cycles.

      The exit status does not depend on whether there are leaks, unless --fail-on-leaks is given.

      Examples:
        memtrace leaks server.mtrace
        memtrace leaks -- ./server --once
        memtrace leaks server.mtrace --cycles
        memtrace leaks server.mtrace --trace-tree 0x55d0c0a0
        memtrace leaks server.mtrace --diff-from yesterday.mtrace --fail-on-leaks
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: LeaksViewOptions
  @OptionGroup(title: "Filters") var filters: FilterOptions
  @OptionGroup(title: "Time and size") var time: LeaksTimeOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    try view.stacks.check(for: output)
    guard let tree = view.treeOption else { return }
    if view.referenceTree, view.stacks.frames != nil {
      throw ValidationError("--frames does not go with --reference-tree, which shows no stacks.")
    }
    let ignored = [
      ("--fail-on-leaks", view.failOnLeaks), ("--cycles", view.cycles),
      ("--diff-from", view.diffFrom != nil), ("--group-by", view.groupBy != .stack),
      ("--all", view.all && !view.referenceTree), ("--category", filters.category != nil),
      ("--responsible", filters.responsible != nil), ("--image", filters.image != nil),
      ("--thread", filters.thread != nil), ("--from", time.from != nil),
      ("--size", time.size != nil),
    ]
    if let (option, _) = ignored.first(where: \.1) {
      throw ValidationError("\(option) goes with the list of leaks, not with \(tree).")
    }
  }

  func run() throws {
    var hasLeaks = false
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      let index = try session.trace.snapshotIndex(time.snapshot.choice)
      if let address = view.traceTree {
        try session.write(
          TraceTreeReport(
            analysis(at: index, session), address: address.rawValue, source: session.source,
            limit: output.limit(view.stacks.top.top, text: 100, data: 10_000),
            frameLimit: view.stacks.frames), to: output)
      } else if view.referenceTree {
        try session.write(
          ReferenceTreeReport(
            analysis(at: index, session), source: session.source, includesRecorder: view.all,
            limit: output.limit(view.stacks.top.top, text: 60, data: 100_000)), to: output)
      } else {
        hasLeaks = try reportLeaks(at: index, session)
      }
    }
    // A command that failed has ended this with its own status already.
    if view.failOnLeaks, hasLeaks { throw ExitCode(ExitStatus.findings) }
  }

  private func analysis(at index: Int, _ session: ReportSession) throws -> LeakAnalysis {
    try session.trace.leakAnalysis(
      atSnapshot: index, source: session.source, progress: session.progress)
  }

  /// Writes the report.
  ///
  /// - Returns: Whether there are leaks.
  private func reportLeaks(at index: Int, _ session: ReportSession) throws -> Bool {
    let query = try query(session)
    // What other analyses found comes first, so that there is one at a time.
    let baseline = try baseline()
    // A table of comma-separated values has no place for discoveries.
    let showsDiscoveries = view.diffFrom == nil && output.format != .csv
    var discoveries =
      showsDiscoveries
      ? try session.trace.discoveries(
        before: index, source: session.source, query: query,
        limit: view.stacks.top.top == 0 ? nil : Self.mostDiscoveries, progress: session.progress)
      : nil
    let analysis = try analysis(at: index, session)
    var report = try LeaksReport(
      analysis, source: session.source, query: query, baseline: baseline)
    report.addRetainers(session.trace, source: session.source)
    discoveries?.add(analysis, source: session.source, query: query)
    if showsDiscoveries { report.setDiscoveries(discoveries?.moments ?? [], in: session.trace) }
    try session.write(report, to: output)
    return report.leaked.count > 0
  }

  /// The earlier snapshots that are looked at take as long as the one that was asked for, each.
  private static let mostDiscoveries = 12

  private func query(_ session: ReportSession) throws -> LeaksQuery {
    var query = LeaksQuery()
    query.filter = filters.filter(
      in: time.scope, endNote: try session.trace.endNote([("--from", time.from)]))
    query.sizes = time.size
    query.fromNanoseconds = try time.from.map(session.trace.nanoseconds(at:))
    query.grouping = view.groupBy
    query.includesSystem = view.all
    query.onlyCycles = view.cycles
    query.top = output.limit(view.stacks.top.top, text: 20, data: 1000)
    query.frames = view.stacks.frames
    if output.format != .text { query.treeLines = 1000 }
    return query
  }

  /// The leaks of the trace that `--diff-from` names.
  private func baseline() throws -> LeakBaseline? {
    guard let other = view.diffFrom else { return nil }
    var baseline: LeakBaseline?
    try ReportSession.run(trace: other, symbols: symbols) { session in
      let index = try session.trace.snapshotIndex()
      let analysis = try session.trace.leakAnalysis(
        atSnapshot: index, source: session.source, progress: session.progress)
      baseline = LeakBaseline(
        analysis, source: session.source, query: try query(session), name: other)
    }
    return baseline
  }
}
