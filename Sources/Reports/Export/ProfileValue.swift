import TraceReader

/// What a profile counts of each stack.
public enum ProfileValue: String, Sendable, CaseIterable {
  /// Requested bytes of the blocks that are live at the end, or at another moment.
  case liveBytes = "live-bytes"
  /// The blocks that are live then.
  case liveBlocks = "live-blocks"
  /// Requested bytes of all blocks.
  case totalBytes = "total-bytes"
  /// All blocks.
  case totalBlocks = "total-blocks"
  /// Requested bytes of the blocks that were live when most was.
  case peakBytes = "peak-bytes"
  /// The blocks that were live then.
  case peakBlocks = "peak-blocks"
  /// Blocks that their own thread freed almost at once.
  case temporaryBlocks = "temporary-blocks"

  /// Whether it counts bytes; blocks else.
  public var isBytes: Bool {
    switch self {
    case .liveBytes, .totalBytes, .peakBytes: true
    case .liveBlocks, .totalBlocks, .peakBlocks, .temporaryBlocks: false
    }
  }

  /// The value of a set of allocations.
  func of(_ tally: Tally) -> UInt64 {
    switch self {
    case .liveBytes: tally.liveBytes
    case .liveBlocks: tally.liveCount
    case .totalBytes: tally.totalBytes
    case .totalBlocks: tally.totalCount
    case .peakBytes: tally.peakBytes
    case .peakBlocks: tally.peakCount
    case .temporaryBlocks: tally.temporaryCount
    }
  }
}
