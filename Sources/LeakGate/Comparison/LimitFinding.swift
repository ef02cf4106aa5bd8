import Reports
import TraceReader

/// How a figure of the head stands to the most that a limit allows.
///
/// Figures of samples may be off: a limit is exceeded only by more than chance explains, so that a gate does not
/// fail where nothing has changed.
public struct LimitFinding: Sendable, Hashable, Encodable {
  /// What can be said.
  enum Verdict: Sendable {
    case kept, exceeded
    /// The figure lies no further from the limit than samples may be off.
    case undecided
  }

  /// The limit as it was given.
  public var rule: String
  /// Whether the numbers are of bytes.
  public var isBytes: Bool
  /// The figure.
  public var value: UInt64
  /// The most that is allowed.
  public var most: UInt64
  /// How far the difference of the two may be off, at 95 % confidence; nil when both are exact.
  public var margin: UInt64?

  /// Compares the medians of two sides; what was not measured counts as 0.
  ///
  /// - Parameters:
  ///   - rule: The limit.
  ///   - base: The runs before.
  ///   - head: The runs after.
  init(_ rule: GateRule, _ base: [RunProfile], _ head: [RunProfile]) {
    let isBytes = rule.limit.isAboutBytes(rule.measure)
    let median = { (side: [RunProfile]) in
      ComparisonReport.Figure(
        side.map { profile in
          profile.measures[rule.measure].map { isBytes ? $0.bytes : $0.count } ?? 0
        }
      ).median
    }
    self.isBytes = isBytes
    self.rule = rule.measure.rawValue + ">" + rule.limit.text
    value = median(head)
    most = rule.limit.most(above: median(base))
    let variance = AmountVariance.difference(base, head, scale: rule.limit.growth) {
      $0.measureVariances[rule.measure]
    }
    let exact = TallyVariance.margin(isBytes ? variance.bytes : variance.count)
    let whole = UInt64(exactly: min(exact, 0x1p63).rounded(.down)) ?? 0
    margin = whole > 0 ? whole : nil
  }

  var verdict: Verdict {
    let margin = margin ?? 0
    if value > most { return value - most > margin ? .exceeded : .undecided }
    return margin > 0 && most - value <= margin ? .undecided : .kept
  }

  /// All numbers in one sentence.
  func text(_ style: ByteStyle) -> String {
    guard isBytes else {
      return "\(value), at most \(most) allowed" + (margin.map { " (±\($0))" } ?? "")
    }
    let text = LimitText(value, most: most, style)
    return "\(text.value), at most \(text.most) allowed"
      + (margin.map { " (±\(style.format($0)))" } ?? "")
  }
}

extension Limit {
  /// How much more is allowed for each that the baseline has more; 0 where that does not matter.
  fileprivate var growth: Double {
    switch self {
    case .count, .bytes: 0
    case .moreCount, .moreBytes: 1
    case .morePercent(let hundredths): 1 + Double(hundredths) / 10_000
    }
  }
}
