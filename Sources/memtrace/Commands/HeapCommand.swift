import ArgumentParser
import Reports

extension HeapQuery.Order: ExpressibleByArgument {}

/// `memtrace heap`: the classes of what was live.
struct HeapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heap",
    abstract: "Show the classes of the live blocks of a snapshot: how many, how much, from where.",
    usage: "memtrace heap [TRACE | -- COMMAND …] [options]",
    discussion: """
      Types are read in the blocks themselves where the trace has a snapshot, else they follow \
      from the stacks. A block without a class is named after its container, the type in the \
      source line, or its caller: "malloc in parse".

      Examples:
        memtrace heap server.mtrace
        memtrace heap -- ./server --once
        memtrace heap server.mtrace --snapshot 0 --sort bytes
        memtrace heap server.mtrace --class 'app.*' --show-sizes
        memtrace heap server.mtrace --class app.Node --objects
      """)

  @OptionGroup var input: TraceInputOptions

  @Option(
    help: ArgumentHelp(
      "This snapshot of the trace, counted from 0, instead of the last.", valueName: "number"))
  var snapshot: Int?

  @Option(
    help: ArgumentHelp(
      "What the rows are sorted by. (default: count)", valueName: "column"))
  var sort: HeapQuery.Order?

  @Option(
    name: .customLong("class"),
    help: ArgumentHelp("Only classes with this name, which may hold * and ?.", valueName: "name"))
  var className: String?

  @Flag(name: .customLong("show-sizes"), help: "A row for each size of a class.")
  var showSizes = false

  @Flag(help: "List the blocks one by one, Swift objects with their reference counts.")
  var objects = false

  @OptionGroup var top: TopOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    guard objects, output.format == .csv else { return }
    let ignored = [("--sort", sort != nil), ("--show-sizes", showSizes)]
    if let (option, _) = ignored.first(where: \.1) {
      throw ValidationError(
        "\(option) is about the classes; csv with --objects has the blocks, by address.")
    }
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      var query = HeapQuery()
      query.snapshot = snapshot
      query.order = sort ?? .count
      query.name = className
      query.separatesSizes = showSizes
      query.listsObjects = objects
      query.top = output.limit(top.top, text: 40, data: nil)
      try session.write(
        HeapReport(
          session.trace, source: session.source, query: query, progress: session.progress),
        to: output)
    }
  }
}
