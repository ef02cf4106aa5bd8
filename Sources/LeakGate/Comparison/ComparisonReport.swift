import Reports

/// What changed between two recordings, or between several of each.
public struct ComparisonReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.diff"

  /// What became of a row.
  public enum Change: String, Sendable, Hashable, Encodable, CaseIterable {
    case new, grew, shrank, gone, same
  }

  /// A figure on one side: the median of its runs, and how far these are apart.
  public struct Figure: Sendable, Hashable, Encodable {
    /// The median.
    public var median: UInt64
    /// The least of the runs.
    public var least: UInt64
    /// The greatest of the runs.
    public var greatest: UInt64

    /// Takes the figures of all runs of a side; of an even number the lower one in the middle.
    init(_ values: [UInt64]) {
      let sorted = values.sorted()
      median = sorted.isEmpty ? 0 : sorted[(sorted.count - 1) / 2]
      (least, greatest) = (sorted.first ?? 0, sorted.last ?? 0)
    }

    /// Whether no run of one side is like a run of the other.
    func isApart(from other: Figure) -> Bool {
      greatest < other.least || other.greatest < least
    }
  }

  /// Blocks of one name on both sides.
  public struct Row: Sendable, Hashable, Encodable {
    /// The name.
    public var name: String
    /// What became of it.
    public var change: Change
    /// Bytes before.
    public var baseBytes: Figure
    /// Bytes after.
    public var headBytes: Figure
    /// Blocks before.
    public var baseCount: Figure
    /// Blocks after.
    public var headCount: Figure
    /// Whether the runs of one side differ as much as the sides do, or samples may.
    public var isWithinSpread: Bool

    /// Bytes more than before.
    var bytesMore: Int64 { Difference.of(headBytes.median, baseBytes.median) }
    /// Blocks more than before.
    var countMore: Int64 { Difference.of(headCount.median, baseCount.median) }
  }

  /// A figure of the whole process on both sides.
  public struct Total: Sendable, Hashable, Encodable {
    /// The measure: `peak`, `allocations`, `unfreed`, `memory-errors`, `mapped`, `mapped-peak`.
    public var measure: String
    /// Before.
    public var base: Figure
    /// After.
    public var head: Figure
    /// Whether it is a number of bytes.
    public var isBytes: Bool
    /// Whether it has changed by no more than the runs of one side differ, or samples may.
    public var isWithinSpread: Bool
  }

  /// What was before, as the user named it.
  public var base: String
  /// What was after.
  public var head: String
  /// How many runs there were before.
  public var baseRuns: Int
  /// How many runs there were after.
  public var headRuns: Int
  /// Whether figures of a side are estimates from samples.
  public var isEstimate: Bool
  /// What a row is.
  public var grouping: ComparisonGrouping
  /// Which blocks count.
  public var blocks: ComparedBlocks
  /// The rows that changed, those with the greatest change of bytes first.
  public var rows: [Row]
  /// How many rows changed, without a limit.
  public var changedCount: Int
  /// How many rows are as they were.
  public var sameCount: Int
  /// The sums of all rows, those that are not shown too.
  public var sum: Row
  /// The figures of the whole process.
  public var totals: [Total]
  /// Limits that are not kept.
  public var failures: [LimitFinding]
  /// Limits of which samples do not tell whether they are kept.
  public var undecided: [LimitFinding]
  /// Why figures of a side are not those of whole processes, with the side before each.
  public var warnings: [String]

  /// Compares two sides.
  ///
  /// - Parameters:
  ///   - base: The runs before; at least one.
  ///   - head: The runs after; at least one.
  ///   - names: What the sides are called.
  ///   - grouping: What a row is.
  ///   - blocks: Which blocks count.
  ///   - top: At most so many rows; nil for all.
  ///   - limits: What the head may have, in terms of the base.
  public init(
    base: [RunProfile], head: [RunProfile], names: (base: String, head: String),
    grouping: ComparisonGrouping, blocks: ComparedBlocks, top: Int? = nil, limits: [GateRule] = []
  ) {
    (self.base, self.head) = names
    (baseRuns, headRuns) = (base.count, head.count)
    isEstimate = (base + head).contains { !$0.measureVariances.isEmpty }
    (self.grouping, self.blocks) = (grouping, blocks)
    let all = Set(base.flatMap(\.rows.keys)).union(head.flatMap(\.rows.keys))
    let compared = all.map { Row($0, base, head) }
    let changed = compared.filter { $0.change != .same }.sorted { $0.order < $1.order }
    changedCount = changed.count
    sameCount = compared.count - changed.count
    rows = Array(changed.prefix(top ?? .max))
    sum = Row(sumOf: compared)
    totals = Measure.allCases.compactMap { Total($0, base, head) }
    let found = limits.map { LimitFinding($0, base, head) }
    failures = found.filter { $0.verdict == .exceeded }
    undecided = found.filter { $0.verdict == .undecided }
    warnings = Self.warnings(of: base, names.base) + Self.warnings(of: head, names.head)
  }

  /// More warnings than this, of the many runs of a side, are only counted.
  private static let mostWarnings = 8

  private static func warnings(of side: [RunProfile], _ name: String) -> [String] {
    var known: Set<String> = []
    let all = side.flatMap(\.warnings).filter { known.insert($0).inserted }
    let hidden = all.count - mostWarnings
    return all.prefix(mostWarnings).map { "\(name): \($0)" }
      + (hidden > 0 ? ["\(name): \(CountText.of(UInt64(hidden), "more warning"))"] : [])
  }
}

