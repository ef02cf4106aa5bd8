import ArgumentParser
import Reports

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
  @OptionGroup(title: "View") var view: HeapViewOptions
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
      try session.write(
        HeapReport(
          session.trace, source: session.source, query: view.query(for: output),
          progress: session.progress),
        to: output)
    }
  }
}
