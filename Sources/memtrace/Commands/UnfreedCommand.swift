import ArgumentParser
import Reports

/// `memtrace unfreed`: blocks that were never freed.
struct UnfreedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unfreed",
    abstract: "Show the blocks that were never freed, by the stack that allocated them.",
    usage: "memtrace unfreed [TRACE | -- COMMAND …] [options]",
    discussion: """
      Not every unfreed block is a leak: many programs leave it to the system to take back their \
      memory at the end, and what is still pointed to can still be freed.

      Examples:
        memtrace unfreed server.mtrace
        memtrace unfreed -- ./server --once
        memtrace unfreed server.mtrace --from 10s --responsible parse
        memtrace unfreed server.mtrace --format csv --top 0
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: StackViewOptions
  @OptionGroup(title: "Filters") var filters: FilterOptions
  @OptionGroup(title: "Time and size") var time: TimeOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    try view.check(for: output)
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      var query = UnfreedQuery()
      query.filter = filters.filter(
        in: time.scope, endNote: try session.trace.endNote(time.request))
      query.top = output.limit(view.top.top, text: 20, data: 1000)
      query.frames = view.frames
      query.moment = time.momentText
      let result = try session.trace.replay(
        time.request, keepsLiveBlocks: true, progress: session.progress)
      try session.write(
        UnfreedReport(result, source: session.source, query: query), to: output)
    }
  }
}
