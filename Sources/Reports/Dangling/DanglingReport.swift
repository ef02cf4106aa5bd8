import LeakAnalysis
import TraceReader

/// What the user asks of dangling pointers.
public struct DanglingQuery: Sendable, Hashable {
  /// Whether doubtful ones count, too, and those to blocks that were freed while the process ended.
  public var includesDoubtful = false
  /// At most so many rows; nil for all.
  public var top: Int?
  /// At most so many frames of each stack in text; nil for all.
  public var frames: Int?

  /// Makes a query for what is likely or possible.
  public init() {}
}

/// Who holds a pointer into which block that was freed; allocated where, freed where.
public struct DanglingReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.dangling"

  /// A pointer of a row.
  public struct Example: Sendable, Hashable {
    /// Where the pointer is; nil for one in a register.
    public var holder: UInt64?
    /// Where the block that it is in begins; nil for a root.
    public var holderBlock: UInt64?
    /// Where it points.
    public var pointer: UInt64
    /// Where the freed block began.
    public var block: UInt64
    /// The requested bytes of that.
    public var size: UInt64
    /// Whether other blocks have been there before, one of which may be meant.
    public var mayBeEarlier: Bool
  }

  /// Pointers in places of one kind to blocks of one kind.
  public struct Row: Sendable, Hashable {
    /// How sure it is: `likely`, `possible` or `doubtful`.
    public var confidence: DanglingPointer.Confidence
    /// Whether the blocks were freed while the process ended.
    public var isFromExit: Bool
    /// What holds the pointers, in words: `variable cache in app`, `Node.next`.
    public var holder: String
    /// What kind of memory that is: `block`, or a kind of root.
    public var holderKind: String
    /// Where in the holding blocks they are; nil for roots and for large blocks, where it may be anywhere.
    public var offset: UInt64?
    /// Who allocated the first holding block; nil for a root.
    public var holderAllocated: EventSummary?
    /// What the freed blocks were.
    public var name: String
    /// What is known of the type; nil where blocks are told apart by size or caller only.
    public var type: BlockTypeSummary?
    /// How many pointers.
    public var count: UInt64
    /// How many different blocks they point to, and their requested bytes.
    public var blocks: BlockSum
    /// How they point: `start` or `interior`.
    public var edge: String
    /// The allocation of the first block.
    public var allocated: EventSummary
    /// Its deallocation.
    public var freed: EventSummary
    /// The first few pointers.
    public var examples: [Example]
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// Which snapshot.
  public var snapshot: SnapshotSummary
  /// What was asked for.
  public var query: DanglingQuery
  /// Live blocks at the snapshot, without the recorder's.
  public var live = BlockSum()
  /// How many pointers there are of each confidence, those to blocks that were freed while the process ended aside.
  public var counts: [DanglingPointer.Confidence: UInt64]
  /// How many likely and possible ones there are to blocks that were freed while the process ended.
  public var exitCount: UInt64
  /// Whether blocks of the process are not known: fewer pointers are told for sure then.
  public var hasUnknownBlocks: Bool
  /// Whether all events were looked at.
  public var isComplete: Bool
  /// The rows, the surest first, then those of the most pointers.
  public var rows: [Row]
  /// How many rows there are without a limit.
  public var rowCount: Int
  /// Objects that are gone but for their memory, by class.
  public var deinitialized: [Deinitialized]

  /// How many pointers of a row are named.
  static let examplesPerRow = 5

  /// Reports on what was found.
  public init(_ found: DanglingPointers, source: ReportSource, query: DanglingQuery) {
    trace = source.trace
    coverage = CoverageSummary(found.heap.coverage)
    snapshot = SnapshotSummary(found.heap, clock: source.clock)
    self.query = query
    hasUnknownBlocks = found.heap.hasUnknownBlocks
    isComplete = found.isComplete
    deinitialized = Self.deinitialized(in: found.heap, source)
    let blocks = found.heap.blocks
    for block in 0..<blocks.count where blocks.site(of: block).thread != .recorder {
      live.add(blocks.ownBytes(of: block))
    }
    var rows = DanglingRows(found, source: source, query: query)
    (counts, exitCount) = (rows.counts, rows.exitCount)
    (self.rows, rowCount) = rows.finish()
  }
}
