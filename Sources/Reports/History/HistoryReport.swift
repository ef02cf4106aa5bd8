import TraceReader

/// The life of one address: every event of every block that covered it.
public struct HistoryReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.history"

  /// One event.
  public struct Entry: Sendable, Hashable {
    /// How many events of the trace came before it.
    public var eventIndex: UInt64
    /// What happened: the function, such as `malloc`.
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
  /// Whether the text shows the stack of each event.
  public var showsStacks: Bool

  /// Names the events of an address.
  ///
  /// - Parameters:
  ///   - address: The address that was asked for.
  ///   - history: Its events in order.
  ///   - reallocStacks: The stacks of ended `realloc` calls, by the index of the event.
  ///   - coverage: What the trace does not hold.
  ///   - source: Who was traced, and how to name things.
  ///   - top: Only so many of the last events; nil for all.
  ///   - showsStacks: Whether the text shows the stack of each event.
  public init(
    address: UInt64, _ history: [HistoryEntry], reallocStacks: [UInt64: StackID] = [:],
    coverage: Coverage, source: ReportSource,
    top: Int? = nil, showsStacks: Bool = false
  ) {
    trace = source.trace
    self.coverage = CoverageSummary(coverage)
    self.address = address
    self.showsStacks = showsStacks
    entryCount = history.count
    var live = 0
    let deltas = history.map { entry in
      let delta = Self.delta(of: entry.event)
      live += delta
      return (delta, live)
    }
    let categories = Self.categories(of: history, reallocStacks, source)
    // The end of a life is what one looks for, so the last events are kept.
    entries = zip(history.indices, deltas).suffix(top ?? .max).map { position, change in
      let entry = history[position]
      let stack = reallocStacks[entry.eventIndex] ?? entry.event.stack
      return Entry(
        eventIndex: entry.eventIndex, eventType: entry.event.operation.name, delta: change.0,
        live: change.1, block: entry.block.rawValue, offset: entry.offset, size: entry.blockSize,
        category: categories[position], isUnexpected: entry.isUnexpected,
        event: EventSummary(
          operation: entry.event.operation, thread: entry.event.thread, time: entry.event.time,
          stack: stack, source: source),
        responsible: source.names.responsible(of: stack))
    }
  }

  /// The category of the block of each event, which its allocation tells.
  private static func categories(
    of history: [HistoryEntry], _ reallocStacks: [UInt64: StackID], _ source: ReportSource
  ) -> [BlockCategory?] {
    var categories: [Address: BlockCategory] = [:]
    return history.map { entry in
      if let size = entry.blockSize, delta(of: entry.event) > 0,
        entry.event.operation != .reallocFail
      {
        let stack = reallocStacks[entry.eventIndex] ?? entry.event.stack
        categories[entry.block] = source.categories.category(stack: stack, size: size)
      }
      return categories[entry.block]
    }
  }

  private static func delta(of event: Event) -> Int {
    switch event.operation {
    case .reallocBegin: return -1
    case .reallocEnd: return 1
    case .reallocFail: return 1
    default: break
    }
    switch event.kind {
    case .allocation: return 1
    case .deallocation: return -1
    default: return 0
    }
  }
}
