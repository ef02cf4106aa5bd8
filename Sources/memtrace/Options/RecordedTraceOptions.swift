import ArgumentParser

/// Where `record` writes, how often, and what it does with the traces afterwards.
struct RecordedTraceOptions: ParsableArguments {
  /// The range of `--runs`.
  static let runCounts = 1...1000

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the trace to this file. (default: COMMAND.mtrace in the working directory)",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Replace FILE if it is a trace.")
  var force = false

  @Option(
    help: ArgumentHelp(
      "Run the command so often, until it fails; FILE is a folder then, for 'memtrace diff'.",
      valueName: "number"))
  var runs = 1

  @Flag(
    help: "Pack the traces when the command has ended, into FILE.zst, and remove the plain ones.")
  var pack = false

  @Flag(name: .shortAndLong, help: "Print no summary at the end.")
  var quiet = false

  mutating func validate() throws {
    if force && output == nil { throw ValidationError("--force goes with -o FILE.") }
    guard Self.runCounts.contains(runs) else {
      throw ValidationError(
        "--runs takes \(Self.runCounts.lowerBound) to \(Self.runCounts.upperBound), not \(runs).")
    }
    if runs > 1, output == nil || force {
      throw ValidationError("--runs goes with -o FOLDER, and without --force.")
    }
  }
}
