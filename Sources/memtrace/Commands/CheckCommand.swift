import ArgumentParser
import LeakGate

/// `memtrace check`: a gate for continuous integration.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Fail when a program leaks or misuses memory: a gate for continuous integration.",
    usage: """
      memtrace check TRACE … [--rule RULE] [--baseline FILE] [options]
      memtrace check [options] -- COMMAND …
      """,
    discussion: """
      Records the command with all its child processes, or takes traces, and holds each process to \
      the rules: by default no leak, no cycle and no memory error.

      Exit status: the command's own when it failed; \(GateStatus.failed) when a rule is broken; \
      \(GateStatus.unmeasured) when something could not be measured, so that nothing is proved; 0 \
      only when everything was measured and every rule is kept. docs/ci.md leads from nothing to a \
      gate.

      Examples:
        memtrace check -- ./test-runner
        memtrace check --process '*.xctest' -- swift test
        memtrace check --baseline leaks.yml --update-baseline -- make check
        memtrace check --rule 'peak<=+5%' --baseline leaks.yml -- ./server --once
        memtrace check --output sarif=leaks.sarif --output github -- ctest
      """)

  @Argument(
    help: ArgumentHelp(
      "Traces to check, or folders of them; behind '--' a command to record and check instead.",
      valueName: "trace"),
    completion: .file())
  var words: [String] = []

  @OptionGroup(title: "Rules") var rules: GateRuleOptions
  @OptionGroup(title: "What is tolerated") var tolerated: BaselineOptions
  @OptionGroup(title: "Output") var output: GateOutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  /// What stands behind `--`; the parser has it among the other words.
  private var command: ArraySlice<String> {
    guard let end = OwnArguments.words.firstIndex(of: "--") else { return [] }
    return words.suffix(OwnArguments.words[end...].count - 1)
  }

  private var traces: ArraySlice<String> { words.dropLast(command.count) }

  mutating func validate() throws {
    if traces.isEmpty, command.isEmpty {
      throw ValidationError("Missing the traces to check, or a command to record after '--'.")
    }
    if let trace = traces.first, let program = command.first {
      try UnknownOption.check()
      throw ValidationError(
        "Give traces or a command, not both ('\(trace)' and '\(program)').")
    }
    if output.keep != nil, command.isEmpty {
      throw ValidationError("--keep keeps the traces of a command; these are there already.")
    }
    if recording.events.paused, !command.isEmpty {
      throw ValidationError("'check' needs all blocks to be recorded; leave --paused out.")
    }
  }

  func run() throws {
    if let trace = traces.first { try recording.checkNone(for: trace) }
    let setup = try GateSetup(rules: rules, tolerated: tolerated)
    let writing = GateWriting(options: output)
    try writing.checkFiles(baseline: tolerated.updates ? setup.configuration.baseline : nil)
    var run = GateRun(setup: setup, symbols: symbols)
    if command.isEmpty {
      try run.add(traces: traces)
    } else {
      try run.record(
        Array(command), options: recording, keepingIn: output.keep, canary: rules.canary)
    }
    if tolerated.updates { try run.updateBaseline() }
    let result = run.result
    try writing.write(result)
    if result.exitStatus != 0 { throw ExitCode(result.exitStatus) }
  }
}
