import ArgumentParser
import Reports

/// Which heap snapshot of a trace is looked at.
struct SnapshotChoiceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The last snapshot up to this time, or that of this mark. (default: the last one)",
      valueName: "time|mark"))
  var at: String?

  @Option(
    help: ArgumentHelp(
      "The snapshot with this number, as 'memtrace info' lists them.", valueName: "number"))
  var snapshot: Int?

  /// What the user asks, in the terms of the report.
  var choice: SnapshotChoice {
    snapshot.map(SnapshotChoice.number) ?? at.map(SnapshotChoice.moment) ?? .usual
  }

  mutating func validate() throws {
    if at != nil, snapshot != nil {
      throw ValidationError("Give --at or --snapshot, not both.")
    }
  }
}
