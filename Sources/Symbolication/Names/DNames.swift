/// What readable names of D tell.
enum DNames {
  /// Drops parameter lists and the qualifiers behind them: `app.Pool!(int).get(ulong) const` -> `app.Pool!(int).get`.
  static func withoutParameters(_ name: String) -> String {
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      guard byte == UInt8(ascii: "("), !result.isEmpty else {
        result.append(byte)
        scanner.position += 1
        continue
      }
      let start = scanner.position
      _ = scanner.skipGroup()
      if result.last == UInt8(ascii: "!") {
        result += scanner.bytes[start..<scanner.position]
      } else {
        while scanner.skip(" const") || scanner.skip(" immutable") || scanner.skip(" inout")
          || scanner.skip(" shared")
        {}
      }
    }
    return String(nameBytes: result)
  }

  /// Whether a function is part of the runtime or of the standard library.
  static func isOfStandardLibrary(_ base: String) -> Bool {
    modules.contains(where: base.hasPrefix)
  }

  private static let modules = ["core.", "rt.", "std.", "object.", "etc.", "gcc.", "ldc."]
}
