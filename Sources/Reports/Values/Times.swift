/// Times as text.
///
/// All arguments are nanoseconds since the recording began.
public enum TimeText {
  /// A point in time as Instruments writes it: `MM:SS.mmm.uuu`; minutes may exceed two digits.
  public static func timestamp(_ nanoseconds: UInt64) -> String {
    let micros = nanoseconds / 1000
    let minutes = String(micros / 60_000_000).leftPadded(to: 2, with: "0")
    let seconds = String(micros / 1_000_000 % 60).leftPadded(to: 2, with: "0")
    let milli = String(micros / 1000 % 1000).leftPadded(to: 3, with: "0")
    let micro = String(micros % 1000).leftPadded(to: 3, with: "0")
    return "\(minutes):\(seconds).\(milli).\(micro)"
  }

  /// A length of time in the unit that suits: `830 ns`, `45.2 µs`, `1.234 s`, `2 min 03 s`.
  public static func duration(_ nanoseconds: UInt64) -> String {
    switch nanoseconds {
    case ..<1000: return "\(nanoseconds) ns"
    case ..<1_000_000: return "\(decimal(nanoseconds, unit: 1000, digits: 1)) µs"
    case ..<1_000_000_000: return "\(decimal(nanoseconds, unit: 1_000_000, digits: 1)) ms"
    case ..<60_000_000_000: return "\(decimal(nanoseconds, unit: 1_000_000_000, digits: 3)) s"
    case ..<3_600_000_000_000:
      let seconds = nanoseconds / 1_000_000_000
      return "\(seconds / 60) min \(String(seconds % 60).leftPadded(to: 2, with: "0")) s"
    default:
      let minutes = nanoseconds / 60_000_000_000
      return "\(minutes / 60) h \(String(minutes % 60).leftPadded(to: 2, with: "0")) min"
    }
  }

  /// Cut, not rounded: a duration never reads longer than it was.
  private static func decimal(_ value: UInt64, unit: UInt64, digits: Int) -> String {
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    let fraction = value % unit * scale / unit
    return "\(value / unit).\(String(fraction).leftPadded(to: digits, with: "0"))"
  }
}
