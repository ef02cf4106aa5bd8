import TraceReader

/// The life of one address: every event of every block that covered it.
public struct HistoryReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.history"

  /// One event.
  public struct Entry: Sendable, Hashable {
    /// How many events of blocks came before it in the trace; nil for reference counts.
    public var eventIndex: UInt64?
    /// What happened: the function, such as `malloc`; `retain` or `release`.
    public var eventType: String
    /// What the event does to the number of live blocks at the address: +1 or -1; 0 for neither.
    public var delta: Int
    /// Live blocks at the address after the event; below zero after a double free.
    public var live: Int
    /// Where the block begins.
    public var block: UInt64
    /// How far the address is from there.
    public var offset: UInt64
    /// Requested bytes; nil when not known.
    public var size: UInt64?
    /// The category of the block, such as `Malloc-16`; nil when its allocation is not known.
    public var category: BlockCategory?
    /// Whether the event came for a block that was not live.
    public var isUnexpected: Bool
    /// The call.
    public var event: EventSummary
    /// The responsible frame; nil without a stack.
    public var responsible: ReportFrame?
    /// What reference counts say about it; nil where they say nothing.
    public var refcount: Refcount?
  }

  /// A change of an object's strong count.
  public struct Refcount: Sendable, Hashable {
    /// References added, or taken away when below zero; 1 for the allocation.
    public var change: Int64
    /// Strong references afterwards; nil when nothing is known, after the object was freed.
    public var count: Int64?
    /// The number of the event that it goes with.
    public var partner: Int?
    /// Whether it goes with nothing: a release without a retain, or a reference that was never
    /// released.
    public var isUnbalanced: Bool
    /// Whether no event tells of it.
    ///
    /// A weak or unowned reference was loaded, or code that goes past the runtime's functions has
    /// changed the count. The event is the one that showed it.
    public var isImplied = false
  }

  /// The references to a Swift object as a snapshot has them.
  public struct SnapshotCounts: Sendable, Hashable {
    /// The position of the snapshot in the trace.
    public var snapshot: Int
    /// When it was taken, nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// The object.
    public var object: UInt64
    /// Its references.
    public var counts: ObjectCounts
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// The address that was asked for.
  public var address: UInt64
  /// The events in order.
  public var entries: [Entry]
  /// How many events there are without a limit.
  public var entryCount: Int
  /// The numbers of the events that go with nothing; empty when reference counts are balanced or
  /// were not recorded.
  public var unbalanced: [Int] = []
  /// The same by stack, those that ``entries`` leaves out as well, in the order of their firsts.
  public var imbalances: [Imbalance] = []
  /// The references to the last object at the address, in the last snapshot that was taken while it
  /// lived; nil when there is none.
  public var snapshotCounts: SnapshotCounts?
  /// Uses of blocks at the address after their frees, where those were kept back.
  public var uses: [Use] = []
  /// Whether the text shows the stack of each event.
  public var showsStacks: Bool

  /// Names the events of an address.
  ///
  /// - Parameters:
  ///   - address: The address that was asked for.
  ///   - history: Its events in order.
  ///   - reallocStacks: The stacks of ended `realloc` calls, by the index of the event.
  ///   - refcounts: The reference count events of the objects that begin where its blocks do.
  ///   - coverage: What the trace does not hold.
  ///   - source: Who was traced, and how to name things.
  ///   - top: Only so many of the last events; nil for all.
  ///   - showsStacks: Whether the text shows the stack of each event.
  public init(
    address: UInt64, _ history: [HistoryEntry], reallocStacks: [UInt64: StackID] = [:],
    refcounts: [Address: [RefcountEvent]] = [:], coverage: Coverage, source: ReportSource,
    top: Int? = nil, showsStacks: Bool = false
  ) {
    trace = source.trace
    self.coverage = CoverageSummary(coverage)
    self.address = address
    self.showsStacks = showsStacks
    entries = []
    let stacks = history.map { reallocStacks[$0.eventIndex] ?? $0.event.stack }
    let timeline = HistoryTimeline(
      history, stacks: stacks, refcounts: refcounts, names: source.names)
    entryCount = timeline.rows.count
    unbalanced = timeline.balances.indices.filter { timeline.balances[$0]?.isUnbalanced ?? false }
    let blocks = Self.entries(
      history, stacks, categories: Self.categories(of: history, reallocStacks, source), source)
    // The end of a life is what one looks for, so the last events are kept.
    let first = max(0, timeline.rows.count - (top ?? .max))
    var live = 0
    var imbalances = Imbalances()
    for (number, row) in timeline.rows.enumerated() {
      let balance = timeline.balances[number]
      if case .block(let position) = row { live = blocks[position].live }
      let entry = { Self.entry(row, balance, blocks, live: live, address, source) }
      if balance?.isUnbalanced == true {
        imbalances.add(number, row, stack: { stacks[$0] }, entry: entry)
      }
      if number >= first { entries.append(entry()) }
    }
    self.imbalances = imbalances.all
  }

  /// The entries of the blocks' own events.
  private static func entries(
    _ history: [HistoryEntry], _ stacks: [StackID], categories: [BlockCategory?],
    _ source: ReportSource
  ) -> [Entry] {
    var live = 0
    return history.indices.map { position in
      let entry = history[position]
      let delta = delta(of: entry.event)
      live += delta
      return Entry(
        eventIndex: entry.eventIndex, eventType: name(of: entry.event), delta: delta,
        live: live, block: entry.block.rawValue, offset: entry.offset, size: entry.blockSize,
        category: categories[position], isUnexpected: entry.isUnexpected,
        event: EventSummary(
          operation: entry.event.operation, thread: entry.event.thread, time: entry.event.time,
          stack: stacks[position], source: source),
        responsible: source.names.responsible(of: stacks[position]))
    }
  }

  private static func entry(
    _ row: HistoryTimeline.Row, _ balance: HistoryTimeline.Balance?, _ blocks: [Entry],
    live: Int, _ address: UInt64, _ source: ReportSource
  ) -> Entry {
    switch row {
    case .block(let position):
      var entry = blocks[position]
      entry.refcount = balance.map { Refcount($0, change: 1, isImplied: false) }
      return entry
    case .refcount(let step, let object, let event, let isDead, let allocation):
      let isImplied = step.event == nil
      return Entry(
        eventIndex: nil, eventType: step.change.amount < 0 ? "release" : "retain", delta: 0,
        live: live, block: object.rawValue, offset: address &- object.rawValue, size: nil,
        category: allocation.flatMap { blocks[$0].category }, isUnexpected: isDead,
        event: EventSummary(
          operation: Operation(event.call), thread: event.thread, time: event.time,
          stack: event.stack, source: source),
        responsible: isImplied ? nil : source.names.responsible(of: event.stack),
        refcount: balance.map {
          Refcount($0, change: step.change.amount, isImplied: isImplied)
        })
    }
  }

  /// The category of the block of each event, which its allocation tells.
  private static func categories(
    of history: [HistoryEntry], _ reallocStacks: [UInt64: StackID], _ source: ReportSource
  ) -> [BlockCategory?] {
    var categories: [UInt64: BlockCategory] = [:]
    return history.map { entry in
      let key = entry.event.blockKey
      if let size = entry.blockSize, delta(of: entry.event) > 0 {
        let stack = reallocStacks[entry.eventIndex] ?? entry.event.stack
        categories[key] = source.categories.category(
          stack: stack, size: size, entry.event.operation)
      }
      return categories[key]
    }
  }

  private static func name(of event: Event) -> String {
    event.operation == .reallocFail ? "realloc failed" : event.operation.name
  }

  private static func delta(of event: Event) -> Int {
    switch event.operation {
    case .reallocBegin: return -1
    case .reallocEnd: return 1
    default: break
    }
    switch event.kind {
    case .allocation: return 1
    case .deallocation: return -1
    default: return 0
    }
  }
}

extension HistoryReport.Refcount {
  init(_ balance: HistoryTimeline.Balance, change: Int64, isImplied: Bool) {
    self.init(
      change: change, count: balance.count, partner: balance.partner,
      isUnbalanced: balance.isUnbalanced, isImplied: isImplied)
  }
}
