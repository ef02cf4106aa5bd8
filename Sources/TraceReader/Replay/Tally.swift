/// Counts and requested bytes of a set of allocations.
public struct Tally: Hashable, Sendable {
  /// All allocations, freed ones included.
  public var totalCount: UInt64 = 0
  /// Their requested bytes.
  public var totalBytes: UInt64 = 0
  /// Transient allocations: allocated and freed.
  public var freedCount: UInt64 = 0
  /// Their requested bytes.
  public var freedBytes: UInt64 = 0
  /// Allocations that were freed by the same thread almost at once.
  public var temporaryCount: UInt64 = 0
  /// Blocks live when the live bytes of the whole process were greatest.
  public var peakCount: UInt64 = 0
  /// Their requested bytes.
  public var peakBytes: UInt64 = 0

  /// Creates an empty tally.
  public init() {}

  /// Persistent allocations: not freed.
  public var liveCount: UInt64 { totalCount &- freedCount }

  /// Requested bytes of persistent allocations.
  public var liveBytes: UInt64 { totalBytes &- freedBytes }

  /// Allocations and deallocations together.
  public var events: UInt64 { liveCount &+ 2 &* freedCount }

  /// Adds another set of allocations.
  public static func += (left: inout Tally, right: Tally) {
    left.totalCount &+= right.totalCount
    left.totalBytes &+= right.totalBytes
    left.freedCount &+= right.freedCount
    left.freedBytes &+= right.freedBytes
    left.temporaryCount &+= right.temporaryCount
    left.peakCount &+= right.peakCount
    left.peakBytes &+= right.peakBytes
  }

  /// The sum of two sets of allocations.
  public static func + (left: Tally, right: Tally) -> Tally {
    var sum = left
    sum += right
    return sum
  }
}
