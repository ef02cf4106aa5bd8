/// When events may be missing that were recorded: their part of the file is cut off or damaged.
///
/// Between the two moments there may be others that are there.
public struct LostTimes: Hashable, Sendable {
  /// No event before this moment is missing, nor one that stands before the missing ones.
  public var first: EventTime
  /// No event after this moment is missing.
  public var last: EventTime

  /// Creates lost times.
  public init(from first: EventTime, through last: EventTime = .distantFuture) {
    self.first = first
    self.last = last
  }

  /// Whether what the trace says of an address need not be true: an event may be missing between
  /// the last one that it has and another moment.
  public func reach(from last: EventTime, to moment: EventTime) -> Bool {
    last <= self.last && first < moment
  }
}

extension Coverage {
  /// Adds times at which events may be missing.
  mutating func add(_ lost: LostTimes) {
    let known = lostTimes ?? lost
    lostTimes = LostTimes(
      from: min(known.first, lost.first), through: max(known.last, lost.last))
  }
}
