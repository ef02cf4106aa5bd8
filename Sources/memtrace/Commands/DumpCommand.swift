import ArgumentParser
import Reports

/// `memtrace dump`: the records of a trace as text.
struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Print the records of a trace as text, one line each.",
    usage: "memtrace dump [TRACE | -- COMMAND …] [--kind KIND] [options]",
    discussion: """
      A line is the kind of record and its fields as key=value, in a fixed order; times are \
      nanoseconds since the recording began. With --format json each line is a JSON object.

      Examples:
        memtrace dump server.mtrace --kind event | grep 0x7f12a0
        memtrace dump server.mtrace --kind image --kind thread
        memtrace dump server.mtrace --kind event --top 1000 --format json
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: DumpViewOptions
  @OptionGroup(title: "Output") var output: RecordOutputOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, output: output) { session in
      let dump = TraceDump(
        session.trace, kinds: Set(view.kind.isEmpty ? TraceDump.Kind.allCases : view.kind),
        format: output.format == .json ? .jsonLines : .text,
        eventLimit: view.top == 0 ? nil : UInt64(view.top))
      try ReportOutput.withOutput(output.output) { file in try dump.write(file.write) }
    }
  }
}
