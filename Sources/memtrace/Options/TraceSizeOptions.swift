import ArgumentParser

/// How large traces may become.
struct TraceSizeOptions: ParsableArguments {
  /// The range of both options in bytes.
  static let sizes: ClosedRange<UInt64> = 0...(1 << 50)

  @Option(
    help: ArgumentHelp(
      "Stop recording a process before its trace has more bytes (2GiB).", valueName: "bytes"))
  var maxSize: String?

  @Option(
    help: ArgumentHelp(
      "Stop recording before the disk of the trace has fewer bytes free, or a sixteenth of the disk, "
        + "if that is less. (default: 64MiB)",
      valueName: "bytes"))
  var keepFree: String?

  mutating func validate() throws {
    for (option, value) in values
    where value != nil && ByteCount.parse(value, in: Self.sizes) == nil {
      throw ValidationError(
        "\(option) takes a number of bytes up to 1PiB, such as 64MiB, not '\(value ?? "")'.")
    }
  }

  /// The options that were given, by name.
  var given: [String] { values.filter { $0.value != nil }.map(\.option) }

  /// The recorder's variables; nil for those that are to be without a value.
  var variables: [(name: String, value: String?)] {
    [
      ("MEMTRACE_MAX_SIZE", ByteCount.parse(maxSize, in: Self.sizes).map { String($0) }),
      ("MEMTRACE_KEEP_FREE", ByteCount.parse(keepFree, in: Self.sizes).map { String($0) }),
    ]
  }

  private var values: [(option: String, value: String?)] {
    [("--max-size", maxSize), ("--keep-free", keepFree)]
  }
}
