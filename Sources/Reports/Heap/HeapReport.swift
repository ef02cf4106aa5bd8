import TraceReader

/// What the user asks of the classes of the heap.
public struct HeapQuery: Sendable, Hashable {
  /// What the rows are sorted by.
  public enum Order: String, Sendable, CaseIterable, Encodable {
    case count, bytes, average, name
  }

  /// The snapshot by its position in the trace; nil for the last one.
  public var snapshot: Int?
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
    /// Path of the image that defines the class, or allocates where there is none.
    public var image: String?
    /// How many blocks.
    public var count: UInt64
    /// Their requested bytes.
    public var bytes: UInt64
    /// The requested bytes of each, when sizes have rows of their own.
    public var size: UInt64?
    /// Of how many blocks their own contents say it; for the others it follows from their stacks.
    public var seenCount: UInt64

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
  /// The sizes of all blocks, the greatest first.
  public var sizes: [SizeCount]
  /// The classes, sorted.
  public var rows: [Row]
  /// How many rows there are without a limit.
  public var rowCount: Int
  /// The blocks by ascending address, where they were asked for.
  public var objects: [Object] = []
  /// How many there are without a limit.
  public var objectCount = 0

  /// The snapshot that a heap is of.
  public struct SnapshotSummary: Sendable, Hashable, Encodable {
    /// Its position in the trace.
    public var index: Int
    /// When it was taken, nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// Whether it was written to its end.
    public var isComplete: Bool
  }

  /// Names the blocks that were live.
  ///
  /// - Parameters:
  ///   - result: The replay up to the snapshot, with its live blocks.
  ///   - snapshot: The snapshot and its memory; nil when the trace has none.
  ///   - source: Who was traced, and how to name things.
  ///   - query: What was asked for.
  /// - Throws: ``ReportError`` when no class has the name asked for.
  public init(
    _ result: ReplayResult, snapshot: (info: SnapshotInfo, memory: SnapshotMemory)?,
    source: ReportSource, query: HeapQuery
  ) throws {
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    self.query = query
    self.snapshot = snapshot.map {
      SnapshotSummary(
        index: $0.info.index, timeNanoseconds: source.clock.nanoseconds($0.info.time),
        isComplete: $0.info.isComplete)
    }
    totalCount = UInt64(result.liveBlocks.count)
    totalBytes = result.liveBlocks.reduce(0) { $0 &+ $1.size }
    sizes = Self.sizes(of: result.liveBlocks)
    let found = try Self.rows(result.liveBlocks, snapshot?.memory, source, query)
    rowCount = found.count
    rows = Array(found.prefix(query.top ?? .max))
    if query.listsObjects {
      let all = Self.objects(result.liveBlocks, snapshot?.memory, source, query)
      objectCount = all.count
      objects = Array(all.prefix(query.top ?? .max))
    }
  }

  private static func objects(
    _ blocks: [LiveBlock], _ memory: SnapshotMemory?, _ source: ReportSource, _ query: HeapQuery
  ) -> [Object] {
    let objects = blocks.compactMap { block -> Object? in
      let category = source.categories.category(of: block, in: memory).category
      if let pattern = query.name, !Glob.matches(category.name, pattern) { return nil }
      let address = block.address.rawValue
      return Object(
        address: address, size: block.size, name: category.name,
        counts: category.isSwift ? memory.flatMap { ObjectCounts(at: address, in: $0) } : nil)
    }
    return objects.sorted { $0.address < $1.address }
  }

  private static func sizes(of blocks: [LiveBlock]) -> [SizeCount] {
    var counts: [UInt64: UInt64] = [:]
    for block in blocks { counts[block.size, default: 0] &+= 1 }
    return counts.map { SizeCount(size: $0.key, count: $0.value) }.sorted { $0.size > $1.size }
  }
}

extension HeapReport {
  private struct Key: Hashable {
    let category: BlockCategory
    let size: UInt64?
  }

  fileprivate static func rows(
    _ blocks: [LiveBlock], _ memory: SnapshotMemory?, _ source: ReportSource, _ query: HeapQuery
  ) throws -> [Row] {
    var rows: [Key: Row] = [:]
    for block in blocks {
      let (category, isSeen) = source.categories.category(of: block, in: memory)
      let key = Key(category: category, size: query.separatesSizes ? block.size : nil)
      var row = rows[key] ?? Row(category, size: key.size)
      row.count &+= 1
      row.bytes &+= block.size
      if isSeen { row.seenCount &+= 1 }
      rows[key] = row
    }
    return try Array(rows.values).matching(query.name).sorted { $0.precedes($1, by: query.order) }
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
  fileprivate init(_ category: BlockCategory, size: UInt64?) {
    let language =
      switch category.kind {
      case .type(let language): language.rawValue
      case .call: "C"
      case .size: "malloc"
      }
    self.init(
      name: category.name, fullName: category.fullName, language: language,
      isClass: category.isType, image: category.imagePath, count: 0, bytes: 0, size: size,
      seenCount: 0)
  }

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
    let index = try trace.snapshotIndex(query.snapshot)
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    options.progress = progress
    options.liveAt = index.map { trace.snapshots[$0].time }
    let result = try trace.replay(options)
    let snapshot = try index.map {
      (info: trace.snapshots[$0], memory: try trace.loadSnapshot($0))
    }
    try self.init(result, snapshot: snapshot, source: source, query: query)
  }
}

extension Trace {
  /// The position of the snapshot asked for; nil when there is none and none was asked for.
  fileprivate func snapshotIndex(_ asked: Int?) throws -> Int? {
    guard let asked else { return snapshots.indices.last }
    guard snapshots.indices.contains(asked) else {
      let there =
        snapshots.isEmpty
        ? "it has none"
        : snapshots.count == 1 ? "it has only snapshot 0" : "it has 0 to \(snapshots.count - 1)"
      throw ReportError.notFound("the trace has no snapshot \(asked): \(there)")
    }
    return asked
  }
}
