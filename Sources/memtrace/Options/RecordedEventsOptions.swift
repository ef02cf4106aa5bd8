import ArgumentParser

/// Which events of which processes are recorded, and how much of their stacks.
struct RecordedEventsOptions: ParsableArguments {
  /// The range of `--depth`; the recorder has room for no more.
  static let depths = 1...1024
  /// The value of `--depth` that is not given.
  static let standardDepth = 128
  /// The range of `--sample` in bytes.
  static let sampleIntervals: ClosedRange<UInt64> = 1...(1 << 40)

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

  @Flag(
    help: """
      Record allocations only after 'memtrace resume PID', until 'memtrace pause PID'; or between \
      MEMTRACE_RESUME and MEMTRACE_PAUSE of the program (memtrace.h).
      """)
  var paused = false

  @Option(
    defaultAsFlag: "1", parsing: .next,
    help: ArgumentHelp(
      "Record retains and releases of Swift objects, of all types or of those whose names fit one "
        + "of the patterns, with commas between them (Node,'Cache*').",
      valueName: "types"))
  var refcounts: String?

  @Flag(
    help: """
      Record the allocator that is linked into the command (jemalloc, tcmalloc, mimalloc, its own \
      malloc), which nothing preloaded can see: its calls are led to the recorder, in the memory of \
      the process.
      """)
  var bundledAllocator = false

  @Flag(
    help: """
      Record calls that map memory and unmap it as well: mmap, munmap, mremap, mprotect, brk, sbrk.
      """)
  var mappings = false

  @Flag(name: .customLong("no-follow"), help: "Record the command only, not its child processes.")
  var noFollow = false

  mutating func validate() throws {
    try Self.check(sample: sample)
    try checkRefcounts()
    try Self.check(depth: depth)
  }

  /// Refuses a value of `--depth` out of range.
  ///
  /// - Throws: `ValidationError`.
  static func check(depth: Int?) throws {
    guard let depth, !depths.contains(depth) else { return }
    throw ValidationError(
      "--depth takes \(depths.lowerBound) to \(depths.upperBound) frames, not \(depth).")
  }

  /// Refuses a value of `--sample` that is no number of bytes.
  ///
  /// - Throws: `ValidationError`.
  static func check(sample: String?) throws {
    guard let sample, sampleInterval(sample) == nil else { return }
    throw ValidationError(
      "--sample takes a number of bytes from 1 to 1TiB, such as 512KiB, not '\(sample)'.")
  }

  /// With a space between them, the word behind the option is its value: it may be meant for more.
  private func checkRefcounts() throws {
    guard let refcounts, TypePatternText.cannotBe(refcounts) else { return }
    throw ValidationError(
      "--refcounts takes names of types, which '\(refcounts)' is not; for all types put it at the "
        + "end, or write --refcounts='*'.")
  }

  /// The mean number of bytes between two samples; nil when everything is recorded.
  var sampleInterval: UInt64? { Self.sampleInterval(sample) }

  /// What a value of `--sample` stands for; nil for none, and for one that is no number of bytes.
  static func sampleInterval(_ sample: String?) -> UInt64? {
    ByteCount.parse(sample, in: sampleIntervals)
  }

  /// The options that were given, by name.
  var given: [String] {
    [
      ("--depth", depth != nil), ("--sample", sample != nil), ("--paused", paused),
      ("--refcounts", refcounts != nil), ("--bundled-allocator", bundledAllocator),
      ("--mappings", mappings), ("--no-follow", noFollow),
    ].filter(\.1).map(\.0)
  }
}
