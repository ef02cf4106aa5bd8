/// Groups the blocks that were never freed by where they were allocated.
///
/// Unfreed is not leaked: whether anything still pointed to a block is not known here.
public struct UnfreedAnalysis: Sendable {
  /// The unfreed blocks of one stack.
  public struct Group: Hashable, Sendable {
    /// The backtrace of the call.
    public var stack: StackID
    /// The sum over all sites of the stack; its live figures are those of the unfreed blocks.
    public var tally: Tally
    /// The size classes of the unfreed blocks, ascending.
    public var sizeClasses: [SizeClass]
    /// The functions that allocated them, in the order of their codes.
    public var operations: [Operation]
    /// The threads that allocated them, ascending.
    public var threads: [ThreadIndex]

    /// How many blocks are unfreed.
    public var count: UInt64 { tally.liveCount }
    /// Their requested bytes.
    public var bytes: UInt64 { tally.liveBytes }
  }

  /// The stacks with unfreed blocks, most bytes first, then most blocks, then lowest stack.
  public let groups: [Group]
  /// All unfreed blocks.
  public let count: UInt64
  /// Their requested bytes.
  public let bytes: UInt64

  /// Runs the analysis.
  public init(_ result: ReplayResult) {
    let sites = result.sites.filter { $0.tally.liveCount > 0 }
    groups = sites.grouped { $0.stack }.map { stack, tally, members in
      Group(
        stack: stack, tally: tally,
        sizeClasses: Set(members.map { sites[$0].sizeClass }).sorted(),
        operations: Set(members.map { sites[$0].operation.rawValue }).sorted()
          .map { Operation(rawValue: $0) },
        threads: Set(members.map { sites[$0].thread }).sorted())
    }.sorted {
      ($1.bytes, $1.count, $0.stack) < ($0.bytes, $0.count, $1.stack)
    }
    count = result.total.liveCount
    bytes = result.total.liveBytes
  }
}
