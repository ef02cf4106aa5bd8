/// Parts of a whole as text.
enum ShareText {
  /// A part of a whole in percent with one decimal, such as `61.4 %`; of nothing it is `0.0 %`.
  static func percent(_ part: UInt64, of whole: UInt64) -> String {
    let tenths = whole == 0 ? 0 : (Double(part) / Double(whole) * 1000).rounded()
    let value = UInt64(exactly: tenths) ?? 0
    return "\(value / 10).\(value % 10) %"
  }

  /// A part of a whole in whole percent, such as `61 %`.
  static func wholePercent(_ part: UInt64, of whole: UInt64) -> String {
    let value = whole == 0 ? 0 : (Double(part) / Double(whole) * 100).rounded()
    return "\(UInt64(exactly: value) ?? 0) %"
  }

  /// The bar of the Transient/Total column: solid for what is still live, light for what was freed.
  ///
  /// Nothing allocated gives an empty text; a part that is not zero gets at least one cell.
  static func bar(persistent: UInt64, total: UInt64, width: Int) -> String {
    guard total > 0, width > 0 else { return "" }
    let share = Double(min(persistent, total)) / Double(total) * Double(width)
    var solid = Int(share.rounded())
    if persistent > 0 { solid = max(1, solid) }
    if persistent < total { solid = min(width - 1, solid) }
    return String(repeating: "█", count: solid) + String(repeating: "░", count: width - solid)
  }
}
