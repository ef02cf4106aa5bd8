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
    if entity == "partial apply forwarder" { return entity }
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
  static func withoutDiscriminators(_ name: String) -> String {
    guard name.contains(" in _") else { return name }
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      let start = scanner.position
      if scanner.skipQuoted() {
        result += scanner.bytes[start..<scanner.position]
        continue
      }
      if byte == UInt8(ascii: "(") {
        scanner.position += 1
        if !scanner.skipName() { skipOperator(&scanner) }
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

  private static func skipOperator(_ scanner: inout TextScanner) {
    while let byte = scanner.current, !" ().".utf8.contains(byte) { scanner.position += 1 }
  }

  /// Drops what says how the optimizer made the function, not what it is.
  ///
  /// - Parameter name: A demangled name.
  /// - Returns: What is left, and whether it is one of several functions with the same code.
  static func withoutWrappers(_ name: String) -> (entity: String, isMerged: Bool) {
    var scanner = TextScanner(name)
    var isMerged = false
    while true {
      if scanner.skip("merged ") {
        isMerged = true
      } else if !(scanner.skip("@objc ") || scanner.skip("dynamic ") || scanner.skip("@nonobjc ")
        || scanner.skip("async function pointer to ") || scanner.skip("coro function pointer to ")
        || skipSpecialization(&scanner)
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
      let list = scanner.position
      skipList(&scanner)
      if scanner.skip(" of ") { return true }
      // A text that was propagated may have any brackets.
      scanner.position = list
      while !scanner.isAtEnd {
        if scanner.skip("> of ") { return true }
        scanner.position += 1
      }
    }
    scanner.position = start
    return false
  }

  /// Goes past `<…>`, in which other brackets may be left open: the demangler does so behind
  /// `[Closure Propagated : …, Argument Types : […]`.
  private static func skipList(_ scanner: inout TextScanner) {
    var open: [UInt8] = []
    while let byte = scanner.current {
      if scanner.skipQuoted() { continue }
      if TextScanner.isOpening(byte) {
        open.append(byte)
      } else if TextScanner.isClosing(byte), !(byte == UInt8(ascii: ">") && scanner.isArrow),
        let last = open.lastIndex(where: { TextScanner.closing(of: $0) == byte })
      {
        open.removeSubrange(last...)
      }
      scanner.position += 1
      if open.isEmpty { return }
    }
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
    ("property wrapper backing initializer of ", "property wrapper initializer of "),
    ("property wrapper init from projected value of ", "property wrapper initializer of "),
    ("property wrapped field init accessor of ", "property wrapper initializer of "),
    ("key path getter for ", "key path getter for "),
    ("key path setter for ", "key path setter for "),
    ("one-time initialization function for ", "one-time initialization of "),
    ("variable initialization expression of ", "initial value of "),
    ("dispatch thunk of ", ""), ("method lookup function for ", ""),
    ("curry thunk of ", ""), ("vtable thunk for ", ""), ("distributed thunk ", ""),
    ("back deployment thunk for ", ""), ("back deployment fallback for ", ""),
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
  static func split(_ entity: String) -> [String] {
    var scanner = TextScanner(entity)
    var parts: [String] = []
    var start = 0
    while let byte = scanner.current {
      if scanner.skipQuoted() { continue }
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
    for prefix in keptPrefixes where part.hasPrefix(prefix.text) {
      return prefix.replacement + shortenPart(String(part.dropFirst(prefix.text.count)))
    }
    if part.hasPrefix("default argument "), let of = part.firstRange(of: " of ") {
      return part[..<of.upperBound] + shortenPart(String(part[of.upperBound...]))
    }
    return SwiftPath.shorten(part)
  }

  // MARK: Types

  /// Drops the first component of each dotted path.
  static func withoutModules(_ text: String) -> String {
    var scanner = TextScanner(text)
    var result: [UInt8] = []
    while let byte = scanner.current {
      var start = scanner.position
      let isBehindDot = scanner.previous == UInt8(ascii: ".")
      guard scanner.skipName() else {
        result.append(byte)
        scanner.position += 1
        continue
      }
      let isModule = scanner.current == UInt8(ascii: ".") && !scanner.looksAt("...")
      if !isBehindDot, isModule {
        scanner.position += 1
        start = scanner.position
        _ = scanner.skipName()
      }
      result += scanner.bytes[start..<scanner.position]
    }
    return String(nameBytes: result)
  }
}
