import ArgumentParser

/// What a report is about: a trace, or a command to record first.
struct TraceInputOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The trace to read.", valueName: "trace"),
    completion: .file(extensions: ["mtrace", "zst"]))
  var trace: String?

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp(
      "A command to record and report on, instead of a trace.", valueName: "command"))
  var command: [String] = []

  /// The trace or the command.
  ///
  /// Commands ask for it when all their options are checked: what is missing may have become the value
  /// of one, as in `--zombies TRACE`, and that is what has to be said then.
  ///
  /// - Throws: `ValidationError` when there is neither or both.
  func input() throws -> TraceInput {
    switch (trace, command.isEmpty) {
    case (let trace?, true): return .file(trace)
    case (nil, false): return .command(command)
    case (nil, true):
      try UnknownOption.check()
      throw ValidationError("Missing the trace to read, or a command to record after '--'.")
    case (let trace?, false):
      try UnknownOption.check()
      throw ValidationError("Give a trace or a command, not both ('\(trace)' and '\(command[0])').")
    }
  }
}

/// Where the trace of a report comes from.
enum TraceInput {
  case file(String)
  case command([String])
}

/// A command that has nothing to check but what it is about.
protocol ReportingCommand: ParsableCommand {
  var input: TraceInputOptions { get }
}

extension ReportingCommand {
  mutating func validate() throws { _ = try input.input() }
}
