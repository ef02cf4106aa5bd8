import TraceReader

/// What the rows of the table of mappings stand for.
public enum MappingsGrouping: String, Sendable, CaseIterable, Encodable {
  case kind, file, function, stack, mapping
}

/// What the user asks of mapped memory.
public struct MappingsQuery: Sendable, Hashable {
  /// What the rows stand for.
  public var grouping = MappingsGrouping.kind
  /// The moment that the state is as of; nil for the end.
  public var liveAt: LiveMoment?
  /// The moment in words, for the headline.
  public var moment: String?
  /// Only mappings that are there still, or are gone.
  public var lifespan = Lifespan.all
  /// At most so many rows; nil for all.
  public var top: Int?
  /// At most so many frames of each stack in text; nil for all.
  public var frames: Int?

  /// Makes a query for everything.
  public init() {}
}

/// Memory that the program mapped by calls of its own: Instruments' VM regions.
public struct MappingsReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.mappings"

  /// The mappings of one kind, file, function or stack.
  public struct Row: Sendable, Hashable {
    /// The text in the first column.
    public var name: String
    /// Bytes and mappings; of one that is mapped in part, the rest counts as transient bytes.
    public var tally: TallyRow
    /// Of the persistent bytes, those that nobody may touch.
    public var reservedBytes: UInt64
    /// What was mapped, in words.
    public var kinds: [String]
    /// The ID of the stack, when rows are stacks.
    public var stack: UInt32?
    /// The frames of the stack, leaf first, when rows are stacks.
    public var frames: [ReportFrame]?
  }

  /// One mapping.
  public struct Region: Sendable, Hashable {
    /// The lowest address.
    public var address: UInt64
    /// Bytes, as it was mapped.
    public var length: UInt64
    /// The bytes of it that are mapped still.
    public var persistentBytes: UInt64
    /// Of these, the bytes that nobody may touch.
    public var reservedBytes: UInt64
    /// What it is for, in words.
    public var kind: String
    /// The file; nil for anonymous memory.
    public var path: String?
    /// Where in the file it begins.
    public var offset: UInt64
    /// What could be done with it at first: `rw-`.
    public var protection: String
    /// Whether other processes may have it as well.
    public var isShared: Bool
    /// When it was mapped, nanoseconds since the recording began.
    public var startNanoseconds: UInt64
    /// When the last of it was unmapped; nil when some is left.
    public var endNanoseconds: UInt64?
    /// Which thread mapped it.
    public var thread: ThreadSummary
    /// The ID of the stack.
    public var stack: UInt32
    /// The responsible frame; nil without a stack.
    public var responsible: ReportFrame?
    /// The stack, leaf first.
    public var frames: [ReportFrame]
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// What was asked for.
  public var query: MappingsQuery
  /// All mappings together.
  public var total: TallyRow
  /// Of the persistent bytes, those that nobody may touch: addresses without memory.
  public var reservedBytes: UInt64
  /// The most bytes that were mapped at once and could be touched.
  public var peakBytes: UInt64
  /// When that was, nanoseconds since the recording began.
  public var peakNanoseconds: UInt64
  /// What could be touched over time.
  public var timeline: TimelineSummary
  /// Bytes that were unmapped though no call had mapped them that was recorded.
  public var foreignBytes: UInt64
  /// The rows, the one with the most bytes first; empty when rows are mappings.
  public var rows: [Row] = []
  /// The mappings, the greatest first; empty unless rows are mappings.
  public var regions: [Region] = []
  /// How many rows or mappings there are without a limit.
  public var rowCount = 0

  /// Sums up the mappings of a trace.
  ///
  /// - Throws: ``ReportError`` when none were recorded, or the moment names nothing.
  public init(_ trace: Trace, source: ReportSource, query: MappingsQuery) throws {
    guard trace.recordsMappings else { throw ReportError.notFound(MappedSum.notRecordedText) }
    let history = try trace.mappings(at: query.liveAt)
    self.trace = source.trace
    coverage = CoverageSummary(trace.coverage)
    self.query = query
    (peakBytes, foreignBytes) = (history.peakBytes, history.foreignBytes)
    peakNanoseconds = source.clock.nanoseconds(history.peakTime)
    timeline = TimelineSummary(history, clock: source.clock)
    let wanted = history.mappings.filter { $0.fits(query.lifespan) }
    total = wanted.reduce(into: TallyRow()) { $0 += $1.tally }
    reservedBytes = wanted.reduce(0) { $0 &+ $1.reservedBytes }
    if query.grouping == .mapping {
      rowCount = wanted.count
      regions = Self.greatest(wanted, query.top).map { Region($0, source) }
    } else {
      let groups = Self.groups(wanted, query.grouping, source)
      rowCount = groups.count
      rows = groups.prefix(query.top ?? .max).map { Row($0, source) }
    }
  }

  /// Those with the most bytes that can be touched, then those that were greatest, then the earliest.
  private static func greatest(_ mappings: [Mapping], _ limit: Int?) -> [Mapping] {
    mappings.enumerated().sorted { left, right in
      (right.1.usableBytes, right.1.range.length, left.0)
        < (left.1.usableBytes, left.1.range.length, right.0)
    }.prefix(limit ?? .max).map(\.element)
  }
}

