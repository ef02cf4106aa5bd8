import TraceReader

/// What the user asks of the generations.
public struct GenerationsQuery: Sendable, Hashable {
  /// Which blocks are counted; the lifespan is always ``Lifespan/persistent``.
  public var filter = SiteFilter()
  /// At most so many categories of each generation; nil for all.
  public var top: Int?
  /// At most so many stacks of each category.
  public var stacks = 0
  /// At most so many generations, those that grew most; nil for all.
  public var generations: Int?

  /// Makes a query for everything.
  public init() {}
}

/// What grew from one mark to the next: Instruments' Generations.
public struct GenerationsReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.generations"

  /// Blocks with their margins.
  public struct Growth: Sendable, Hashable {
    /// Requested bytes of the blocks.
    public var bytes: UInt64 = 0
    /// How many blocks.
    public var count: UInt64 = 0
    /// How far the bytes may be off; nil when they are exact.
    public var bytesMargin: UInt64?
    /// How far the number of blocks may be off; nil when it is exact.
    public var countMargin: UInt64?
  }

  /// The blocks of one category in a generation.
  public struct Category: Sendable, Hashable {
    /// Such as `Malloc-16`.
    public var name: String
    /// The type, where it is known.
    public var type: BlockTypeSummary?
    /// Its blocks.
    public var growth: Growth
    /// Where they were allocated, the stack with the most bytes first.
    public var stacks: [Stack] = []
    /// How many stacks there are without a limit.
    public var stackCount: Int
  }

  /// The blocks of one category that one stack allocated.
  public struct Stack: Sendable, Hashable {
    /// The number of the stack in the trace; 0 for none.
    public var id: UInt32
    /// Its frames, leaf first.
    public var frames: [ReportFrame]
    /// Its blocks.
    public var growth: Growth
  }

  /// What was allocated after one mark and before the next, and lives.
  public struct Generation: Sendable, Hashable {
    /// Position in the order of time; 0 is what was there before the first mark.
    public var index: Int
    /// The name of its mark.
    public var name: String
    /// `baseline`, `mark` (made while the process ran), or `time` (made afterwards).
    public var origin: String
    /// The mark, nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// The next mark, or the moment at which the blocks live.
    public var endNanoseconds: UInt64
    /// Its blocks.
    public var growth: Growth
    /// The categories, the one with the most bytes first.
    public var categories: [Category]
    /// How many categories there are without a limit.
    public var categoryCount: Int
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// What was asked for.
  public var query: GenerationsQuery
  /// The moment at which the blocks live, in words; nil for the end.
  public var moment: String?
  /// All generations together.
  public var total: Growth
  /// The generations in the order of time.
  public var generations: [Generation]
  /// How many generations there are without a limit.
  public var generationCount: Int

  /// Sums up the generations.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(_ source: ReportSource, _ parts: Generations, query: GenerationsQuery) throws {
    let result = parts.result
    var query = query
    query.filter.lifespan = .persistent
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    self.query = query
    moment = parts.moment
    let wanted = Set(try query.filter.indices(in: result.sites, source: source))
    let sums = Self.sums(parts, wanted: wanted, source)
    total = Growth(sums.reduce(into: Sum()) { $0 += $1.whole }, result.sampling)
    let times = [0] + parts.marks.map { source.clock.nanoseconds($0.time) }
    let end = max(times.last ?? 0, source.clock.nanoseconds(result.lastTime))
    let all = sums.enumerated().map { index, sum in
      Self.generation(
        index, parts, sum, from: times[index],
        to: index + 1 < times.count ? times[index + 1] : end, query, source)
    }
    generationCount = all.count
    generations = Self.greatest(all, query.generations)
  }

  /// The sum of live blocks, and its parts by category.
  private struct Parts {
    var whole = Sum()
    var byCategory: [BlockCategory: CategoryParts] = [:]
  }

  /// The sum of one category, and its parts by stack.
  private struct CategoryParts {
    var whole = Sum()
    var byStack: [StackID: Sum] = [:]
  }

  /// A sum that can be added up further.
  fileprivate struct Sum {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    var variance = TallyVariance()

    static func += (left: inout Sum, right: Sum) {
      left.bytes &+= right.bytes
      left.count &+= right.count
      left.variance += right.variance
    }
  }

  /// One pass over the live blocks; sites before categories, since naming is what takes long.
  private static func sums(
    _ parts: Generations, wanted: Set<Int>, _ source: ReportSource
  ) -> [Parts] {
    var bySite = Array(repeating: [Int: LiveSum](), count: parts.count)
    for block in parts.result.liveBlocks where wanted.contains(block.site) {
      bySite[parts.index(of: block)][block.site, default: LiveSum()].add(
        size: block.ownBytes, sampling: parts.result.sampling)
    }
    return bySite.map { sites in
      var sums = Parts()
      for (site, live) in sites {
        let sum = Sum(bytes: live.bytes, count: live.count, variance: live.variance)
        let category = source.categories.category(of: parts.result.sites[site])
        sums.whole += sum
        sums.byCategory[category, default: CategoryParts()].whole += sum
        let stack = parts.result.sites[site].stack
        sums.byCategory[category]?.byStack[stack, default: Sum()] += sum
      }
      return sums
    }
  }

  private static func generation(
    _ index: Int, _ parts: Generations, _ sums: Parts, from: UInt64, to: UInt64,
    _ query: GenerationsQuery, _ source: ReportSource
  ) -> Generation {
    let sampling = parts.result.sampling
    let sorted = sums.byCategory.sorted {
      let (left, right) = ($0.value.whole, $1.value.whole)
      return (right.bytes, right.count, $0.key) < (left.bytes, left.count, $1.key)
    }
    return Generation(
      index: index, name: parts.name(of: index),
      origin: index == 0 ? "baseline" : parts.marks[index - 1].isRecorded ? "mark" : "time",
      timeNanoseconds: from, endNanoseconds: to, growth: Growth(sums.whole, sampling),
      categories: sorted.prefix(query.top ?? .max).map { category, parts in
        Category(
          name: category.name, type: BlockTypeSummary(category),
          growth: Growth(parts.whole, sampling),
          stacks: stacks(parts, limit: query.stacks, sampling, source),
          stackCount: parts.byStack.count)
      },
      categoryCount: sorted.count)
  }

  private static func stacks(
    _ parts: CategoryParts, limit: Int, _ sampling: Sampling?, _ source: ReportSource
  ) -> [Stack] {
    guard limit > 0 else { return [] }
    let sorted = parts.byStack.sorted {
      ($1.value.bytes, $1.value.count, $0.key) < ($0.value.bytes, $0.value.count, $1.key)
    }
    return sorted.prefix(limit).map { stack, sum in
      Stack(
        id: stack.rawValue, frames: source.names.frames(of: stack), growth: Growth(sum, sampling))
    }
  }

  /// Those that grew most, in the order of time.
  private static func greatest(_ all: [Generation], _ limit: Int?) -> [Generation] {
    guard let limit, all.count > limit else { return all }
    return all.sorted {
      ($1.growth.bytes, $0.index) < ($0.growth.bytes, $1.index)
    }
    .prefix(limit).sorted { $0.index < $1.index }
  }
}

extension GenerationsReport.Growth {
  fileprivate init(_ sum: GenerationsReport.Sum, _ sampling: Sampling?) {
    bytes = sum.bytes
    count = sum.count
    guard sampling != nil else { return }
    bytesMargin = TallyVariance.wholeMargin(sum.variance.liveBytes)
    countMargin = TallyVariance.wholeMargin(sum.variance.liveCount)
  }
}
