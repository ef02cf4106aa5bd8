import ArgumentParser

/// How to record, for `record` and for every report command that is given a command.
struct RecordingOptions: ParsableArguments {
  /// The range of `--depth`; the recorder has room for no more.
  static let depths = 1...1024

  @Option(
    help: ArgumentHelp("Keep at most this many frames of each stack.", valueName: "frames"))
  var depth = 128

  @Flag(name: .customLong("no-follow"), help: "Record the command only, not its child processes.")
  var noFollow = false

  mutating func validate() throws {
    guard Self.depths.contains(depth) else {
      throw ValidationError(
        "--depth takes \(Self.depths.lowerBound) to \(Self.depths.upperBound) frames, not \(depth)."
      )
    }
  }
}
