import ArgumentParser
import Reports

/// `memtrace mappings`: memory that the program mapped itself.
struct MappingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mappings",
    abstract: "Show the memory that the program mapped itself: mmap, mremap, brk, sbrk.",
    usage: "memtrace mappings [TRACE | -- COMMAND …] [options]",
    discussion: """
      Of a trace that was recorded with --mappings. Sizes are of addresses: how much of them was \
      ever touched is not known. What nobody may touch (PROT_NONE) is told as reserved. Of a \
      mapping of which a part was unmapped, the rest persists.

      What the C library and the kernel map themselves is not there: the heap of malloc, libraries, \
      stacks of threads.

      Examples:
        memtrace mappings server.mtrace
        memtrace mappings server.mtrace --group-by stack --lifespan persistent
        memtrace mappings server.mtrace --group-by mapping --live-at peak
        memtrace mappings -- ./server --once
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: MappingsViewOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    if case .command = try input.input() { recording.events.mappings = true }
    try view.check(for: output)
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      try session.write(
        MappingsReport(session.trace, source: session.source, query: view.query(for: output)),
        to: output)
    }
  }
}
