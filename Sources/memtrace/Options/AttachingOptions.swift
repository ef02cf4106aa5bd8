import ArgumentParser
import Reports

/// How to record a process that is running already: what of ``RecordingOptions`` can begin late.
struct AttachingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Keep at most this many frames of each stack. (default: \(RecordedEventsOptions.standardDepth))",
      valueName: "frames"))
  var depth: Int?

  @Option(
    help: ArgumentHelp(
      "Record a random sample, one in so many bytes (512KiB), with all frees of it; without a heap "
        + "snapshot.",
      valueName: "bytes"))
  var sample: String?

  @Flag(
    help: """
      Record calls that map memory and unmap it as well: mmap, munmap, mremap, mprotect, brk, sbrk.
      """)
  var mappings = false

  @Flag(
    name: .customLong("no-follow"), help: "Do not record the children that the process forks.")
  var noFollow = false

  @OptionGroup var size: TraceSizeOptions

  mutating func validate() throws {
    try RecordedEventsOptions.check(sample: sample)
    try RecordedEventsOptions.check(depth: depth)
  }

  /// The mean number of bytes between two samples; nil when everything is recorded.
  var sampleInterval: UInt64? { RecordedEventsOptions.sampleInterval(sample) }
}
