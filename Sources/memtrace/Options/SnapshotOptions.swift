import ArgumentParser

/// When `record` takes heap snapshots, beside those of ``RecordingOptions``.
struct SnapshotOptions: ParsableArguments {
  /// The range of `--snapshot-interval`, in seconds.
  static let intervals = 1...86400

  @Flag(
    name: .customLong("no-exit-snapshot"),
    help: "Take none when a process ends by itself.")
  var skipsExit = false

  @Flag(
    name: .customLong("snapshot-on-request"),
    help: "Take one when 'memtrace snapshot PID' asks for it (handles a real-time signal).")
  var onRequest = false

  @Option(
    name: .customLong("snapshot-interval"),
    help: ArgumentHelp(
      "Take one every so many seconds, such as 1 or 1s (handles a real-time signal).",
      valueName: "seconds"),
    transform: Self.seconds)
  var interval: Int?

  @Flag(
    name: .customLong("snapshot-at-marks"),
    help: "Take one with every MEMTRACE_MARK of the program.")
  var atMarks = false

  @Flag(
    name: .customLong("snapshot-contents"),
    help: "Keep all of the memory, not only what can be pointers.")
  var keepsContents = false

  private static func seconds(_ text: String) throws -> Int {
    let number = text.hasSuffix("s") ? text.dropLast() : text[...]
    if let seconds = Int(number), intervals.contains(seconds) { return seconds }
    throw ValidationError(
      "--snapshot-interval takes whole seconds from \(intervals.lowerBound) to "
        + "\(intervals.upperBound), such as 1 or 1s, not '\(text)'.")
  }

  /// The variables of the recorder that say the same; see docs/configuration.md.
  var variables: [String: String] {
    var variables: [String: String] = [:]
    if skipsExit { variables["MEMTRACE_SNAPSHOT_AT_EXIT"] = "0" }
    if onRequest { variables["MEMTRACE_SNAPSHOT_ON_REQUEST"] = "1" }
    if let interval { variables["MEMTRACE_SNAPSHOT_INTERVAL"] = String(interval) }
    if atMarks { variables["MEMTRACE_SNAPSHOT_AT_MARKS"] = "1" }
    if keepsContents { variables["MEMTRACE_SNAPSHOT_CONTENTS"] = "1" }
    return variables
  }
}
