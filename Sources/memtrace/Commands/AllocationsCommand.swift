import ArgumentParser
import Reports

/// `memtrace allocations`: the Allocations instrument.
struct AllocationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "allocations",
    abstract: "Show the Allocations table: what is live and what was freed, by category.",
    usage: "memtrace allocations [TRACE | -- COMMAND …] [options]",
    discussion: """
      Persistent blocks were not freed, transient ones were; both together are the total. The bar \
      is solid for the bytes that persist and light for those that were freed. Categories are \
      types where they are known (Swift and C++ classes, storage of collections), else requested \
      sizes, rounded up: Malloc-16 holds blocks of 1 to 16 bytes. --group-by type goes further: \
      a type that the source line names, else the caller, such as "malloc in parse".

      Three views of the same blocks: the table (grouped by --group-by), single blocks (--blocks), \
      and who called whom (--call-tree).

      Examples:
        memtrace allocations server.mtrace
        memtrace allocations -- ./server --once
        memtrace allocations server.mtrace --category Malloc-16 --blocks
        memtrace allocations server.mtrace --live-at peak --group-by function
        memtrace allocations server.mtrace --group-by type --category 'app.*'
        memtrace allocations server.mtrace --from 1.5s --to 80% --lifespan persistent
        memtrace allocations server.mtrace --call-tree --invert --hide-system
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: AllocationsViewOptions
  @OptionGroup(title: "Filters") var filters: FilterOptions
  @OptionGroup(title: "Time and size") var time: TimeOptions
  @OptionGroup(title: "Call tree") var tree: CallTreeViewOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    if !view.callTree, let option = tree.given {
      throw ValidationError("\(option) goes with --call-tree.")
    }
    if !view.columns.isEmpty {
      try output.checkIsText(for: "--columns", otherFormsHave: "all of them")
    }
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      if view.blocks {
        try session.write(blocks(session), to: output)
      } else if view.callTree {
        try session.write(callTree(session), to: output)
      } else {
        try session.write(table(session), to: output)
      }
    }
  }

  private func filter(lifespan: Lifespan, _ session: ReportSession) throws -> SiteFilter {
    filters.filter(
      lifespan: lifespan, in: time.scope, endNote: try session.trace.endNote(time.request))
  }

  private func table(_ session: ReportSession) throws -> AllocationsReport {
    var query = AllocationsQuery()
    query.filter = try filter(lifespan: view.lifespan ?? .all, session)
    query.moment = time.momentText
    query.grouping = view.groupBy ?? .category
    query.order = view.sort ?? .persistentBytes
    query.top = output.limit(view.top.top, text: 40, data: view.groupBy == .stack ? 1000 : nil)
    query.columns = view.shownColumns
    let result = try session.trace.replay(time.request, progress: session.progress)
    return try AllocationsReport(result, source: session.source, query: query)
  }

  private func blocks(_ session: ReportSession) throws -> BlocksReport {
    var query = BlocksQuery()
    query.filter = try filter(lifespan: view.lifespan(at: time.liveAt), session)
    query.moment = time.momentText
    query.bySize = view.sortsBySize
    query.top = output.limit(view.top.top, text: 100, data: 100_000)
    return try BlocksReport(
      session.trace, source: session.source, request: time.request, query: query,
      progress: session.progress)
  }

  private func callTree(_ session: ReportSession) throws -> CallTreeReport {
    var query = CallTreeQuery()
    query.filter = try filter(lifespan: view.lifespan(at: time.liveAt), session)
    query.moment = time.momentText
    query.options = tree.options
    query.leastShare = tree.leastShare ?? (output.format == .text ? 10 : 0)
    query.top = output.limit(view.top.top, text: 200, data: 100_000)
    let result = try session.trace.replay(time.request, progress: session.progress)
    return try CallTreeReport(result, source: session.source, query: query)
  }
}
