import ArgumentParser
import Reports

/// For how long the allocations of a running process are recorded.
struct RecordingLengthOptions: ParsableArguments {
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Pause again after this time (30s, 500ms); ^C does at once.", valueName: "time"))
  var length: String?

  mutating func validate() throws {
    guard length == nil || nanoseconds.map({ $0 > 0 }) == true else {
      throw ValidationError("--for takes a time such as 30s or 500ms, not '\(length ?? "")'.")
    }
  }

  private var nanoseconds: UInt64? {
    guard let length, case .nanoseconds(let value) = TimePoint(length) else { return nil }
    return value
  }

  /// The time; nil when none was given.
  var duration: Duration? { nanoseconds.map { .nanoseconds(Int64(clamping: $0)) } }
}
