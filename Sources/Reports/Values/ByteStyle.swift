/// How a number of bytes is written.
public enum ByteStyle: Sendable, Hashable {
  /// In the unit that suits, as Instruments does: `48 B`, `1.25 KiB`, `256.0 KiB`.
  case human
  /// All digits, in groups of three: `55,445,520`.
  case exact

  /// Writes a number of bytes.
  public func format(_ bytes: UInt64) -> String {
    switch self {
    case .exact: return bytes.grouped
    case .human: return Self.humanText(bytes)
    }
  }

  /// Writes a number of bytes in a sentence, where nothing else says what it counts: `3,188 B`.
  ///
  /// - Parameter bytes: The number.
  /// - Returns: Always with a unit.
  public func withUnit(_ bytes: UInt64) -> String {
    self == .exact ? "\(bytes.grouped) B" : format(bytes)
  }

  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  private static func humanText(_ bytes: UInt64) -> String {
    if bytes < 1024 { return "\(bytes) B" }
    var index = 0
    while index + 1 < units.count && bytes >> (10 * UInt64(index + 2)) > 0 { index += 1 }
    let text = scaled(bytes, index)
    // 1023.999 KiB would be rounded to 1024.0 KiB, which nobody expects.
    if text.hasPrefix("1024.") && index + 1 < units.count { return scaled(bytes, index + 1) }
    return text
  }

  /// Two decimals below one hundred, one above; integer arithmetic, rounded to nearest.
  private static func scaled(_ bytes: UInt64, _ index: Int) -> String {
    let unit: UInt64 = 1 << (10 * UInt64(index + 1))
    // Dropping ten bits keeps the product below 2^64 for exbibytes too.
    let drop: UInt64 = index >= 5 ? 10 : 0
    let digits: UInt64 = bytes / unit >= 100 ? 10 : 100
    let rest = ((bytes % unit) >> drop) * digits
    let divisor = unit >> drop
    var whole = bytes / unit
    var fraction = (rest + divisor / 2) / divisor
    if fraction == digits {
      whole += 1
      fraction = 0
    }
    if digits == 100 && whole == 100 { return "100.0 \(units[index])" }
    let decimals = String(fraction).leftPadded(to: digits == 100 ? 2 : 1, with: "0")
    return "\(whole).\(decimals) \(units[index])"
  }
}

extension BinaryInteger {
  /// All digits in groups of three: `1,420,543`.
  package var grouped: String {
    let digits = String(magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return self < 0 ? "-" + result : result
  }
}
