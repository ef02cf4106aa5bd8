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
  /// Memory that the program mapped itself, and that is there at the end.
  case mapped
  /// The most bytes of such memory at one time.
  case mappedPeak = "mapped-peak"

  /// Those that are known only where mapped memory was recorded.
  public static let ofMappings: Set<Measure> = [.mapped, .mappedPeak]

  /// Whether it is the sum of findings, so that a rule may pick some of them.
  var hasFindings: Bool {
    switch self {
    case .leaks, .cycles, .memoryErrors, .unfreed: true
    case .peak, .allocations, .mapped, .mappedPeak: false
    }
  }

  /// Whether it is a number of bytes and nothing else.
  var isBytesOnly: Bool { self == .peak || self == .mappedPeak }

  /// Whether bytes are its first figure.
  var isMainlyBytes: Bool { isBytesOnly || self == .unfreed || self == .mapped }

  /// Whether a limit may be a number of bytes.
  var hasBytes: Bool {
    switch self {
    case .leaks, .unfreed, .peak, .mapped, .mappedPeak: true
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
    case .peak, .allocations, .mapped, .mappedPeak: false
    }
  }

  /// `1 cycle`, `3 leaked blocks`.
  func counted(_ count: UInt64) -> String {
    count == 1 && !isBytesOnly ? "1 \(noun.dropLast())" : "\(count) \(noun)"
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
    case .mapped: "mappings"
    case .mappedPeak: "mapped bytes at the peak"
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
  /// Blocks, cycles, calls or mappings; 0 for a peak.
  public var count: UInt64
  /// Bytes; 0 for what is only counted.
  public var bytes: UInt64

  /// Makes an amount.
  public init(count: UInt64 = 0, bytes: UInt64 = 0) {
    self.count = count
    self.bytes = bytes
  }

  /// Adds another amount.
  static func += (left: inout Amount, right: Amount) {
    left.count &+= right.count
    left.bytes &+= right.bytes
  }
}
