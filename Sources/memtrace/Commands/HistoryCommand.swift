import ArgumentParser
import Reports
import TraceReader

/// `memtrace history`: the life of one address.
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show the life of one address: every event of every block that covered it.",
    usage: "memtrace history TRACE ADDRESS [options]",
    discussion: """
      Any address inside a block matches. Δ is what an event does to the number of live blocks at \
      the address: +1 for an allocation, -1 for a free; a free that finds no live block is marked. \
      Of a trace that was recorded with --refcounts, retains and releases are shown as well, with \
      the running count, what they go with, and which go with nothing.

      Examples:
        memtrace history server.mtrace 0x7f12a0
        memtrace history server.mtrace 0x7f12a0 --stacks
        memtrace history 0x4052a0 -- ./server --once
        memtrace history 0x5581a0 --refcounts=Node -- ./app
      """)

  @Argument(
    help: "The trace to read; left out when a command is recorded.",
    completion: .file(extensions: ["mtrace", "zst"]))
  var trace: String?

  @Argument(help: "An address in or inside the block, such as 0x7f12a0.")
  var address: String?

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp(
      "A command to record and report on, instead of a trace.", valueName: "command"))
  var command: [String] = []

  @OptionGroup(title: "View") var view: HistoryViewOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try parsed()
  }

  func run() throws {
    let (input, address) = try parsed()
    try ReportSession.run(input, recording: recording, symbols: symbols, output: output) {
      session in
      let report = try HistoryReport(
        session.trace, address: address, source: session.source,
        top: output.limit(view.top.top, text: 100, data: 10_000), showsStacks: view.stacks,
        progress: session.progress)
      try session.write(report, to: output)
    }
  }

  private func parsed() throws -> (TraceInput, Address) {
    switch (trace, address, command.isEmpty) {
    case (let trace?, let address?, true):
      if (try? ArgumentForm.address(address)) == nil, (try? ArgumentForm.address(trace)) != nil {
        throw ValidationError("Give the trace first: memtrace history \(address) \(trace)")
      }
      return (.file(trace), try ArgumentForm.address(address))
    // With a command the only operand is the address.
    case (let address?, nil, false): return (.command(command), try ArgumentForm.address(address))
    case (nil, _, _): throw ValidationError("Missing the address, such as 0x7f12a0.")
    case (let given?, nil, true):
      let isAddress = (try? ArgumentForm.address(given)) != nil
      throw ValidationError(
        isAddress
          ? "Missing the trace before '\(given)', or a command to record after '--'."
          : "Missing the address behind '\(given)', such as 0x7f12a0.")
    case (_?, _?, false):
      throw ValidationError("Give an address only, when a command follows after '--'.")
    }
  }
}
