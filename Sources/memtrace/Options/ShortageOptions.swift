import ArgumentParser

/// A shortage of memory for the command, simulated.
struct ShortageOptions: ParsableArguments {
  /// The range of `--limit` in bytes.
  static let limits: ClosedRange<UInt64> = 1...(1 << 50)

  @Option(
    help: ArgumentHelp(
      "Let these allocations of each process fail, counted from 1 (5,100-200,1000+), to see what the "
        + "command does then.",
      valueName: "numbers"))
  var failAt: String?

  @Option(
    help: ArgumentHelp(
      "Let allocations fail that would make more bytes of live blocks in a process (64MiB).",
      valueName: "bytes"))
  var limit: String?

  mutating func validate() throws {
    guard failAt == nil || numbers != nil else {
      throw ValidationError(
        "--fail-at takes up to 16 numbers from 1 and ranges of them, such as 5,100-200,1000+, not "
          + "'\(failAt ?? "")'.")
    }
    guard limit == nil || limitBytes != nil else {
      throw ValidationError(
        "--limit takes a number of bytes from 1 to 1PiB, such as 64MiB, not '\(limit ?? "")'.")
    }
  }

  /// The options that were given, by name.
  var given: [String] {
    [("--fail-at", failAt != nil), ("--limit", limit != nil)].filter(\.1).map(\.0)
  }

  /// The recorder's variables; nil for those that are to be without a value.
  var variables: [(name: String, value: String?)] {
    [("MEMTRACE_FAIL_AT", numbers), ("MEMTRACE_LIMIT", limitBytes.map { String($0) })]
  }

  /// No allocation has the number 0; up to 5 (`-5`) means from 1 on.
  private var numbers: String? {
    guard let failAt, let numbers = NumberList.canonical(failAt) else { return nil }
    let beginsWithNone = zip(failAt.split(separator: ","), numbers.split(separator: ",")).contains {
      !$0.hasPrefix("-") && ($1 == "0" || $1.hasPrefix("0-"))
    }
    return beginsWithNone ? nil : numbers
  }

  private var limitBytes: UInt64? { ByteCount.parse(limit, in: Self.limits) }
}
