import TraceReader

/// How leaked blocks are put together in rows.
public enum LeaksGrouping: String, Sendable, CaseIterable, Encodable {
  /// By what they are and the stack that allocated them.
  case stack
  /// By what they are.
  case type
  /// By the responsible function.
  case function
  /// By the image of the responsible function.
  case image
  /// By the thread that allocated them.
  case thread
  /// Each block on its own.
  case block
}

/// What the user asks of the leaks.
public struct LeaksQuery: Sendable, Hashable {
  /// Which leaked blocks are counted; the lifespan has no meaning here.
  public var filter = SiteFilter()
  /// Only blocks whose requested size is in this range.
  public var sizes: ByteRange?
  /// Only blocks allocated from this time on, nanoseconds since the recording began.
  public var fromNanoseconds: UInt64?
  /// How blocks are put together.
  public var grouping = LeaksGrouping.stack
  /// Whether leaks of the system's own libraries and of the recorder count, too.
  public var includesSystem = false
  /// Whether only root cycles are shown.
  public var onlyCycles = false
  /// At most so many rows and trees; nil for all.
  public var top: Int?
  /// At most so many frames of each stack in text; nil for all.
  public var frames: Int?
  /// At most so many lines of each tree.
  public var treeLines = 40
  /// Whether ``LeaksReport/TreeGroup/rootTimes`` are asked for: there may be millions.
  public var keepsRootTimes = false
  /// Whether rows are asked for, or trees alone: there may be millions of either.
  public var hasRows = true
  /// Whether ``LeaksReport/places`` are asked for.
  public var findsPlaces = false

  /// Makes a query for everything.
  public init() {}
}