/// Differences of what has no sign.
enum Difference {
  static func of(_ head: UInt64, _ base: UInt64) -> Int64 {
    head >= base ? Int64(clamping: head - base) : -Int64(clamping: base - head)
  }
}

extension ComparisonReport.Row {
  fileprivate init(_ name: String, _ base: [RunProfile], _ head: [RunProfile]) {
    self.name = name
    let figure = { (side: [RunProfile], value: (Amount) -> UInt64) in
      ComparisonReport.Figure(side.map { value($0.rows[name] ?? Amount()) })
    }
    (baseBytes, headBytes) = (figure(base, \.bytes), figure(head, \.bytes))
    (baseCount, headCount) = (figure(base, \.count), figure(head, \.count))
    isWithinSpread = !baseBytes.isApart(from: headBytes) && !baseCount.isApart(from: headCount)
    change = .same
    change = Self.change(baseBytes.median, baseCount.median, headBytes.median, headCount.median)
    let variance = AmountVariance.difference(base, head) { $0.rowVariances[name] }
    isWithinSpread = isWithinSpread || variance.explains(countMore, bytesMore)
  }

  /// The sums of the medians, so that the rows add up to it.
  fileprivate init(sumOf rows: [ComparisonReport.Row]) {
    let sum = { (value: (ComparisonReport.Row) -> UInt64) in
      ComparisonReport.Figure([rows.reduce(0) { $0 &+ value($1) }])
    }
    name = "Total"
    (baseBytes, headBytes) = (sum(\.baseBytes.median), sum(\.headBytes.median))
    (baseCount, headCount) = (sum(\.baseCount.median), sum(\.headCount.median))
    isWithinSpread = false
    change = Self.change(baseBytes.median, baseCount.median, headBytes.median, headCount.median)
  }

  private static func change(
    _ baseBytes: UInt64, _ baseCount: UInt64, _ headBytes: UInt64, _ headCount: UInt64
  ) -> ComparisonReport.Change {
    if (baseBytes, baseCount) == (headBytes, headCount) { return .same }
    if baseCount == 0 { return .new }
    if headCount == 0 { return .gone }
    return (baseBytes, baseCount) < (headBytes, headCount) ? .grew : .shrank
  }

  /// The greatest change of bytes first, then of blocks, then by name.
  fileprivate var order: (UInt64, UInt64, String) {
    (.max - bytesMore.magnitude, .max - countMore.magnitude, name)
  }
}

extension ComparisonReport.Total {
  fileprivate init?(_ measure: Measure, _ base: [RunProfile], _ head: [RunProfile]) {
    guard base.allSatisfy({ $0.measures[measure] != nil }),
      head.allSatisfy({ $0.measures[measure] != nil })
    else { return nil }
    self.measure = measure.rawValue
    isBytes = measure.isMainlyBytes
    let isBytes = isBytes
    let figure = { (side: [RunProfile]) in
      ComparisonReport.Figure(
        side.compactMap { $0.measures[measure].map { isBytes ? $0.bytes : $0.count } })
    }
    (self.base, self.head) = (figure(base), figure(head))
    let more = Difference.of(self.head.median, self.base.median)
    let variance = AmountVariance.difference(base, head) { $0.measureVariances[measure] }
    isWithinSpread =
      !self.base.isApart(from: self.head)
      || (isBytes ? variance.explains(0, more) : variance.explains(more, 0))
  }
}
