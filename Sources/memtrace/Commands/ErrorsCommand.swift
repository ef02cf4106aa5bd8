import ArgumentParser
import Reports

/// `memtrace errors`: double, invalid and mismatched frees.
struct ErrorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "errors",
    abstract: "Show double frees, invalid frees and mismatched deallocations with their stacks.",
    usage: "memtrace errors [TRACE | -- COMMAND …] [options]",
    discussion: """
      For each error: who allocated the block, who freed it first, and who freed it again, with \
      the threads and the times between. Errors of one kind with the same stacks are shown once, \
      with their number. Allocations that failed are listed at the end.

      The exit status does not depend on whether there are errors.

      Examples:
        memtrace errors server.mtrace
        memtrace errors -- ./server --once
        memtrace errors server.mtrace --kind double-free --kind invalid-free
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: ErrorsViewOptions
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
      var result = try session.trace.replay(ReplayRequest(), progress: session.progress)
      session.trace.addNoticedErrors(to: &result)
      let report = ErrorsReport(
        result, source: session.source, kinds: view.kind.isEmpty ? nil : Set(view.kind),
        top: output.limit(view.stacks.top.top, text: 20, data: 1000),
        frameLimit: view.stacks.frames,
        checks: HeapCheck.made(in: session.trace))
      try session.write(report, to: output)
    }
  }
}
