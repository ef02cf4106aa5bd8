/// Shortens the text that `swift_demangle` gives, which spells out every module and type.
///
/// `closure #1 (Swift.Int) -> Swift.Int in t.Foo.bar(t.Foo) -> ()` becomes
/// `closure #1 in Foo.bar(_:)`.
enum SwiftNameShortener {
  static func shorten(_ name: String) -> String {
    SwiftMacroNames.readable(shortenEntity(withoutDiscriminators(name)))
  }

  private static func shortenEntity(_ name: String) -> String {
    let (entity, isMerged) = withoutWrappers(name)
    let short = shortenBare(entity)
    let isMarked = short.hasSuffix(FunctionName.mergedMark)
    return isMerged && !isMarked ? short + FunctionName.mergedMark : short
  }

  private static func shortenBare(_ entity: String) -> String {
    if entity.hasPrefix("reabstraction thunk") { return "reabstraction thunk" }
    if typePrefixes.contains(where: entity.hasPrefix) || entity.contains(" value witness for ") {
      return withoutModules(entity)
    }
    for prefix in keptPrefixes where entity.hasPrefix(prefix.text) {
      return prefix.replacement + shortenEntity(String(entity.dropFirst(prefix.text.count)))
    }
    if let unique = SwiftMacroNames.unique(entity) { return unique }
    let parts = split(withoutLocalResult(entity))
    if let macro = parts.firstIndex(where: { SwiftMacroNames.use($0) != nil }) {
      return (parts[..<macro].map(shortenPart) + [SwiftMacroNames.use(parts[macro]) ?? ""])
        .joined(separator: " in ")
    }
    if let conformance = parts.firstIndex(where: { $0.hasPrefix("conformance ") }) {
      return parts[..<conformance].map(shortenPart).joined(separator: " in ")
        + " in " + withoutModules(parts[conformance].prefix(before: " : "))
    }
    return parts.map(shortenPart).joined(separator: " in ")
  }

  /// `__allocating_init() -> Local #1 in app.f() -> () in Local #1 in app.f() -> ()`: what makes a
  /// local type says the type twice.
  private static func withoutLocalResult(_ entity: String) -> String {
    guard let arrow = entity.firstRange(of: " -> ") else { return entity }
    let types = entity[arrow.upperBound...]
    let middle = types.utf8.count / 2
    guard types.utf8.count % 2 == 0, middle >= 2 else { return entity }
    let bytes = Array(types.utf8)
    guard bytes[..<(middle - 2)] == bytes[(middle + 2)...],
      bytes[(middle - 2)..<(middle + 2)].elementsEqual(" in ".utf8)
    else { return entity }
    return String(entity[..<arrow.lowerBound]) + " in "
      + String(nameBytes: bytes[..<(middle - 2)])
  }

  // MARK: Wrappers

