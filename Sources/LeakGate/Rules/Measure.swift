import Reports

/// What a rule puts a limit on.
public enum Measure: String, Sendable, Hashable, CaseIterable, Codable {
  /// Blocks that nothing can reach, apart from cycles.
  case leaks
  /// Cycles that nothing reaches.
  case cycles
  /// Misuses of the allocator: double, invalid and mismatched frees and their like.
  case memoryErrors = "memory-errors"
  /// Blocks that were not freed at the end.
  case unfreed
  /// The most bytes that were live at one time.
  case peak
  /// How many blocks were allocated.
  case allocations

  /// Whether it is the sum of findings, so that a rule may pick some of them.
  var hasFindings: Bool { self != .peak && self != .allocations }

  /// Whether a limit may be a number of bytes.
  var hasBytes: Bool {
    switch self {
    case .leaks, .unfreed, .peak: true
    case .cycles, .memoryErrors, .allocations: false
    }
  }

  /// Whether findings of a kind count.
  func covers(_ kind: FindingKind) -> Bool {
    switch self {
    case .leaks: kind == .leak
    case .cycles: kind == .cycle
    case .memoryErrors: kind.isMemoryError
    case .unfreed: kind == .unfreed
    case .peak, .allocations: false
    }
  }

  /// `1 cycle`, `3 leaked blocks`.
  func counted(_ count: UInt64) -> String {
    count == 1 && self != .peak ? "1 \(noun.dropLast())" : "\(count) \(noun)"
  }

  /// The noun for a count: `leaked blocks`, `cycles`.
  var noun: String {
    switch self {
    case .leaks: "leaked blocks"
    case .cycles: "cycles"
    case .memoryErrors: "memory errors"
    case .unfreed: "unfreed blocks"
    case .peak: "bytes at the peak"
    case .allocations: "allocations"
    }
  }
}

/// A number of bytes and the most that is allowed, in one style.
struct LimitText {
  let value: String
  let most: String

  /// With all digits where the rounded numbers would be the same.
  init(_ value: UInt64, most: UInt64?, _ style: ByteStyle) {
    let most = most ?? 0
    let hides = value != most && style.format(value) == style.format(most)
    let style = hides ? .exact : style
    (self.value, self.most) = (style.format(value), style.format(most))
  }
}

/// How much there is of something.
public struct Amount: Sendable, Hashable, Codable {
  /// Blocks, cycles or calls; 0 for the peak.
  public var count: UInt64
  /// Bytes; 0 for what is only counted.
  public var bytes: UInt64

  /// Makes an amount.
  public init(count: UInt64 = 0, bytes: UInt64 = 0) {
    self.count = count
    self.bytes = bytes
  }
}
