import ArgumentParser
import Reports

/// `memtrace generations`: what grew from one mark to the next.
struct GenerationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generations",
    abstract: "Show what grew from one mark to the next, and is still live.",
    usage: "memtrace generations [TRACE | -- COMMAND …] [options]",
    discussion: """
      A generation holds the blocks that were allocated from its mark to the next one and live at \
      the end, or at --at. Repeat something that should leave nothing behind, with a mark before \
      each time: the first generations may grow (caches), the later ones must not.

      Marks are made while the process runs, by 'memtrace mark PID NAME' or MEMTRACE_MARK in the \
      program, or afterwards by --every and --marks. A block that realloc moved counts where it was \
      moved.

      --generation chooses one, and --blocks, --stacks or --call-tree show its blocks.

      Examples:
        memtrace generations server.mtrace
        memtrace generations server.mtrace --every 5s
        memtrace generations server.mtrace --marks 1.5s,3s,'request*'
        memtrace generations server.mtrace --generation 'request 2' --stacks
        memtrace generations server.mtrace --generation B --category 'app.*' --blocks
        memtrace generations -- ./server --once
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: GenerationsViewOptions
  @OptionGroup(title: "Filters") var filters: FilterOptions
  @OptionGroup(title: "Call tree") var tree: CallTreeViewOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    if !view.callTree, let option = tree.given {
      throw ValidationError("\(option) goes with --call-tree.")
    }
    if view.frames != nil {
      try output.checkIsText(for: "--frames", otherFormsHave: "whole stacks")
    }
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      let generations = try Generations(
        session.trace, marks: view.selection, request: view.request, moment: view.at?.text,
        progress: session.progress)
      guard let name = view.generation else {
        var query = GenerationsQuery()
        query.filter = filters.filter(
          in: view.scope, endNote: try view.endNote(session.trace))
        query.top = output.limit(view.top.top, text: 5)
        // In text there is --generation NAME for it.
        query.stacks = output.format == .json ? 10 : 0
        query.generations = output.limit(view.generations, text: 100)
        try session.write(
          GenerationsReport(session.source, generations, query: query), to: output)
        return
      }
      try write(generations, name: name, session)
    }
  }

  /// The blocks of one generation, in one of the views that other reports have, too.
  private func write(_ generations: Generations, name: String, _ session: ReportSession) throws {
    let (result, name) = try generations.restricted(to: name)
    var filter = filters.filter(
      lifespan: .persistent, in: view.scope, endNote: try view.endNote(session.trace))
    filter.generation = name
    if view.blocks {
      let blocks = try BlocksReport(
        liveIn: result, source: session.source, filter: filter, moment: view.at?.text,
        top: output.limit(view.top.top, text: 100, data: 100_000))
      try session.write(blocks, to: output)
    } else if view.callTree {
      var query = CallTreeQuery()
      query.filter = filter
      query.moment = view.at?.text
      query.options = tree.options
      query.leastShare = tree.leastShare ?? (output.format == .text ? 10 : 0)
      query.top = output.limit(view.top.top, text: 200, data: 100_000)
      try session.write(
        CallTreeReport(result, source: session.source, query: query), to: output)
    } else {
      var query = UnfreedQuery()
      query.filter = filter
      query.top = output.limit(view.top.top, text: 20, data: 1000)
      query.frames = view.frames
      query.moment = view.at?.text
      try session.write(UnfreedReport(result, source: session.source, query: query), to: output)
    }
  }
}
