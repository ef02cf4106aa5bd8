enum RustNames {
  static func short(_ name: String) -> String { name }
}
