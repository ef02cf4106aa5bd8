import TraceReader

/// Writes the names of Swift types the way Swift programs do.
enum SwiftTypeNames {
  /// The name of a class: what the standard library keeps in blocks is called by what it is for.
  ///
  /// `Swift._ContiguousArrayStorage<Swift.Int>` becomes `Array<Int> storage`.
  static func ofClass(_ name: String) -> String {
    let short = withoutStandardModule(name)
    for (prefix, replacement) in storages where short.hasPrefix(prefix) {
      return "\(replacement)\(short.dropFirst(prefix.count)) storage"
    }
    return short
  }

  /// Whether a symbol is that of the metadata of a class of Embedded Swift: `$e3app4NodeCN`.
  static func isEmbeddedMetadata(_ symbol: String) -> Bool {
    symbol.hasPrefix("$e") && symbol.hasSuffix("N")
  }

  /// The class whose metadata in Embedded Swift have a symbol.
  static func ofEmbeddedMetadata(_ symbol: String) -> TypeName? {
    guard isEmbeddedMetadata(symbol) else { return nil }
    let (name, prefix) = (Demangler.name(of: symbol).full, "type metadata for ")
    guard name.hasPrefix(prefix) else { return nil }
    let full = String(name.dropFirst(prefix.count))
    return TypeName(short: ofClass(full), full: full, language: .swift)
  }

  /// The name of a box: `Box<Int>`.
  static func ofBox(_ content: String) -> String {
    "Box<\(withoutStandardModule(content))>"
  }

  /// The name of a box that holds an error.
  static func ofError(_ content: String) -> String {
    "Error box<\(withoutStandardModule(content))>"
  }

  /// The name of a closure context, from the mangled names of what it holds.
  ///
  /// A block with one plain value is what a captured variable or an indirect case of an enum lives
  /// in; the compiler makes both the same way.
  ///
  /// - Parameter captures: `[MANGLED]` for each value; empty where the type is not known.
  /// - Returns: `Box<Int>` or `Closure context {var Int, app.Leaf}`.
  static func ofCaptures(_ captures: String) -> String {
    let names = SwiftCaptureLayout.types(captures).map(capture)
    if names.isEmpty { return "Closure context" }
    if names.count == 1, let name = names[0], isPlain(name) { return "Box<\(name)>" }
    return "Closure context {\(names.map { $0 ?? "?" }.joined(separator: ", "))}"
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.contains(" -> ") && !name.hasPrefix("weak ") && !name.hasPrefix("unowned")
      && !name.hasPrefix("var ")
  }

  /// The type of a captured value with all modules; nil where it is not known.
  static func wholeName(ofCapture mangled: String) -> String? {
    guard !mangled.isEmpty else { return nil }
    let name = Demangler.name(of: "$s\(mangled)D")
    return name.language == .swift ? CapturedTypes.written(name.full) : nil
  }

  private static func capture(_ mangled: String) -> String? {
    guard let type = wholeName(ofCapture: mangled) else { return nil }
    // Only an associated type has these letters in its mangling, for all that a module may be called.
    let hasMembers = mangled.contains("Q")
    return withoutStandardModule(
      GenericParameters.lettered(
        hasMembers ? GenericParameters.withoutProtocols(type) : type, hasMembers: hasMembers))
  }

  /// Drops `Swift.` in front of the standard library's types, and what the compiler calls the module of those that are
  /// imported from C: `__C.sockaddr_in`.
  static func withoutStandardModule(_ name: String) -> String {
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      let isStart = scanner.previous.map { !TextScanner.isIdentifier($0) && $0 != dot } ?? true
      if isStart, scanner.skip("Swift.") || scanner.skip("__C.") { continue }
      result.append(byte)
      scanner.position += 1
    }
    return String(nameBytes: result)
  }

  private static let dot = UInt8(ascii: ".")

  private static let storages = [
    ("_ContiguousArrayStorage", "Array"), ("_DictionaryStorage", "Dictionary"),
    ("_SetStorage", "Set"), ("__StringStorage", "String"),
  ]
}