// MARK: Groups

extension MappingsReport {
  /// What tells the groups of one grouping apart.
  fileprivate enum Key: Hashable {
    case kind(MappingKind)
    case file(path: String, kind: MappingKind)
    /// As those of blocks: a function or a stack.
    case caller(GroupKey)
  }

  fileprivate struct Group {
    var key: Key
    var tally = TallyRow()
    var reservedBytes: UInt64 = 0
    var kinds: Set<MappingKind> = []
    /// That of its first mapping, for groups of equal numbers.
    var position: Int

    var usableBytes: UInt64 { tally.persistentBytes &- reservedBytes }
  }

  private static func groups(
    _ mappings: [Mapping], _ grouping: MappingsGrouping, _ source: ReportSource
  ) -> [Group] {
    var groups: [Key: Group] = [:]
    for (position, mapping) in mappings.enumerated() {
      let key = Key(mapping, grouping, source)
      groups[key, default: Group(key: key, position: position)].tally += mapping.tally
      groups[key]?.reservedBytes &+= mapping.reservedBytes
      groups[key]?.kinds.insert(mapping.kind)
    }
    return groups.values.sorted { left, right in
      (right.usableBytes, right.tally.totalBytes, left.position)
        < (left.usableBytes, left.tally.totalBytes, right.position)
    }
  }
}

extension MappingsReport.Key {
  init(_ mapping: Mapping, _ grouping: MappingsGrouping, _ source: ReportSource) {
    switch grouping {
    case .kind, .mapping: self = .kind(mapping.kind)
    case .file: self = .file(path: mapping.path, kind: mapping.kind)
    case .stack: self = .caller(.stack(of: mapping.stack, source.names))
    case .function: self = .caller(.function(of: mapping.stack, source.names))
    }
  }

  /// The text in the first column.
  func label(_ source: ReportSource) -> String {
    switch self {
    case .kind(let kind): kind.name
    case .file(let path, let kind): path.isEmpty ? kind.name : path
    case .caller(let key): key.label(source)
    }
  }
}

extension MappingsReport.Row {
  fileprivate init(_ group: MappingsReport.Group, _ source: ReportSource) {
    self.init(
      name: group.key.label(source), tally: group.tally, reservedBytes: group.reservedBytes,
      kinds: MappingKind.allCases.filter(group.kinds.contains).map(\.name))
    if case .caller(.stack(let stack)) = group.key {
      (self.stack, frames) = (stack.rawValue, source.names.frames(of: stack))
    }
  }
}

extension MappingsReport.Region {
  fileprivate init(_ mapping: Mapping, _ source: ReportSource) {
    self.init(
      address: mapping.range.start, length: mapping.range.length,
      persistentBytes: mapping.liveBytes, reservedBytes: mapping.reservedBytes,
      kind: mapping.kind.name,
      path: mapping.path.isEmpty ? nil : mapping.path, offset: mapping.offset,
      protection: mapping.protectionText, isShared: mapping.isShared,
      startNanoseconds: source.clock.nanoseconds(mapping.began),
      endNanoseconds: mapping.ended.map(source.clock.nanoseconds),
      thread: source.threads.summary(of: mapping.thread), stack: mapping.stack.rawValue,
      responsible: source.names.responsible(of: mapping.stack),
      frames: source.names.frames(of: mapping.stack))
  }
}

extension Mapping {
  /// The mapping as a row of its own.
  fileprivate var tally: TallyRow {
    TallyRow(
      persistentBytes: liveBytes, persistentCount: liveBytes > 0 ? 1 : 0,
      transientBytes: range.length &- liveBytes, transientCount: liveBytes > 0 ? 0 : 1)
  }

  fileprivate func fits(_ lifespan: Lifespan) -> Bool {
    switch lifespan {
    case .all: true
    case .persistent: liveBytes > 0
    case .transient: liveBytes == 0
    }
  }

  /// `rw-`, as /proc/self/maps has it.
  fileprivate var protectionText: String {
    zip([1, 2, 4], ["r", "w", "x"]).map { protection & $0 == 0 ? "-" : $1 }.joined()
  }
}

extension MappingKind {
  /// The name of the category, as Instruments has it where it has one.
  package var name: String {
    switch self {
    case .anonymous: "VM: Anonymous VM"
    case .hugePages: "VM: Huge pages"
    case .executable: "VM: Executable"
    case .stack: "VM: Stack"
    case .reserved: "VM: Reserved"
    case .shared: "VM: Shared memory"
    case .file: "VM: Mapped file"
    case .device: "VM: Device"
    case .programBreak: "VM: Program break"
    }
  }
}

extension Trace {
  /// The mappings as of a moment.
  ///
  /// - Throws: ``ReportError`` when there is no such mark.
  fileprivate func mappings(at moment: LiveMoment?) throws -> MappingHistory {
    switch moment {
    case nil: mappings()
    case .peak: mappings(until: mappings().peakTime)
    case .time(let point):
      mappings(until: try eventTime(of: point, length: recordedNanoseconds))
    }
  }
}