  /// `(helper in _2E3D4F)`, which is private to a file, -> `helper`.
  private static func withoutDiscriminators(_ name: String) -> String {
    guard name.contains(" in _") else { return name }
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      let start = scanner.position
      if byte == UInt8(ascii: "(") {
        scanner.position += 1
        while let next = scanner.current, TextScanner.isIdentifier(next) { scanner.position += 1 }
        let hidden = scanner.bytes[(start + 1)..<scanner.position]
        if !hidden.isEmpty, scanner.skip(" in _") {
          while let next = scanner.current, TextScanner.isIdentifier(next) { scanner.position += 1 }
          if scanner.skip(")") {
            result += hidden
            continue
          }
        }
      }
      result.append(byte)
      scanner.position = start + 1
    }
    return String(nameBytes: result)
  }

  /// Drops what says how the optimizer made the function, not what it is.
  ///
  /// - Parameter name: A demangled name.
  /// - Returns: What is left, and whether it is one of several functions with the same code.
  private static func withoutWrappers(_ name: String) -> (entity: String, isMerged: Bool) {
    var scanner = TextScanner(name)
    var isMerged = false
    while true {
      if scanner.skip("merged ") {
        isMerged = true
      } else if !(scanner.skip("@objc ") || scanner.skip("dynamic ") || scanner.skip("@nonobjc ")
        || scanner.skip("async function pointer to ") || skipSpecialization(&scanner)
        || skipAsyncPart(&scanner))
      {
        break
      }
    }
    let entity = String(nameBytes: scanner.bytes[scanner.position...])
    return (entity.prefix(before: " with unmangled suffix "), isMerged)
  }

  /// Goes past `generic specialization <…> of ` and its like.
  private static func skipSpecialization(_ scanner: inout TextScanner) -> Bool {
    let start = scanner.position
    while let byte = scanner.current, byte != UInt8(ascii: "<") {
      guard TextScanner.isIdentifier(byte) || byte == 0x20 || byte == UInt8(ascii: "-") else {
        break
      }
      scanner.position += 1
    }
    let words = String(nameBytes: scanner.bytes[start..<scanner.position])
    if scanner.current == UInt8(ascii: "<"),
      words.hasSuffix("specialization ") || words == "inlined generic function "
    {
      _ = scanner.skipGroup()
      if scanner.skip(" of ") { return true }
    }
    scanner.position = start
    return false
  }

  /// Goes past `(2) suspend resume partial function for `.
  private static func skipAsyncPart(_ scanner: inout TextScanner) -> Bool {
    guard scanner.looksAt("(") else { return false }
    let start = scanner.position
    let number = scanner.skipGroup()
    let isNumber = !number.isEmpty && number.allSatisfy { (0x30...0x39).contains($0) }
    if isNumber,
      scanner.skip(" suspend resume partial function for ")
        || scanner.skip(" await resume partial function for ")
    {
      return true
    }
    scanner.position = start
    return false
  }

  private static let keptPrefixes: [(text: String, replacement: String)] = [
    ("partial apply forwarder for ", "partial apply for "), ("static ", "static "),
    ("protocol witness for ", "protocol witness for "),
    ("default argument ", "default argument "),
    ("one-time initialization function for ", "one-time initialization of "),
    ("variable initialization expression of ", "initial value of "),
    ("dispatch thunk of ", ""), ("method lookup function for ", ""),
    ("curry thunk of ", ""), ("vtable thunk for ", ""),
  ]

  /// Forms that speak of types only.
  private static let typePrefixes = [
    "outlined ", "type metadata ", "lazy protocol witness table ", "generic type metadata ",
    "protocol witness table ", "associated type ", "associated conformance ", "value witness ",
    "demangling cache variable ", "destroy ", "assignWithCopy ", "initializeWithCopy ",
    "protocol conformance descriptor ", "nominal type descriptor ", "default associated ",
  ]

  // MARK: Parts

  /// Splits at `in` outside of brackets: a function and what it is nested in.
  private static func split(_ entity: String) -> [String] {
    var scanner = TextScanner(entity)
    var parts: [String] = []
    var start = 0
    while let byte = scanner.current {
      if byte == UInt8(ascii: " "), scanner.looksAt(" in ") {
        parts.append(String(nameBytes: scanner.bytes[start..<scanner.position]))
        scanner.position += 4
        start = scanner.position
      } else if isGroup(at: scanner) {
        _ = scanner.skipGroup()
      } else {
        scanner.position += 1
      }
    }
    parts.append(String(nameBytes: scanner.bytes[start...]))
    return parts
  }

  /// Whether a bracket opens here; `<` behind a dot is an operator.
  private static func isGroup(at scanner: TextScanner) -> Bool {
    guard let byte = scanner.current, TextScanner.isOpening(byte) else { return false }
    guard byte == UInt8(ascii: "<") else { return true }
    return scanner.previous.map { TextScanner.isIdentifier($0) || $0 == UInt8(ascii: " ") } ?? false
  }

  private static func shortenPart(_ part: String) -> String {
    if part.hasPrefix("static ") { return "static " + shortenPart(String(part.dropFirst(7))) }
    if part.hasPrefix("default argument ") { return SwiftPath.defaultArgument(part) }
    return SwiftPath.shorten(part)
  }

  // MARK: Types

  /// Drops the first component of each dotted path.
  static func withoutModules(_ text: String) -> String {
    var scanner = TextScanner(text)
    var result: [UInt8] = []
    while let byte = scanner.current {
      guard TextScanner.isIdentifier(byte), scanner.previous != UInt8(ascii: ".") else {
        result.append(byte)
        scanner.position += 1
        continue
      }
      let start = scanner.position
      while let next = scanner.current, TextScanner.isIdentifier(next) { scanner.position += 1 }
      let isModule = scanner.current == UInt8(ascii: ".") && !scanner.looksAt("...")
      if isModule {
        scanner.position += 1
        while let next = scanner.current, TextScanner.isIdentifier(next) {
          result.append(next)
          scanner.position += 1
        }
      } else {
        result += scanner.bytes[start..<scanner.position]
      }
    }
    return String(nameBytes: result)
  }
}

extension String {
  /// The text before the first `separator`, or all of it.
  func prefix(before separator: String) -> String {
    guard let found = self.firstRange(of: separator) else { return self }
    return String(self[..<found.lowerBound])
  }
}
