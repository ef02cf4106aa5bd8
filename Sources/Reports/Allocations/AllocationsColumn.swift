import TraceReader

/// The number columns of the Allocations table, by the names that Instruments gives them.
public enum AllocationsColumn: String, Sendable, CaseIterable, Encodable {
  case persistentBytes = "persistent-bytes"
  case persistent
  case transient
  case totalBytes = "total-bytes"
  case total
  case transientBytes = "transient-bytes"
  case events
  case temporary
  case bar

  /// What is shown unless other columns are asked for.
  public static let standard: [AllocationsColumn] = [
    .persistentBytes, .persistent, .transient, .totalBytes, .total, .bar,
  ]

  /// All columns, the bar last.
  public static let wide: [AllocationsColumn] = [
    .persistentBytes, .persistent, .transient, .transientBytes, .totalBytes, .total, .events,
    .temporary, .bar,
  ]

  /// The title, the same in text and CSV.
  var title: String {
    switch self {
    case .persistentBytes: "Persistent Bytes"
    case .persistent: "# Persistent"
    case .transient: "# Transient"
    case .totalBytes: "Total Bytes"
    case .total: "# Total"
    case .transientBytes: "Transient Bytes"
    case .events: "Events"
    case .temporary: "Temporary"
    case .bar: "Transient/Total"
    }
  }

  /// The number of a row; nil for the bar.
  func value(_ row: TallyRow) -> UInt64? {
    switch self {
    case .persistentBytes: row.persistentBytes
    case .persistent: row.persistentCount
    case .transient: row.transientCount
    case .totalBytes: row.totalBytes
    case .total: row.totalCount
    case .transientBytes: row.transientBytes
    case .events: row.eventCount
    case .temporary: row.temporaryCount
    case .bar: nil
    }
  }

  /// The variance of the number in a row; nil for exact numbers.
  func variance(_ row: TallyRow) -> Double? {
    switch self {
    case .persistentBytes: row.variance?.liveBytes
    case .persistent: row.variance?.liveCount
    case .transient: row.variance?.freedCount
    case .totalBytes: row.variance?.totalBytes
    case .total: row.variance?.totalCount
    case .transientBytes: row.variance?.freedBytes
    // One event for a live block, two for a freed one.
    case .events: row.variance.map { $0.liveCount + 4 * $0.freedCount }
    case .temporary, .bar: nil
    }
  }

  private var isBytes: Bool {
    self == .persistentBytes || self == .totalBytes || self == .transientBytes
  }

  /// The column of a text table.
  var column: TextTable.Column {
    self == .bar ? .text(title, shortest: nil) : .number(title)
  }

  /// The text of a row; the bar is as wide as the last word of its title can be.
  func text(_ row: TallyRow, bytes: ByteStyle, hasMargin: Bool) -> Span {
    guard let value = value(row) else {
      return Span(
        ShareText.bar(
          persistent: row.persistentBytes, total: row.totalBytes, width: Self.barWidth),
        .faint)
    }
    let margin = hasMargin ? variance(row).map(TallyVariance.wholeMargin) : nil
    return Span(
      (isBytes ? bytes.format(value) : value.grouped) + MarginText.suffix(margin, of: value))
  }

  private static let barWidth = 10
}

/// What the rows of the Allocations table are sorted by; numbers descend, names ascend.
public enum AllocationsOrder: String, Sendable, CaseIterable, Encodable {
  case persistentBytes = "persistent-bytes"
  case persistent
  case transientBytes = "transient-bytes"
  case transient
  case totalBytes = "total-bytes"
  case total
  case events
  case temporary
  case name

  private var column: AllocationsColumn? { AllocationsColumn(rawValue: rawValue) }

  /// Whether `left` comes before `right`; equal ones keep their order.
  func precedes(_ left: TallyRow, _ right: TallyRow) -> Bool {
    guard let column else { return false }
    let (first, second) = (column.value(left) ?? 0, column.value(right) ?? 0)
    if first != second { return first > second }
    if left.totalBytes != right.totalBytes { return left.totalBytes > right.totalBytes }
    return left.totalCount > right.totalCount
  }
}
