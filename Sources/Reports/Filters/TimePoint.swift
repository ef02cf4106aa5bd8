/// A point in time as the user gives it: `1.5s`, `200ms`, `00:01.500`, `40%`.
public enum TimePoint: Sendable, Hashable {
  /// Nanoseconds since the recording began.
  case nanoseconds(UInt64)
  /// A part of the whole recording, in millionths.
  case millionths(UInt64)
  /// The moment of the mark with this name; of several, the last.
  case mark(String)

  /// The forms that are understood, for messages.
  public static let forms = times + " or a mark"

  private static let times = "1.5s, 200ms, 300us, 2m, 00:01.500, 40%"

  /// Reads a point in time, or takes the text for the name of a mark.
  public init(orMark text: String) {
    self = TimePoint(text) ?? .mark(text)
  }

  /// Reads a point in time; nil when the text is not one.
  public init?(_ text: String) {
    if let colon = text.firstIndex(of: ":") {
      let seconds = text[text.index(after: colon)...]
      guard let minutes = DecimalText.parse(text[..<colon], scale: 1),
        let nanos = Self.clockSeconds(seconds)
      else { return nil }
      let (whole, overflow) = minutes.multipliedReportingOverflow(by: 60_000_000_000)
      let (sum, carry) = whole.addingReportingOverflow(nanos)
      guard !overflow, !carry else { return nil }
      self = .nanoseconds(sum)
      return
    }
    for (unit, scale) in Self.units where text.hasSuffix(unit) {
      var digits = text.dropLast(unit.count)
      // As reports print it: `754.3 µs`.
      if digits.last == " " { digits.removeLast() }
      guard let value = DecimalText.parse(digits, scale: scale) else { return nil }
      if unit == "%" {
        guard value <= 1_000_000 else { return nil }
        self = .millionths(value)
      } else {
        self = .nanoseconds(value)
      }
      return
    }
    // A bare number is seconds.
    guard let value = DecimalText.parse(text[...], scale: 1_000_000_000) else { return nil }
    self = .nanoseconds(value)
  }

  /// One line for what is neither a time nor a mark of the trace.
  ///
  /// - Parameters:
  ///   - text: What was asked for.
  ///   - marks: The names of all marks.
  /// - Returns: The line; of what begins as a time does, with the forms of one.
  static func message(notFound text: String, marks: [String]) -> String {
    let message = NearMatches.message("mark", text, in: marks)
    let isLikeTime = text.unicodeScalars.first.map { "0"..."9" ~= $0 || $0 == "." } ?? false
    return isLikeTime ? message + "; a time looks like one of \(times)" : message
  }

  /// Nanoseconds since the recording began, in a recording of the given length; nil for a mark.
  public func nanoseconds(ofRecording length: UInt64) -> UInt64? {
    switch self {
    case .mark: return nil
    case .nanoseconds(let value): return value
    case .millionths(let value):
      let product = length.multipliedFullWidth(by: min(value, 1_000_000))
      return UInt64(1_000_000).dividingFullWidth(product).quotient
    }
  }

  /// Longer names first: `ms` also ends in `s`.
  private static let units: [(String, UInt64)] = [
    ("ns", 1), ("us", 1000), ("µs", 1000), ("ms", 1_000_000), ("min", 60_000_000_000),
    ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000), ("%", 10_000),
  ]

  /// The part after the colon: `01.500`, and as tables print it `01.500.250`.
  private static func clockSeconds(_ text: Substring) -> UInt64? {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    if parts.count == 3, parts[1].count == 3 {
      parts[1] += parts.removeLast()
    }
    let seconds = parts.joined(separator: ".")
    guard parts.count <= 2,
      let value = DecimalText.parse(seconds[...], scale: 1_000_000_000),
      value < 60_000_000_000
    else { return nil }
    return value
  }
}

/// Decimal numbers without floating point, so that `0.1s` is exactly 100 000 000 ns.
enum DecimalText {
  /// `text` (digits with at most one dot) times `scale`, cut to a whole number.
  static func parse(_ text: Substring, scale: UInt64) -> UInt64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts[0].utf8.count + (parts.last?.utf8.count ?? 0) > 0,
      parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    guard let whole = parts[0].isEmpty ? 0 : UInt64(parts[0]) else { return nil }
    let (scaled, overflow) = whole.multipliedReportingOverflow(by: scale)
    guard !overflow else { return nil }
    guard parts.count == 2 else { return parts[0].isEmpty ? nil : scaled }
    if parts[0].isEmpty && parts[1].isEmpty { return nil }
    // Nine decimals are a nanosecond of a second; what is beyond them is cut.
    var digits: UInt64 = 0
    var power: UInt64 = 1
    for byte in parts[1].utf8.prefix(9) {
      digits = digits * 10 + UInt64(byte - 0x30)
      power *= 10
    }
    // `digits` is below `power`, so the quotient is below `scale`.
    let fraction = power.dividingFullWidth(digits.multipliedFullWidth(by: scale)).quotient
    let (sum, carry) = scaled.addingReportingOverflow(fraction)
    return carry ? nil : sum
  }
}
