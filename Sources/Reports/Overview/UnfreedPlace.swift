import TraceReader

/// A place in the program whose blocks were not freed, whoever called it.
///
/// Stacks through one function, such as an `xmalloc` or a constructor that many call, would each take
/// a line of the page and look alike.
public struct UnfreedPlace: Sendable, Hashable, Encodable {
  /// The responsible frame; nil without a stack.
  public var responsible: ReportFrame?
  /// The ID of the stack with the most bytes of it.
  public var stack: UInt32
  /// How many stacks there are.
  public var stackCount: Int
  /// Requested bytes of all blocks.
  public var bytes: UInt64
  /// How many blocks.
  public var count: UInt64
  /// How far the bytes may be off; nil when they are exact.
  public var bytesMargin: UInt64?
  /// How far the number of blocks may be off; nil when it is exact.
  public var countMargin: UInt64?

  /// Adds up the unfreed blocks of a replay by place.
  ///
  /// - Parameters:
  ///   - result: The replay, which kept the live blocks.
  ///   - source: Names.
  /// - Returns: The one with the most bytes first.
  static func find(_ result: ReplayResult, source: ReportSource) -> [UnfreedPlace] {
    var sums: [ReportFrame?: Sum] = [:]
    for site in result.sites where site.tally.liveCount > 0 {
      let frame = source.names.responsible(of: site.stack)
      // Two calls in one line are one place, as are two in a function of which no lines are known.
      sums[frame?.asPlace, default: Sum(frame: frame)].add(site)
    }
    return sums.values.map { $0.place(isEstimate: result.sampling != nil) }
      .sorted { ($1.bytes, $1.count, $0.stack) < ($0.bytes, $0.count, $1.stack) }
  }

  private struct Sum {
    let frame: ReportFrame?
    private var stacks = StackShares()
    private var bytes: UInt64 = 0
    private var count: UInt64 = 0
    private var bytesVariance = 0.0
    private var countVariance = 0.0

    init(frame: ReportFrame?) { self.frame = frame }

    mutating func add(_ site: Site) {
      stacks.add(site.tally.liveBytes, of: site.stack)
      bytes &+= site.tally.liveBytes
      count &+= site.tally.liveCount
      bytesVariance += site.variance?.liveBytes ?? 0
      countVariance += site.variance?.liveCount ?? 0
    }

    func place(isEstimate: Bool) -> UnfreedPlace {
      let stacks = stacks.summed()
      return UnfreedPlace(
        responsible: frame, stack: stacks.heaviest.stack.rawValue,
        stackCount: stacks.count, bytes: bytes, count: count,
        bytesMargin: isEstimate ? TallyVariance.wholeMargin(bytesVariance) : nil,
        countMargin: isEstimate ? TallyVariance.wholeMargin(countVariance) : nil)
    }
  }
}
