/// A moment as the trace stores it: ticks of the recorder's clock, shifted.
///
/// ``TraceClock`` turns it into nanoseconds since the start of the recording.
public struct EventTime: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number that stands in the trace.
  public var rawValue: UInt64

  /// Takes the number that stands in the trace.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Creates a time from its number.
  @inlinable
  public init(_ rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Before everything.
  public static let distantPast = EventTime(0)

  /// After everything.
  public static let distantFuture = EventTime(.max)

  /// Compares by number.
  public static func < (left: EventTime, right: EventTime) -> Bool {
    left.rawValue < right.rawValue
  }
}
