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
  private struct Identity: Hashable {
    var address: UInt64
    var time: EventTime
  }

  /// What each snapshot found, in order.
  public private(set) var moments: [LeakDiscovery] = []
  private var known: Set<Identity> = []

  /// Starts without any leak.
  public init() {}

  /// Takes in the next snapshot.
  ///
  /// - Throws: ``ReportError`` when a filter of the query fits nothing.
  public mutating func add(
    _ analysis: LeakAnalysis, source: ReportSource, query: LeaksQuery
  ) throws {
    let types = SnapshotTypeNames(source)
    let selection = try LeakSelection(analysis, source, types, query)
    let blocks = analysis.heap.blocks
    var moment = LeakDiscovery(
      snapshot: analysis.heap.info.index,
      timeNanoseconds: source.clock.nanoseconds(analysis.heap.info.time), leaked: BlockSum(),
      new: BlockSum())
    var found: Set<Identity> = []
    for node in 0..<analysis.leaks.count where selection.isCounted[node] {
      let block = analysis.leaks.block(of: node)
      let identity = Identity(address: blocks.addresses[block], time: blocks.times[block])
      moment.leaked.add(blocks.sizes[block])
      if !known.contains(identity) { moment.new.add(blocks.sizes[block]) }
      found.insert(identity)
    }
    known = found
    moments.append(moment)
  }
}
