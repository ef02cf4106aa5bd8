/// Converts between event times and nanoseconds since the start of the recording.
///
/// The rate comes from the header: the recorder's known rate, else the two pairs of clock and
/// ticks that it stored. With neither, a tick counts as a nanosecond.
public struct TraceClock: Hashable, Sendable {
  private let startTicks: UInt64
  private let shift: UInt64
  /// The rate is `nanoseconds` per `ticks`, both at least 1.
  private let nanoseconds: UInt64
  private let ticks: UInt64

  /// Creates a clock from the fields of a header.
  public init(header: TraceHeader) {
    startTicks = header.startTicks
    shift = min(header.tickShift, 63)
    let elapsedTicks = header.latestTicks.subtractingReportingOverflow(header.startTicks)
    let elapsedNanoseconds = header.latestMonotonicNanoseconds.subtractingReportingOverflow(
      header.startMonotonicNanoseconds)
    if header.ticksPerSecond > 0 {
      (nanoseconds, ticks) = (1_000_000_000, header.ticksPerSecond)
    } else if !elapsedTicks.overflow, !elapsedNanoseconds.overflow,
      elapsedTicks.partialValue > 0, elapsedNanoseconds.partialValue > 0
    {
      (nanoseconds, ticks) = (elapsedNanoseconds.partialValue, elapsedTicks.partialValue)
    } else {
      (nanoseconds, ticks) = (1, 1)
    }
  }

  /// Nanoseconds from the start of the recording to `time`; 0 for times before the start.
  public func nanoseconds(_ time: EventTime) -> UInt64 {
    let start = startTicks >> shift
    guard time.rawValue > start else { return 0 }
    return Self.scale(Self.shifted(time.rawValue &- start, by: shift), by: nanoseconds, over: ticks)
  }

  /// Nanoseconds between two times; 0 when `end` is before `start`.
  public func nanoseconds(from start: EventTime, to end: EventTime) -> UInt64 {
    let (first, last) = (nanoseconds(start), nanoseconds(end))
    return last > first ? last &- first : 0
  }

  /// The first event time that is not before a number of nanoseconds after the start of the
  /// recording: the last before it would be shown as a nanosecond less.
  public func eventTime(nanoseconds value: UInt64) -> EventTime {
    let elapsed = Self.scale(value, by: ticks, over: nanoseconds, rounding: .up)
    let units = elapsed >> shift &+ (elapsed & ((1 << shift) &- 1) == 0 ? 0 : 1)
    let (sum, overflow) = (startTicks >> shift).addingReportingOverflow(units)
    return EventTime(overflow ? .max : sum)
  }

  /// The length of a span of event time in nanoseconds.
  func span(nanoseconds units: UInt64) -> UInt64 {
    Self.scale(Self.shifted(units, by: shift), by: nanoseconds, over: ticks)
  }

  private static func shifted(_ value: UInt64, by shift: UInt64) -> UInt64 {
    value > UInt64.max >> shift ? .max : value << shift
  }

  /// `value * numerator / denominator`, rounded, and the greatest number on overflow.
  private static func scale(
    _ value: UInt64, by numerator: UInt64, over denominator: UInt64,
    rounding rule: FloatingPointRoundingRule = .down
  ) -> UInt64 {
    let product = value.multipliedFullWidth(by: numerator)
    guard product.high < denominator else { return .max }
    let (quotient, remainder) = denominator.dividingFullWidth(product)
    return rule == .up && remainder > 0 && quotient < .max ? quotient + 1 : quotient
  }
}
