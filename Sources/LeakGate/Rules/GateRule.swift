import Reports

/// A limit that each checked process must keep.
public struct GateRule: Sendable, Hashable {
  /// What has a limit.
  public var measure: Measure
  /// Which findings count; all when it is empty.
  public var scope = RuleScope()
  /// At most so much.
  public var limit: Limit

  /// Makes a rule.
  public init(_ measure: Measure, scope: RuleScope = RuleScope(), limit: Limit) {
    self.measure = measure
    self.scope = scope
    self.limit = limit
  }

  /// What is checked when nothing else is said: no leak, no cycle, no memory error.
  public static let defaults = [
    GateRule(.leaks, limit: .count(0)), GateRule(.cycles, limit: .count(0)),
    GateRule(.memoryErrors, limit: .count(0)),
  ]

  /// The rules to check: those given, and the defaults for what they do not speak of.
  ///
  /// A rule with a scope takes nothing away from the default: what it does not cover still counts.
  public static func rules(_ given: [GateRule], withDefaults: Bool = true) -> [GateRule] {
    let spokenOf = Set(given.filter { $0.scope.isEmpty }.map(\.measure))
    return given + (withDefaults ? defaults.filter { !spokenOf.contains($0.measure) } : [])
  }

  /// As it is written: `leaks[category=Node*]<=10KiB`.
  public var text: String { measure.rawValue + scope.text + "<=" + limit.text }
}

/// The most that a rule allows.
public enum Limit: Sendable, Hashable {
  /// So many blocks, cycles or calls.
  case count(UInt64)
  /// So many bytes.
  case bytes(UInt64)
  /// So many more than in the baseline.
  case moreCount(UInt64)
  /// So many bytes more than in the baseline.
  case moreBytes(UInt64)
  /// So many hundredths of a percent more than in the baseline.
  case morePercent(UInt64)

  /// Whether it is about bytes.
  func isAboutBytes(_ measure: Measure) -> Bool {
    switch self {
    case .bytes, .moreBytes: true
    case .count, .moreCount: measure.isBytesOnly
    case .morePercent: measure.isMainlyBytes
    }
  }

  /// Whether the figures of a baseline are needed.
  var isRelative: Bool {
    switch self {
    case .count, .bytes: false
    case .moreCount, .moreBytes, .morePercent: true
    }
  }

  /// The number that is the most allowed.
  ///
  /// - Parameter base: What the baseline has.
  /// - Returns: What is still allowed.
  func most(above base: UInt64) -> UInt64 {
    switch self {
    case .count(let limit), .bytes(let limit): return limit
    case .moreCount(let more), .moreBytes(let more):
      let sum = base.addingReportingOverflow(more)
      return sum.overflow ? .max : sum.partialValue
    case .morePercent(let hundredths):
      let wide = base.multipliedFullWidth(by: hundredths)
      guard wide.high < 10_000 else { return .max }
      let more = UInt64(10_000).dividingFullWidth((wide.high, wide.low)).quotient
      let sum = base.addingReportingOverflow(more)
      return sum.overflow ? .max : sum.partialValue
    }
  }

  /// As it is written: `3`, `10KiB`, `+5%`.
  var text: String {
    switch self {
    case .count(let count): "\(count)"
    case .bytes(let bytes): ByteText.exact(bytes)
    case .moreCount(let count): "+\(count)"
    case .moreBytes(let bytes): "+\(ByteText.exact(bytes))"
    case .morePercent(let hundredths): "+\(PercentText.of(hundredths))%"
    }
  }
}

/// Which findings a rule counts, by names in which `*` and `?` stand for other text.
public struct RuleScope: Sendable, Hashable {
  /// The type of the blocks.
  public var category: String?
  /// The responsible function.
  public var function: String?
  /// The image of the responsible function.
  public var image: String?

  /// Makes a scope that holds everything.
  public init() {}

  /// Whether it holds everything.
  public var isEmpty: Bool { category == nil && function == nil && image == nil }

  /// Whether a finding counts.
  func holds(_ finding: Finding) -> Bool {
    if let category, !Glob.matches(finding.what, category) { return false }
    if let function, !Glob.matches(function: finding.responsible?.name ?? "", function) {
      return false
    }
    if let image, !Glob.matches(finding.responsible?.imageName ?? "", image) { return false }
    return true
  }

  /// As it is written: `[category=Node*,image=app]`; empty for everything.
  var text: String {
    let parts = [("category", category), ("function", function), ("image", image)]
    let given = parts.compactMap { name, value in value.map { "\(name)=\($0)" } }
    return given.isEmpty ? "" : "[\(given.joined(separator: ","))]"
  }
}

/// Numbers of bytes that can be read back.
enum ByteText {
  /// In the largest unit that leaves no rest: `10KiB`, `1000B`.
  static func exact(_ bytes: UInt64) -> String {
    for (unit, shift) in [("GiB", UInt64(30)), ("MiB", 20), ("KiB", 10)]
    where bytes >> shift > 0 && bytes & ((1 << shift) - 1) == 0 {
      return "\(bytes >> shift)\(unit)"
    }
    return "\(bytes)B"
  }
}

/// Hundredths of a percent as text.
enum PercentText {
  static func of(_ hundredths: UInt64) -> String {
    if hundredths % 100 == 0 { return "\(hundredths / 100)" }
    let rest = hundredths % 100
    return rest % 10 == 0
      ? "\(hundredths / 100).\(rest / 10)" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
