import ArgumentParser
import LeakAnalysis
import Reports
import TraceReader

/// `memtrace dangling`: who holds pointers into blocks that were freed.
struct DanglingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dangling",
    abstract: "Show who holds a pointer into a block that was freed, and who freed it.",
    usage: "memtrace dangling [TRACE | -- COMMAND …] [options]",
    discussion: """
      Looks at a heap snapshot of the trace: 'memtrace record' takes one when the program ends. A \
      pointer is dangling when a variable, or a block that can be reached, points to where a block \
      was freed and none is now. Whether it is ever followed again, nobody can tell: one that is \
      not does no harm. Pointers to addresses that were used again cannot be seen.

      Words that may be left over are counted only with --all: those on stacks and in registers, in \
      unused parts of arrays and where something else was before; and those that point to blocks \
      that were freed while the process ended.

      Examples:
        memtrace dangling server.mtrace
        memtrace dangling -- ./server --once
        memtrace dangling server.mtrace --at warm
        memtrace history server.mtrace 0x55d0c0a0
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: DanglingViewOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    try view.stacks.check(for: output)
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, symbols: symbols, output: output) {
      session in
      let index = try session.trace.snapshotIndex(
        view.snapshot.choice, for: .danglingPointers)
      let analysis = try session.trace.leakAnalysis(
        atSnapshot: index, source: session.source, progress: session.progress)
      let found = try DanglingPointers(analysis, in: session.trace, progress: session.progress)
      try session.write(
        DanglingReport(found, source: session.source, query: view.query(for: output)),
        to: output)
    }
  }
}
