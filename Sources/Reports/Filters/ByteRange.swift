/// A range of sizes as the user gives it: `1k-8k`, `1024`, `50k+`, `-1024`.
public struct ByteRange: Sendable, Hashable {
  /// The sizes, both ends included.
  public let bytes: ClosedRange<UInt64>

  /// The forms that are understood, for messages.
  public static let forms = "1k-8k, 1024, 50k+ or -1024"

  /// Reads a range; nil when the text is not one or the lower end is above the upper.
  public init?(_ text: String) {
    if text.hasSuffix("+") {
      guard let low = Self.size(text.dropLast()) else { return nil }
      bytes = low...UInt64.max
      return
    }
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    switch ends.count {
    case 1:
      guard let size = Self.size(ends[0]) else { return nil }
      bytes = size...size
    case 2:
      guard let low = ends[0].isEmpty ? 0 : Self.size(ends[0]),
        let high = ends[1].isEmpty && !ends[0].isEmpty ? UInt64.max : Self.size(ends[1]),
        low <= high
      else { return nil }
      bytes = low...high
    default: return nil
    }
  }

  /// A size with an optional unit: `8k`, `1.5m`, `2GiB`; all units are powers of 1024.
  private static func size(_ text: Substring) -> UInt64? {
    var rest = text.lowercased()
    if rest.hasSuffix("ib") { rest.removeLast(2) } else if rest.hasSuffix("b") { rest.removeLast() }
    var scale: UInt64 = 1
    for (unit, shift) in [("k", UInt64(10)), ("m", 20), ("g", 30), ("t", 40), ("p", 50)]
    where rest.hasSuffix(unit) {
      rest.removeLast()
      scale = 1 << shift
      break
    }
    if scale == 1 && rest.contains(".") { return nil }
    return DecimalText.parse(rest[...], scale: scale)
  }
}
