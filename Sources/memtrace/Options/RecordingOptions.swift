import ArgumentParser
import Reports

/// How to record, for `record` and for every report command that is given a command.
struct RecordingOptions: ParsableArguments {
  /// The range of `--depth`; the recorder has room for no more.
  static let depths = 1...1024
  /// The range of `--sample` in bytes.
  static let sampleIntervals: ClosedRange<UInt64> = 1...(1 << 40)

  @Option(
    help: ArgumentHelp("Keep at most this many frames of each stack.", valueName: "frames"))
  var depth = 128

  @Option(
    help: ArgumentHelp(
      "Record a random sample, one in so many bytes (512KiB), with all frees of it: nearly free of "
        + "cost, and reports give estimates with their margins.",
      valueName: "bytes"))
  var sample: String?

  @Option(
    defaultAsFlag: "1",
    help: ArgumentHelp(
      "Record retains and releases of Swift objects, of all types or of those whose names fit one "
        + "of the patterns, with commas between them (Node,'Cache*').",
      valueName: "types"))
  var refcounts: String?

  @Flag(name: .customLong("no-follow"), help: "Record the command only, not its child processes.")
  var noFollow = false

  mutating func validate() throws {
    guard Self.depths.contains(depth) else {
      throw ValidationError(
        "--depth takes \(Self.depths.lowerBound) to \(Self.depths.upperBound) frames, not \(depth)."
      )
    }
    guard sample == nil || sampleInterval != nil else {
      throw ValidationError(
        "--sample takes a number of bytes from 1 to 1TiB, such as 512KiB, not '\(sample ?? "")'.")
    }
  }

  /// The mean number of bytes between two samples; nil when everything is recorded.
  var sampleInterval: UInt64? {
    guard let sample, let range = ByteRange(sample)?.bytes, range.lowerBound == range.upperBound,
      Self.sampleIntervals.contains(range.lowerBound)
    else { return nil }
    return range.lowerBound
  }
}
