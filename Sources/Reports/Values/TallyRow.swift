import TraceReader

/// The numbers of one row of a statistics table.
///
/// Persistent and transient blocks add up to the total, in bytes and in blocks; events are one for
/// each persistent block and two for each transient one.
public struct TallyRow: Sendable, Hashable, Encodable {
  /// Bytes allocated and not yet freed.
  public var persistentBytes: UInt64
  /// Blocks not yet freed.
  public var persistentCount: UInt64
  /// Bytes allocated and freed.
  public var transientBytes: UInt64
  /// Blocks allocated and freed.
  public var transientCount: UInt64
  /// Blocks freed right after they were allocated.
  public var temporaryCount: UInt64
  /// How far the numbers may be off; nil when they are exact.
  public var variance: TallyVariance?

  /// Makes a row of numbers.
  public init(
    persistentBytes: UInt64 = 0, persistentCount: UInt64 = 0, transientBytes: UInt64 = 0,
    transientCount: UInt64 = 0, temporaryCount: UInt64 = 0
  ) {
    self.persistentBytes = persistentBytes
    self.persistentCount = persistentCount
    self.transientBytes = transientBytes
    self.transientCount = transientCount
    self.temporaryCount = temporaryCount
  }

  /// All bytes ever allocated.
  public var totalBytes: UInt64 { persistentBytes &+ transientBytes }

  /// All blocks ever allocated.
  public var totalCount: UInt64 { persistentCount &+ transientCount }

  /// Allocations and deallocations.
  public var eventCount: UInt64 { persistentCount &+ 2 &* transientCount }

  /// Whether there is nothing to show.
  public var isEmpty: Bool { totalCount == 0 }

  /// Adds the numbers of another row.
  public static func += (left: inout TallyRow, right: TallyRow) {
    left.persistentBytes &+= right.persistentBytes
    left.persistentCount &+= right.persistentCount
    left.transientBytes &+= right.transientBytes
    left.transientCount &+= right.transientCount
    left.temporaryCount &+= right.temporaryCount
    if let added = right.variance {
      var sum = left.variance ?? TallyVariance()
      sum += added
      left.variance = sum
    }
  }

  enum CodingKeys: String, CodingKey {
    case persistentBytes, persistentCount, transientBytes, transientCount, totalBytes, totalCount
    case eventCount, temporaryCount, persistentBytesMargin, persistentCountMargin
    case transientBytesMargin, transientCountMargin, totalBytesMargin, totalCountMargin
  }

  /// Writes all numbers, the sums too.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(persistentBytes, forKey: .persistentBytes)
    try container.encode(persistentCount, forKey: .persistentCount)
    try container.encode(transientBytes, forKey: .transientBytes)
    try container.encode(transientCount, forKey: .transientCount)
    try container.encode(totalBytes, forKey: .totalBytes)
    try container.encode(totalCount, forKey: .totalCount)
    try container.encode(eventCount, forKey: .eventCount)
    try container.encode(temporaryCount, forKey: .temporaryCount)
    guard let variance else { return }
    for (key, value) in [
      (CodingKeys.persistentBytesMargin, variance.liveBytes),
      (.persistentCountMargin, variance.liveCount), (.transientBytesMargin, variance.freedBytes),
      (.transientCountMargin, variance.freedCount), (.totalBytesMargin, variance.totalBytes),
      (.totalCountMargin, variance.totalCount),
    ] { try container.encode(TallyVariance.wholeMargin(value), forKey: key) }
  }
}
