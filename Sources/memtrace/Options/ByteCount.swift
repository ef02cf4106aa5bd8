import Reports

/// The value of an option that takes a number of bytes, such as `64MiB`.
enum ByteCount {
  /// Reads a value.
  ///
  /// - Parameters:
  ///   - text: The value; nil where the option was not given.
  ///   - counts: The numbers that the option takes.
  /// - Returns: The bytes; nil for no value, a range, or a number that is none of these.
  static func parse(_ text: String?, in counts: ClosedRange<UInt64>) -> UInt64? {
    guard let text, let range = ByteRange(text)?.bytes, range.lowerBound == range.upperBound,
      counts.contains(range.lowerBound)
    else { return nil }
    return range.lowerBound
  }
}
