import Reports

extension GateRule {
  /// The forms that are understood, for messages.
  public static let forms =
    "leaks<=0, leaks[category=Node*]<=10KiB, unfreed<=+100, peak<=64MiB or peak<=+5%"

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - text: The rule as it was written.
  ///   - separator: What stands between the measure and the limit.
  /// - Throws: ``GateError`` saying what is wrong with it.
  public init(_ text: String, sign separator: String = "<=") throws(GateError) {
    // Behind the scope, in which functions may be called `operator<=`.
    let scopeEnd = text.lastIndex(of: "]") ?? text.startIndex
    guard let sign = text[scopeEnd...].firstRange(of: separator) else {
      throw GateError("'\(text)' is no rule: a rule looks like \(Self.forms)")
    }
    var left = text[..<sign.lowerBound].trimmed
    var scope = RuleScope()
    if let bracket = left.firstIndex(of: "[") {
      guard left.hasSuffix("]") else {
        throw GateError("'\(text)': the [ has no ] before \(separator)")
      }
      scope = try RuleScope(left[left.index(after: bracket)...].dropLast(), of: text)
      left = left[..<bracket].trimmed
    }
    let measure = try Measure(named: left, in: text)
    let limit = try Limit(text[sign.upperBound...].trimmed, for: measure, in: text)
    self.init(measure, scope: scope, limit: limit)
    try checkScope(in: text)
  }

  /// Refuses a scope that the rule cannot be judged by.
  ///
  /// - Parameter text: The rule as it was written, for messages.
  /// - Throws: ``GateError`` saying why.
  func checkScope(in text: String) throws(GateError) {
    guard !scope.isEmpty else { return }
    guard measure.hasFindings else {
      throw GateError("'\(text)': \(measure.rawValue) is a figure of the whole process")
    }
    guard !limit.isRelative else {
      throw GateError(
        "'\(text)': the baseline has figures of the whole process only, so that a rule with a scope "
          + "cannot be relative to it: leave the + or the scope out")
    }
  }
}

extension Measure {
  init(named name: some StringProtocol, in text: String) throws(GateError) {
    guard let measure = Measure(rawValue: String(name)) else {
      let names = Measure.allCases.map(\.rawValue).joined(separator: ", ")
      throw GateError("'\(text)': there is no measure '\(name)'; the measures are \(names)")
    }
    self = measure
  }
}

extension RuleScope {
  fileprivate init(_ parts: Substring, of text: String) throws(GateError) {
    self.init()
    for part in parts.split(separator: ",") {
      guard let sign = part.firstIndex(of: "=") else {
        throw GateError("'\(text)': '\(part)' is not KEY=PATTERN")
      }
      let value = String(part[part.index(after: sign)...].trimmed)
      try set(String(part[..<sign].trimmed), to: value, in: text)
    }
  }

  mutating func set(_ key: String, to value: String, in text: String) throws(GateError) {
    // It would hold nothing, and so allow everything.
    guard !value.isEmpty else { throw GateError("'\(text)': '\(key)=' has no pattern") }
    switch key {
    case "category", "type":
      // Likewise.
      guard !value.hasPrefix("Malloc-"), !value.hasPrefix("Pool-") else {
        throw GateError(
          "'\(text)': findings have no sizes; where no type is known their category is the call,"
            + " such as 'malloc in parse': [category=malloc*] or [function=parse]")
      }
      category = value
    case "function": function = value
    case "image": image = value
    default:
      throw GateError("'\(text)': there is no '\(key)'; it is category, function or image")
    }
  }
}

extension Limit {
  /// Reads `3`, `10KiB`, `+3`, `+10KiB` or `+5%`.
  init(_ limit: Substring, for measure: Measure, in text: String) throws(GateError) {
    let isRelative = limit.hasPrefix("+")
    let number = isRelative ? limit.dropFirst() : limit
    if number.hasSuffix("%") {
      guard isRelative, let hundredths = Self.hundredths(number.dropLast()) else {
        throw GateError("'\(text)': '\(limit)' is no share; it looks like +5% or +0.5%")
      }
      self = .morePercent(hundredths)
    } else if !measure.isBytesOnly, let count = UInt64(number) {
      self = isRelative ? .moreCount(count) : .count(count)
    } else {
      let bytes = ByteRange(number.filter { $0 != " " })?.bytes
      guard let bytes, bytes.lowerBound == bytes.upperBound else {
        throw GateError("'\(text)': '\(limit)' is no limit; it looks like 3, 10KiB, +3 or +5%")
      }
      guard measure.hasBytes else {
        throw GateError(
          "'\(text)': \(measure.rawValue) are counted, '\(limit)' is a number of bytes; a limit for "
            + "them looks like 3, +3 or +5%")
      }
      self = isRelative ? .moreBytes(bytes.lowerBound) : .bytes(bytes.lowerBound)
    }
  }

  /// A percentage with at most two decimals.
  private static func hundredths(_ text: Substring) -> UInt64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = parts.first.flatMap({ UInt64($0) }), whole < 1_000_000 else { return nil }
    guard parts.count <= 2 else { return nil }
    guard parts.count == 2 else { return whole * 100 }
    guard (1...2).contains(parts[1].count), let rest = UInt64(parts[1]) else { return nil }
    return whole * 100 + (parts[1].count == 1 ? rest * 10 : rest)
  }
}

extension StringProtocol {
  /// Without spaces at both ends.
  var trimmed: SubSequence {
    var rest = self[...]
    while let first = rest.first, first.isWhitespace { rest = rest.dropFirst() }
    while let last = rest.last, last.isWhitespace { rest = rest.dropLast() }
    return rest
  }
}
