enum CxxNames {
  static func short(_ name: String) -> String { name }
  static func withoutParameters(_ name: String) -> String { name }
}
