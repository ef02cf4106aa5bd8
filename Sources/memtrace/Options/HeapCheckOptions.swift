import ArgumentParser

/// What the recorder looks for in the heap while the command runs.
struct HeapCheckOptions: ParsableArguments {
  /// The value of `--zombies` without one.
  static let standardZombies = "64MiB"
  /// The range of `--zombies` in bytes.
  static let zombieByteCounts: ClosedRange<UInt64> = 1...(1 << 40)
  /// The value of `--redzones` without one.
  static let standardRedzone = "16"
  /// The range of `--redzones` in bytes.
  static let redzoneByteCounts: ClosedRange<UInt64> = 1...4096
  /// The value of `--guard` without one.
  static let allSizes = "all"
  /// The range of `--guard-every`.
  static let guardIntervals = 1...(1 << 30)
  /// The values of `--guard-alignment`; the last one is that of `malloc`.
  static let guardAlignments = [1, 2, 4, 8, 16]

  @Option(
    defaultAsFlag: standardZombies, parsing: .next,
    help: ArgumentHelp(
      "Keep freed blocks back, up to so many bytes of them, filled with words that nobody may follow, "
        + "and record uses of them: 'memtrace errors' shows them.",
      valueName: "bytes"))
  var zombies: String?

  @Option(
    defaultAsFlag: standardRedzone, parsing: .next,
    help: ArgumentHelp(
      "Put so many bytes behind each block, and record when somebody has written to them: 'memtrace "
        + "errors' shows the blocks.",
      valueName: "bytes"))
  var redzones: String?

  @Option(
    name: .customLong("guard"), defaultAsFlag: allSizes, parsing: .next,
    help: ArgumentHelp(
      "Put blocks, all or those of these sizes (24,100-200), into pages of their own, as long as there "
        + "is room, and stop whoever reads or writes beside them, or after they are freed: 'memtrace "
        + "errors' shows who it was.",
      valueName: "sizes"))
  var guardedSizes: String?

  @Option(
    help: ArgumentHelp("Of these blocks, guard one in so many, at random.", valueName: "number"))
  var guardEvery: Int?

  @Option(
    help: ArgumentHelp(
      "Guarded blocks begin at multiples of this (1, 2, 4, 8; as those of malloc: 16), and end as far "
        + "from their guards at most: the less, the sooner shows a byte too many. (default: 16)",
      valueName: "bytes"))
  var guardAlignment: Int?

  @Flag(
    help: ArgumentHelp(
      "Guarded blocks begin at their guard, which stops whoever goes in front of one; who goes too far is "
        + "stopped by the end of the page only."))
  var guardFront = false

  mutating func validate() throws {
    guard zombies == nil || zombieBytes != nil else {
      throw ValidationError(
        "--zombies takes a number of bytes from 1 to 1TiB, such as 64MiB, not '\(zombies ?? "")'.")
    }
    guard redzones == nil || redzoneBytes != nil else {
      throw ValidationError(
        "--redzones takes a number of bytes from 1 to 4096, such as 16, not '\(redzones ?? "")'.")
    }
    try checkGuard()
  }

  private func checkGuard() throws {
    guard guardedSizes == nil || guardedRanges != nil else {
      throw ValidationError(
        "--guard takes up to 16 sizes and ranges of them, such as 24,100-200, or all, not "
          + "'\(guardedSizes ?? "")'.")
    }
    let details = [
      ("--guard-every", guardEvery != nil), ("--guard-alignment", guardAlignment != nil),
      ("--guard-front", guardFront),
    ]
    if guardedSizes == nil, let (option, _) = details.first(where: \.1) {
      throw ValidationError("\(option) goes with --guard, which says what blocks are meant.")
    }
    if let guardEvery, !Self.guardIntervals.contains(guardEvery) {
      throw ValidationError(
        "--guard-every takes a number from 1 to \(Self.guardIntervals.upperBound), not \(guardEvery)."
      )
    }
    if let guardAlignment, !Self.guardAlignments.contains(guardAlignment) {
      throw ValidationError("--guard-alignment takes 1, 2, 4, 8 or 16, not \(guardAlignment).")
    }
  }

  /// The options that were given, by name.
  var given: [String] {
    [
      ("--zombies", zombies != nil), ("--redzones", redzones != nil),
      ("--guard", guardedSizes != nil),
    ].filter(\.1).map(\.0)
  }

  /// The recorder's variables; nil for those that are to be without a value.
  var variables: [(name: String, value: String?)] {
    [
      ("MEMTRACE_ZOMBIES", zombieBytes.map { String($0) }),
      ("MEMTRACE_REDZONES", redzoneBytes.map { String($0) }),
      ("MEMTRACE_GUARD", guardedRanges), ("MEMTRACE_GUARD_EVERY", guardEvery.map { String($0) }),
      ("MEMTRACE_GUARD_ALIGNMENT", guardAlignment.map { String($0) }),
      ("MEMTRACE_GUARD_FRONT", guardFront ? "1" : nil),
    ]
  }

  private var zombieBytes: UInt64? {
    ByteCount.parse(zombies, in: Self.zombieByteCounts)
  }

  private var redzoneBytes: UInt64? {
    ByteCount.parse(redzones, in: Self.redzoneByteCounts)
  }

  /// The sizes as the recorder reads them; nil where that makes no sense.
  private var guardedRanges: String? {
    guard let guardedSizes, guardedSizes != Self.allSizes else { return guardedSizes }
    // Alone, 0 would mean no blocks.
    return NumberList.canonical(guardedSizes).map { $0 == "0" ? "0-0" : $0 }
  }
}
