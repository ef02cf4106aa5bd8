import ArgumentParser
import Reports

extension TraceDump.Kind: ExpressibleByArgument {}

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

  @Option(help: ArgumentHelp("Only records of this kind; may be repeated.", valueName: "kind"))
  var kind: [TraceDump.Kind] = []

  @Option(help: ArgumentHelp("At most so many events; 0 for all.", valueName: "events"))
  var top = 0

  @OptionGroup(title: "Output") var output: RecordOutputOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  mutating func validate() throws {
    _ = try input.input()
    if top < 0 { throw ValidationError("--top takes 0 or more events, not \(top).") }
  }

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, output: output) { session in
      let dump = TraceDump(
        session.trace, kinds: Set(kind.isEmpty ? TraceDump.Kind.allCases : kind),
        format: output.format == .json ? .jsonLines : .text,
        eventLimit: top == 0 ? nil : UInt64(top))
      try ReportOutput.withOutput(output.output) { file in try dump.write(file.write) }
    }
  }
}
