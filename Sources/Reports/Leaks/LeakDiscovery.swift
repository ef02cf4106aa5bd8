import LeakAnalysis
import TraceReader

/// What one of several snapshots found: the leaks, and those that were none before.
public struct LeakDiscovery: Sendable, Hashable, Encodable {
  /// The position of the snapshot.
  public var snapshot: Int
  /// When it was taken, nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// All leaked blocks.
  public var leaked: BlockSum
  /// Those that the snapshot before did not find leaked.
  public var new: BlockSum
}

/// Looks at the snapshots of a trace one after the other.
public struct LeakDiscoveries {
  /// A block, told apart from others at its address by when it was allocated.
  private struct Identity: Hashable, Comparable {
    var isAnnounced: Bool
    var address: UInt64
    var time: EventTime

    static func < (left: Self, right: Self) -> Bool {
      left.isAnnounced != right.isAnnounced
        ? right.isAnnounced : (left.address, left.time) < (right.address, right.time)
    }
  }

  /// What each snapshot found, in order.
  public private(set) var moments: [LeakDiscovery] = []
  /// What the last snapshot found, in the order of ``HeapBlocks``.
  private var known: [Identity] = []

  /// Starts without any leak.
  public init() {}

  /// Takes in the next snapshot.
  ///
  /// Where a filter of the query fits nothing, nothing was found: what it names may come later.
  public mutating func add(_ analysis: LeakAnalysis, source: ReportSource, query: LeaksQuery) {
    let selection = try? LeakSelection(analysis, source, SnapshotTypeNames(source), query)
    let blocks = analysis.heap.blocks
    var moment = LeakDiscovery(
      snapshot: analysis.heap.info.index,
      timeNanoseconds: source.clock.nanoseconds(analysis.heap.info.time), leaked: BlockSum(),
      new: BlockSum())
    var found: [Identity] = []
    var next = 0
    for node in 0..<analysis.leaks.count where selection?.isCounted[node] ?? false {
      let block = analysis.leaks.block(of: node)
      let identity = Identity(
        isAnnounced: blocks.isAnnounced(block), address: blocks.address(of: block),
        time: blocks.time(of: block))
      moment.leaked.add(blocks.ownBytes(of: block))
      while next < known.count, known[next] < identity { next += 1 }
      if next == known.count || known[next] != identity {
        moment.new.add(blocks.ownBytes(of: block))
      }
      found.append(identity)
    }
    known = found
    moments.append(moment)
  }
}
