enum SwiftNames {
  static func isMangled(_ symbol: String) -> Bool { symbol.hasPrefix("$s") }
  static func short(_ name: String) -> String { name }
  static func withoutLabels(_ name: String) -> String { name }
  static func isOfStandardLibrary(raw: String, full: String) -> Bool { false }
}
