import TraceReader

/// What the user asks of the Allocations table.
public struct AllocationsQuery: Sendable, Hashable {
  /// Which blocks are counted.
  public var filter = SiteFilter()
  /// The moment that the state is as of, in words; nil for the end.
  public var moment: String?
  /// What the rows stand for.
  public var grouping = AllocationsGrouping.category
  /// What the rows are sorted by.
  public var order = AllocationsOrder.persistentBytes
  /// At most so many rows; nil for all.
  public var top: Int?
  /// The number columns of the text.
  public var columns = AllocationsColumn.standard

  /// Makes a query for the standard table.
  public init() {}
}

/// The Allocations instrument's statistics: what is live, what was freed, by category.
public struct AllocationsReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.allocations"

  /// One line of the table.
  public struct Row: Sendable, Hashable {
    /// The text in the first column.
    public var name: String
    /// The numbers.
    public var tally: TallyRow
    /// The ID of the stack, when rows are stacks.
    public var stack: UInt32?
    /// The frames of the stack, when rows are stacks.
    public var frames: [ReportFrame]?
    /// The thread, when rows are threads.
    public var thread: ThreadSummary?
    /// The greatest requested size, when rows are sizes or categories by size.
    public var greatestSize: UInt64?
    /// The type, when rows are categories and it is known.
    public var type: BlockTypeSummary?
  }

  /// The name of the row that sums up all others, as Instruments calls it.
  static let totalName = "All Heap Allocations"

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// What was asked for.
  public var query: AllocationsQuery
  /// The sum of all rows, the ones that are not shown too.
  public var total: TallyRow
  /// The rows, sorted.
  public var rows: [Row]
  /// How many rows there are without a limit.
  public var rowCount: Int
  /// Live bytes over time.
  public var timeline: TimelineSummary

  /// Groups the sites of a replay.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(_ result: ReplayResult, source: ReportSource, query: AllocationsQuery) throws {
    let sites = try query.filter.apply(
      to: result.sites, source: source, detailed: query.grouping == .type)
    let groups = Self.sorted(Self.grouped(sites, query, source), query, source)
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    self.query = query
    total = groups.reduce(into: TallyRow()) { $0 += $1.tally }
    rowCount = groups.count
    rows = groups.prefix(query.top ?? .max).map { Self.row($0, source) }
    timeline = TimelineSummary(result, clock: source.clock)
  }

  private struct Group {
    var key: GroupKey
    var tally = TallyRow()
    /// Breaks ties, so that equal inputs give equal outputs.
    var label = ""
  }

  private static func grouped(
    _ sites: [Site], _ query: AllocationsQuery, _ source: ReportSource
  ) -> [Group] {
    var groups: [Group] = []
    var indices: [GroupKey: Int] = [:]
    for site in sites {
      let key = GroupKey(site, query.grouping, source)
      let index = indices[key] ?? groups.count
      if index == groups.count {
        groups.append(Group(key: key))
        indices[key] = index
      }
      groups[index].tally += TallyRow(site)
    }
    return groups
  }

  private static func sorted(
    _ groups: [Group], _ query: AllocationsQuery, _ source: ReportSource
  ) -> [Group] {
    var groups = groups
    if query.order == .name {
      for index in groups.indices { groups[index].label = groups[index].key.label(source) }
    }
    return groups.sorted { left, right in
      if query.order.precedes(left.tally, right.tally) { return true }
      if query.order.precedes(right.tally, left.tally) { return false }
      return left.key.precedes(right.key, left.label, right.label)
    }
  }

  private static func row(_ group: Group, _ source: ReportSource) -> Row {
    var row = Row(name: group.key.label(source), tally: group.tally)
    switch group.key {
    case .category(let category):
      row.greatestSize = category.greatestSize
      row.type = BlockTypeSummary(category)
    case .size(let upper): row.greatestSize = upper
    case .stack(let stack):
      row.stack = stack.rawValue
      row.frames = source.names.frames(of: stack)
    case .thread(let thread): row.thread = source.threads.summary(of: thread)
    case .function, .image: break
    }
    return row
  }
}

extension GroupKey {
  /// The order of groups whose numbers are equal.
  fileprivate func precedes(_ other: GroupKey, _ label: String, _ otherLabel: String) -> Bool {
    if label != otherLabel { return label < otherLabel }
    switch (self, other) {
    case (.category(let left), .category(let right)): return left < right
    case (.stack(let left), .stack(let right)): return left < right
    case (.thread(let left), .thread(let right)): return left < right
    case (.size(let left), .size(let right)): return left < right
    case (.image(let left), .image(let right)): return (left ?? "") < (right ?? "")
    case (.function(let left, let image), .function(let right, let otherImage)):
      return (left, image ?? "") < (right, otherImage ?? "")
    default: return false
    }
  }
}
