import ArgumentParser
import Reports

/// How to record, for `record` and for every report command that is given a command.
struct RecordingOptions: ParsableArguments {
  /// The range of `--depth`; the recorder has room for no more.
  static let depths = 1...1024
  /// The value of `--depth` that is not given.
  static let standardDepth = 128
  /// The value of `--redzones` without one.
  static let standardRedzone = "16"
  /// The range of `--redzones` in bytes.
  static let redzoneByteCounts: ClosedRange<UInt64> = 1...4096
  /// The range of `--sample` and `--zombies` in bytes.
  static let byteCounts: ClosedRange<UInt64> = 1...(1 << 40)
  /// The value of `--zombies` without one.
  static let standardZombies = "64MiB"

  @Option(
    help: ArgumentHelp(
      "Keep at most this many frames of each stack. (default: \(standardDepth))",
      valueName: "frames"))
  var depth: Int?

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

  @Option(
    defaultAsFlag: standardZombies,
    help: ArgumentHelp(
      "Keep freed blocks back, up to so many bytes of them, filled with words that nobody may follow, "
        + "and record uses of them: 'memtrace errors' shows them.",
      valueName: "bytes"))
  var zombies: String?

  @Option(
    defaultAsFlag: standardRedzone,
    help: ArgumentHelp(
      "Put so many bytes behind each block, and record when somebody has written to them: 'memtrace "
        + "errors' shows the blocks.",
      valueName: "bytes"))
  var redzones: String?

  @Flag(name: .customLong("no-follow"), help: "Record the command only, not its child processes.")
  var noFollow = false

  mutating func validate() throws {
    try checkSample()
    try checkRefcounts()
    try checkZombies()
    try checkRedzones()
    guard let depth, !Self.depths.contains(depth) else { return }
    throw ValidationError(
      "--depth takes \(Self.depths.lowerBound) to \(Self.depths.upperBound) frames, not \(depth).")
  }

  private func checkSample() throws {
    guard sample == nil || sampleInterval != nil else {
      throw ValidationError(
        "--sample takes a number of bytes from 1 to 1TiB, such as 512KiB, not '\(sample ?? "")'.")
    }
  }

  private func checkZombies() throws {
    guard zombies == nil || zombieBytes != nil else {
      throw ValidationError(
        "--zombies takes a number of bytes from 1 to 1TiB, such as 64MiB, not '\(zombies ?? "")'.")
    }
    guard zombies == nil || sample == nil else {
      throw ValidationError(
        "--zombies needs all blocks to be recorded; leave --sample out.")
    }
  }

  private func checkRedzones() throws {
    guard redzones == nil || redzoneBytes != nil else {
      throw ValidationError(
        "--redzones takes a number of bytes from 1 to 4096, such as 16, not '\(redzones ?? "")'.")
    }
    guard redzones == nil || sample == nil else {
      throw ValidationError(
        "--redzones needs all blocks to be recorded; leave --sample out.")
    }
  }

  /// With a space between them, the word behind the option is its value: it may be meant for more.
  private func checkRefcounts() throws {
    guard let refcounts, TypePatternText.cannotBe(refcounts) else { return }
    throw ValidationError(
      "--refcounts takes names of types, which '\(refcounts)' is not; for all types put it at the "
        + "end, or write --refcounts='*'.")
  }

  /// The mean number of bytes between two samples; nil when everything is recorded.
  var sampleInterval: UInt64? { sample.flatMap(Self.bytes) }

  /// How many bytes of freed blocks are kept back; nil for none.
  var zombieBytes: UInt64? { zombies.flatMap(Self.bytes) }

  /// How many bytes lie behind each block; nil for none.
  var redzoneBytes: UInt64? { redzones.flatMap { Self.bytes($0, in: Self.redzoneByteCounts) } }

  private static func bytes(_ text: String) -> UInt64? { bytes(text, in: byteCounts) }

  private static func bytes(_ text: String, in counts: ClosedRange<UInt64>) -> UInt64? {
    guard let range = ByteRange(text)?.bytes, range.lowerBound == range.upperBound,
      counts.contains(range.lowerBound)
    else { return nil }
    return range.lowerBound
  }

  /// Refuses what would be without effect on something that is recorded already.
  ///
  /// - Parameter trace: The trace that was given instead of a command.
  /// - Throws: ``CommandFailure`` when there is any option.
  func checkNone(for trace: String) throws(CommandFailure) {
    let given: [(String, Bool)] = [
      ("--depth", depth != nil), ("--sample", sample != nil), ("--refcounts", refcounts != nil),
      ("--zombies", zombies != nil),
      ("--redzones", redzones != nil), ("--no-follow", noFollow),
    ]
    guard let (option, _) = given.first(where: \.1) else { return }
    throw CommandFailure(
      "\(option) is for recording a command; \(trace) is recorded already: leave it out, or "
        + "record the command anew with it",
      exitStatus: ExitStatus.usage)
  }
}
