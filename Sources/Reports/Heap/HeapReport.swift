import LeakAnalysis
import TraceReader

/// What the user asks of the classes of the heap.
public struct HeapQuery: Sendable, Hashable {
  /// What the rows are sorted by.
  public enum Order: String, Sendable, CaseIterable, Encodable {
    case count, bytes, average, name
  }

  /// Which snapshot.
  public var snapshot = SnapshotChoice.usual
  /// What the rows are sorted by.
  public var order = Order.count
  /// Whether each size of a class has a row of its own.
  public var separatesSizes = false
  /// Only classes with such a name, which may hold `*` and `?`.
  public var name: String?
  /// At most so many rows; nil for all.
  public var top: Int?
  /// Whether the blocks of the classes are listed one by one.
  public var listsObjects = false

  /// Makes a query for everything.
  public init() {}
}

/// The classes of a snapshot's live blocks, as `heap` of macOS lists them.
///
/// Without a snapshot in the trace it is what was live at the end, and types follow from stacks.
public struct HeapReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.heap"

  /// One class, or one size of it.
  public struct Row: Sendable, Hashable, Encodable {
    /// The name of the class: `app.Node`, `malloc in parse`.
    public var name: String
    /// The name in full, when it says more.
    public var fullName: String?
    /// `Swift`, `C++`, `C`; `malloc` where nothing but the size is known.
    public var language: String
    /// Whether it is a class or another type, not only a caller or a size.
    public var isClass: Bool
    /// Path of the image that defines the class, or allocates where there is none; nil where several do.
    public var image: String?
    /// Whether several images allocate what none defines, as containers.
    public var isOfSeveralImages = false
    /// How many blocks.
    public var count: UInt64
    /// Their requested bytes.
    public var bytes: UInt64
    /// How far the number of blocks may be off; nil when it is exact.
    public var countMargin: UInt64?
    /// How far the bytes may be off; nil when they are exact.
    public var bytesMargin: UInt64?
    /// The requested bytes of each, when sizes have rows of their own.
    public var size: UInt64?
    /// Of how many blocks their own contents say it; for the others it follows from their stacks.
    public var seenCount: UInt64

    enum CodingKeys: String, CodingKey {
      case name, fullName, language, isClass, image, count, bytes, countMargin, bytesMargin, size
      case seenCount
    }

    /// Bytes per block.
    public var average: Double { count == 0 ? 0 : Double(bytes) / Double(count) }
  }

  /// A live block.
  public struct Object: Sendable, Hashable {
    /// Where it begins.
    public var address: UInt64
    /// Requested bytes.
    public var size: UInt64
    /// The name of its class.
    public var name: String
    /// The references to a Swift object; nil for other blocks, and without a snapshot.
    public var counts: ObjectCounts?
  }

  /// Blocks of one requested size.
  public struct SizeCount: Sendable, Hashable, Encodable {
    /// Requested bytes of each block.
    public var size: UInt64
    /// How many blocks.
    public var count: UInt64
  }

  /// The classes of one language.
  public struct ClassCount: Sendable, Hashable, Encodable {
    /// `Swift`, `C++`, `Rust`, `C`, `Python` or `GObject`.
    public var language: String
    /// How many classes there are.
    public var count: UInt64
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// What was asked for.
  public var query: HeapQuery
  /// The snapshot; nil when the trace has none.
  public var snapshot: SnapshotSummary?
  /// How many blocks were live.
  public var totalCount: UInt64
  /// Their requested bytes.
  public var totalBytes: UInt64
  /// How far the number of blocks may be off; nil when it is exact.
  public var totalCountMargin: UInt64?
  /// How far the bytes may be off; nil when they are exact.
  public var totalBytesMargin: UInt64?
  /// The sizes of all blocks, the greatest first.
  public var sizes: [SizeCount]
  /// The classes of all blocks by language.
  public var classes: [ClassCount]
  /// Of how many of all blocks their own contents say the type.
  public var seenCount: UInt64
  /// Of how many the type, or the caller, follows from the stack.
  public var derivedCount: UInt64
  /// The classes, sorted.
  public var rows: [Row]
  /// How many rows there are without a limit.
  public var rowCount: Int
  /// The blocks by ascending address, where they were asked for.
  public var objects = LongList<Object>()
  /// How many there are without a limit.
  public var objectCount = 0

  /// Names the blocks of a snapshot.
  ///
  /// - Parameters:
  ///   - heap: The live blocks and the memory; those of the recorder do not count.
  ///   - source: Who was traced, and how to name things.
  ///   - query: What was asked for.
  ///   - sampling: How the trace was sampled; nil when everything was recorded.
  /// - Throws: ``ReportError`` when no class has the name asked for.
  public init(
    _ heap: HeapImage, source: ReportSource, query: HeapQuery, sampling: Sampling? = nil
  ) throws {
    let objects = HeapObjects(heap.blocks, in: heap.memory, source, name: query.name)
    try self.init(
      HeapRows(objects.blocks, in: heap.memory, source, query, sampling), heap.coverage, source,
      query)
    snapshot = SnapshotSummary(heap, clock: source.clock)
    list(objects)
  }

  /// Names the blocks that were live at the end of a replay.
  ///
  /// - Parameters:
  ///   - result: The replay, with its live blocks.
  ///   - source: Who was traced, and how to name things.
  ///   - query: What was asked for.
  /// - Throws: ``ReportError`` when no class has the name asked for.
  public init(
    _ result: consuming ReplayResult, source: ReportSource, query: HeapQuery
  ) throws {
    try self.init(
      HeapRows(result.liveBlocks, in: nil, source, query, result.sampling), result.coverage,
      source, query)
    trace = source.summary(after: result)
    guard query.listsObjects else { return }
    // The blocks are sorted in place, unless the caller has them, too.
    let (blocks, sites) = (result.liveBlocks, result.sites)
    result.liveBlocks = LiveBlocks()
    list(HeapObjects(HeapBlocks(consume blocks, sites: sites), in: nil, source, name: query.name))
  }

  private init(
    _ found: HeapRows, _ coverage: Coverage, _ source: ReportSource, _ query: HeapQuery
  ) throws {
    trace = source.trace
    self.coverage = CoverageSummary(coverage)
    self.query = query
    totalCount = found.total.count
    totalBytes = found.total.bytes
    totalCountMargin = found.total.countMargin
    totalBytesMargin = found.total.bytesMargin
    sizes = found.sizes
    let all = found.rows
    classes = ["Swift", "C++", "Rust", "C", "Python", "GObject"].compactMap { language in
      let names = Set(all.filter { $0.isClass && $0.language == language }.map(\.name))
      return names.isEmpty ? nil : ClassCount(language: language, count: UInt64(names.count))
    }
    let named = all.filter { $0.language != "malloc" }
    seenCount = named.reduce(0) { $0 &+ $1.seenCount }
    derivedCount = named.reduce(0) { $0 &+ $1.count } &- seenCount
    let wanted = try all.matching(query.name).sorted { $0.precedes($1, by: query.order) }
    rowCount = wanted.count
    rows = Array(wanted.prefix(query.top ?? .max))
  }

  /// Lists the blocks, where they were asked for.
  private mutating func list(_ found: HeapObjects) {
    guard query.listsObjects else { return }
    objectCount = found.count
    objects = found.list(limit: query.top ?? .max)
  }
}

