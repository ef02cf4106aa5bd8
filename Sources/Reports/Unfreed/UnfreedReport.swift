import TraceReader

/// What the user asks of the blocks that were never freed.
public struct UnfreedQuery: Sendable, Hashable {
  /// Which blocks are counted; the lifespan is always ``Lifespan/persistent``.
  public var filter = SiteFilter()
  /// At most so many groups; nil for all.
  public var top: Int?
  /// At most so many frames of each stack in text; nil for all.
  public var frames: Int?
  /// The moment at which the blocks live, in words; nil for the end.
  public var moment: String?

  /// Makes a query for everything.
  public init() {}
}

/// Blocks that were never freed, by the stack that allocated them.
///
/// Not called leaks: that a block was not freed says nothing about whether it can still be reached.
public struct UnfreedReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.unfreed"

  /// Blocks of one requested size.
  public struct SizeCount: Sendable, Hashable, Encodable {
    /// Requested bytes of each block.
    public var size: UInt64
    /// How many blocks.
    public var count: UInt64
  }

  /// The blocks from one stack.
  public struct Group: Sendable, Hashable, Encodable {
    /// Requested bytes of all blocks.
    public var bytes: UInt64
    /// How many blocks.
    public var count: UInt64
    /// How far the bytes may be off; nil when they are exact.
    public var bytesMargin: UInt64?
    /// How far the number of blocks may be off; nil when it is exact.
    public var countMargin: UInt64?
    /// Their sizes, the most frequent first.
    public var sizes: [SizeCount]
    /// Their types, as far as they are known.
    public var types: [String]
    /// The functions that allocated them, such as `malloc`.
    public var functions: [String]
    /// The threads that allocated them.
    public var threads: [ThreadSummary]
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
  public var query: UnfreedQuery
  /// Requested bytes of all blocks, those of groups that are not shown too.
  public var totalBytes: UInt64
  /// How many blocks there are in all.
  public var totalCount: UInt64
  /// How far the bytes may be off; nil when they are exact.
  public var totalBytesMargin: UInt64?
  /// How far the number of blocks may be off; nil when it is exact.
  public var totalCountMargin: UInt64?
  /// The groups, the one with the most bytes first.
  public var groups: [Group]
  /// How many groups there are without a limit.
  public var groupCount: Int

  /// Groups the live blocks of a replay that kept them.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(_ result: ReplayResult, source: ReportSource, query: UnfreedQuery) throws {
    var query = query
    query.filter.lifespan = .persistent
    let indices = try query.filter.indices(in: result.sites, source: source).filter {
      result.sites[$0].tally.liveCount > 0
    }
    let drafts = Self.drafts(result, indices, source.names)
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    self.query = query
    totalBytes = drafts.reduce(0) { $0 &+ $1.bytes }
    totalCount = drafts.reduce(0) { $0 &+ $1.count }
    if result.sampling != nil {
      totalBytesMargin = TallyVariance.wholeMargin(drafts.reduce(0) { $0 + $1.bytesVariance })
      totalCountMargin = TallyVariance.wholeMargin(drafts.reduce(0) { $0 + $1.countVariance })
    }
    groupCount = drafts.count
    let shown = Array(drafts.prefix(query.top ?? .max))
    let sizes = Self.sizes(of: shown, in: result)
    groups = zip(shown, sizes).map { Self.group($0, $1, result, source) }
  }

  /// A group before its frames are looked up.
  private struct Draft {
    var stack: StackID
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    var bytesVariance = 0.0
    var countVariance = 0.0
    var sites: [Int] = []

    init(stack: StackID) { self.stack = stack }

    mutating func add(_ site: Site, at index: Int) {
      bytes &+= site.tally.liveBytes
      count &+= site.tally.liveCount
      bytesVariance += site.variance?.liveBytes ?? 0
      countVariance += site.variance?.liveCount ?? 0
      sites.append(index)
    }
  }

  /// Stacks that read the same are one.
  private static func drafts(
    _ result: ReplayResult, _ indices: [Int], _ names: StackNames
  ) -> [Draft] {
    var drafts = names.map(of: Draft.self)
    for index in indices {
      let site = result.sites[index]
      let stack = names.likeness(of: site.stack)
      drafts[stack, default: Draft(stack: stack)].add(site, at: index)
    }
    return drafts.values.sorted {
      ($1.bytes, $1.count, $0.stack) < ($0.bytes, $0.count, $1.stack)
    }
  }

  /// The sizes in each group, in one pass over the live blocks; estimates when these are a sample.
  private static func sizes(of drafts: [Draft], in result: ReplayResult) -> [[SizeCount]] {
    var groupOfSite = Array(repeating: -1, count: result.sites.count)
    for (group, draft) in drafts.enumerated() {
      for site in draft.sites { groupOfSite[site] = group }
    }
    var counts = Array(repeating: [UInt64: UInt64](), count: drafts.count)
    for block in result.liveBlocks where groupOfSite.indices.contains(block.site) {
      let group = groupOfSite[block.site]
      if group >= 0 { counts[group][block.size, default: 0] &+= 1 }
    }
    return counts.map { counts in
      counts.map { size, count in
        let estimate = result.sampling?.allocations(perSampleOfSize: size, samples: count)
        return SizeCount(size: size, count: estimate ?? count)
      }
      .sorted { ($1.count, $1.size) < ($0.count, $0.size) }
    }
  }

  private static func group(
    _ draft: Draft, _ sizes: [SizeCount], _ result: ReplayResult, _ source: ReportSource
  ) -> Group {
    let sites = draft.sites.map { result.sites[$0] }
    let isEstimate = result.sampling != nil
    return Group(
      bytes: draft.bytes, count: draft.count,
      bytesMargin: isEstimate ? TallyVariance.wholeMargin(draft.bytesVariance) : nil,
      countMargin: isEstimate ? TallyVariance.wholeMargin(draft.countVariance) : nil, sizes: sizes,
      types: Set(sites.map(source.categories.category(of:))).filter(\.isType).sorted()
        .map(\.name),
      functions: Set(sites.map(\.operation.name)).sorted(),
      threads: Set(sites.map(\.thread)).sorted().map(source.threads.summary(of:)),
      stack: draft.stack.rawValue, responsible: source.names.responsible(of: draft.stack),
      frames: source.names.frames(of: draft.stack))
  }
}
