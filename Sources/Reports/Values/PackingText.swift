/// What packing saves, in words.
public enum PackingText {
  /// `1.42 bytes per event`; `no events` where there are none.
  public static func perEvent(_ bytes: UInt64, _ events: UInt64) -> String {
    guard events > 0 else { return "no events" }
    let hundredths = UInt64((Double(bytes) / Double(events) * 100).rounded())
    let fraction = String(hundredths % 100).leftPadded(to: 2, with: "0")
    return "\((hundredths / 100).grouped).\(fraction) bytes per event"
  }
}
