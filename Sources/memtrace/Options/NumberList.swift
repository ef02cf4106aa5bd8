import Reports

/// Numbers and ranges of them with commas between, as the recorder reads them.
enum NumberList {
  /// As many as the recorder has room for.
  private static let most = 16

  /// `24,100-200,4096-`, with all units multiplied out; nil for anything else.
  static func canonical(_ text: String) -> String? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let ranges = parts.compactMap { ByteRange(String($0))?.bytes }
    guard ranges.count == parts.count, parts.count <= most else { return nil }
    return ranges.map(text(of:)).joined(separator: ",")
  }

  private static func text(of range: ClosedRange<UInt64>) -> String {
    if range.upperBound == .max { return "\(range.lowerBound)-" }
    let isOne = range.lowerBound == range.upperBound
    return isOne ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
  }
}
