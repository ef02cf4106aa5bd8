import TraceReader

/// Collects single blocks, freed ones too, in one pass over the events.
///
/// A replay keeps no freed blocks: there may be millions of them. This keeps those of the sites
/// that were asked for, and gives up at a limit rather than fill the memory.
struct BlockFinder {
  /// What tells sites apart that a filter tells apart.
  private struct Key: Hashable {
    var stack: StackID
    var thread: ThreadIndex
    var sizeClass: SizeClass
  }

  /// A `realloc` under way on one thread.
  private struct Reallocation {
    var stack: StackID
    var block: Int?
    var key: UInt64
  }

  private let wanted: Set<Key>
  private let sizes: ClosedRange<UInt64>?
  private let range: Range<EventTime>?
  private let limit: Int
  /// By what tells blocks apart that live at the same time.
  private var open: [UInt64: Int] = [:]
  /// Tells which announced blocks end without a word; nil in a trace without any.
  private var implied: ImpliedEnds?
  private var reallocations: [ThreadIndex: Reallocation] = [:]
  private(set) var blocks: [FoundBlock] = []
  /// Whether there were more blocks than the limit.
  private(set) var isCut = false

  /// Prepares a pass for the blocks of these sites.
  init(
    sites: [Site], sizes: ClosedRange<UInt64>?, range: Range<EventTime>?, limit: Int,
    hasAnnounced: Bool = false
  ) {
    implied = hasAnnounced ? ImpliedEnds() : nil
    wanted = Set(
      sites.map { Key(stack: $0.stack, thread: $0.thread, sizeClass: $0.sizeClass) })
    self.sizes = sizes
    self.range = range
    self.limit = limit
  }

  /// Takes in the next event.
  mutating func add(_ event: Event) {
    for key in implied?.follow(event) ?? [] { end(key, event) }
    switch event.operation {
    case .reallocBegin:
      let block = open.removeValue(forKey: event.blockKey)
      if let block { blocks[block].freed = event.time }
      reallocations[event.thread] = Reallocation(
        stack: event.stack, block: block, key: event.blockKey)
    case .reallocEnd:
      let begun = reallocations.removeValue(forKey: event.thread)
      let stack = event.stack == .none ? begun?.stack ?? .none : event.stack
      allocate(event, stack: stack)
    case .reallocLeft:
      reallocations[event.thread] = nil
    case .reallocFail:
      if let begun = reallocations.removeValue(forKey: event.thread) { takeBack(begun) }
    default:
      switch event.kind {
      case .allocation: allocate(event, stack: event.stack)
      case .deallocation: end(event.blockKey, event)
      default: break
      }
    }
  }

  /// Brings back the blocks in the middle of a `realloc` when the events ended.
  mutating func finish() {
    for begun in reallocations.values { takeBack(begun) }
    reallocations = [:]
  }

  /// The old block lives on, unless somebody has been given its address meanwhile.
  private mutating func takeBack(_ begun: Reallocation) {
    guard let block = begun.block, open[begun.key] == nil else { return }
    blocks[block].freed = nil
    open[begun.key] = block
  }

  private mutating func end(_ key: UInt64, _ event: Event) {
    if let block = open.removeValue(forKey: key) { blocks[block].freed = event.time }
  }

  private mutating func allocate(_ event: Event, stack: StackID) {
    end(event.blockKey, event)
    guard range?.contains(event.time) ?? true, sizes?.contains(event.size) ?? true else { return }
    let key = Key(
      stack: stack, thread: event.thread, sizeClass: SizeClass(containing: event.size))
    guard wanted.contains(key) else { return }
    guard blocks.count < limit else {
      isCut = true
      return
    }
    open[event.blockKey] = blocks.count
    blocks.append(
      FoundBlock(
        address: event.address, size: event.size, operation: event.operation, stack: stack,
        thread: event.thread, time: event.time))
  }
}

/// What the user asks of the Allocations List.
public struct BlocksQuery: Sendable, Hashable {
  /// Which blocks are listed.
  public var filter = SiteFilter()
  /// The moment that the state is as of, in words; nil for the end.
  public var moment: String?
  /// Whether the greatest come first instead of the oldest.
  public var bySize = false
  /// At most so many blocks; nil for all.
  public var top: Int?

  /// Makes a query for everything.
  public init() {}
}

extension BlocksReport {
  /// More blocks than this are not collected, 64 bytes each.
  static let collectedAtMost = 4_000_000

  /// Lists the blocks of a trace.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing, `TraceError` when reading fails.
  public init(
    _ trace: Trace, source: ReportSource, request: ReplayRequest, query: BlocksQuery,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws {
    let onlyLive = query.filter.lifespan == .persistent
    let result = try trace.replay(request, keepsLiveBlocks: onlyLive, progress: progress)
    if onlyLive {
      try self.init(
        liveIn: result, source: source, filter: query.filter, moment: query.moment,
        bySize: query.bySize, top: query.top)
      return
    }
    let (blocks, isCut) = try Self.found(trace, result, source, request, query.filter)
    let onlyFreed = query.filter.lifespan == .transient
    self.init(
      .selection(
        of: blocks, where: { !onlyFreed || $0.freed != nil }, bySize: query.bySize, size: \.size
      ) { $0 },
      coverage: result.coverage, source: source, filter: query.filter, moment: query.moment,
      isCut: isCut, top: query.top)
  }

  /// Lists the live blocks of a replay that kept them.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(
    liveIn result: ReplayResult, source: ReportSource, filter: SiteFilter,
    moment: String? = nil, bySize: Bool = false, top: Int? = nil
  ) throws {
    var isWanted = Array(repeating: false, count: result.sites.count)
    for site in try filter.indices(in: result.sites, source: source) { isWanted[site] = true }
    self.init(
      .selection(
        of: result.liveBlocks, where: { [isWanted] in isWanted[$0.site] }, bySize: bySize,
        size: \.size, FoundBlock.init),
      coverage: result.coverage, source: source, filter: filter, moment: moment, top: top)
  }

  private static func found(
    _ trace: Trace, _ result: ReplayResult, _ source: ReportSource, _ request: ReplayRequest,
    _ filter: SiteFilter
  ) throws -> (blocks: [FoundBlock], isCut: Bool) {
    let sites = try filter.indices(in: result.sites, source: source).map { result.sites[$0] }
    let range = try trace.timeRange(request, length: trace.length(for: request))
    var finder = BlockFinder(
      sites: sites, sizes: request.sizes?.bytes, range: range, limit: collectedAtMost,
      hasAnnounced: trace.header.flags.contains(.announced))
    let last = result.eventCount
    try trace.forEachEvent(from: range?.lowerBound ?? .distantPast) { index, event in
      // The replay stopped here, so does the list.
      if index >= last { return false }
      finder.add(event)
      return true
    }
    finder.finish()
    return (finder.blocks, finder.isCut)
  }
}
