/// Finds stacks whose blocks were freed almost at once: allocations that could be saved.
public struct TemporaryAnalysis: Sendable {
  /// The allocations of one stack.
  public struct Hotspot: Hashable, Sendable {
    /// The backtrace of the call.
    public var stack: StackID
    /// The sum over its sites.
    public var tally: Tally

    /// The temporary part of the stack's allocations, 0 … 1.
    public var share: Double {
      Double(tally.temporaryCount) / Double(max(tally.totalCount, 1))
    }
  }

  /// Stacks with temporary allocations, most of them first, then lowest stack.
  public let hotspots: [Hotspot]
  /// All temporary allocations.
  public let count: UInt64

  /// Runs the analysis.
  public init(_ result: ReplayResult) {
    hotspots = result.sites.grouped { $0.stack }
      .filter { $0.tally.temporaryCount > 0 }
      .map { Hotspot(stack: $0.key, tally: $0.tally) }
      .sorted { ($1.tally.temporaryCount, $0.stack) < ($0.tally.temporaryCount, $1.stack) }
    count = result.total.temporaryCount
  }
}