extension [HeapReport.Row] {
  fileprivate func matching(_ pattern: String?) throws -> [HeapReport.Row] {
    guard let pattern else { return self }
    let found = filter { Glob.matches($0.name, pattern) }
    if found.isEmpty {
      throw ReportError.notFound(
        NearMatches.message("class", pattern, in: Set(map(\.name)).sorted()))
    }
    return found
  }
}

extension HeapReport.Row {
  fileprivate func precedes(_ other: Self, by order: HeapQuery.Order) -> Bool {
    switch order {
    case .count where count != other.count: return count > other.count
    case .bytes where bytes != other.bytes: return bytes > other.bytes
    case .average where average != other.average: return average > other.average
    case .name where name != other.name: return name < other.name
    default: break
    }
    return (other.bytes, other.count, name, size ?? 0, image ?? "")
      < (bytes, count, other.name, other.size ?? 0, other.image ?? "")
  }
}

extension HeapReport {
  /// Replays the trace up to a snapshot and names what was live.
  ///
  /// - Throws: ``ReportError`` when there is no such snapshot or class, `TraceError` when reading
  ///   fails.
  public init(
    _ trace: Trace, source: ReportSource, query: HeapQuery,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws {
    if let index = try trace.askedSnapshot(query.snapshot) ?? trace.usualSnapshot {
      try self.init(
        trace.heap(atSnapshot: index, progress: progress), source: source, query: query,
        sampling: Sampling(header: trace.header))
    } else {
      var options = ReplayOptions()
      options.keepsLiveBlocks = true
      options.progress = progress
      try self.init(trace.replay(options), source: source, query: query)
    }
  }
}
