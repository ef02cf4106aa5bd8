/// Writes the type of a captured value the way programs do.
///
/// What closures capture has the form of the compiler's intermediate language, with conventions and
/// with errors among the results: `@escaping @callee_guaranteed @async (@unowned Swift.Int) ->
/// (@out Swift.String, @error @owned Swift.Error)` becomes
/// `(Swift.Int) async throws -> Swift.String`, and `{ var Swift.Int }` becomes `var Swift.Int`.
struct CapturedTypes {
  private var scanner: TextScanner
  /// How many types this one is in.
  private var depth = 0
  private static let deepest = 64

  /// - Parameter name: A demangled type.
  /// - Returns: The name as it is where it has another form.
  static func written(_ name: String) -> String {
    var types = CapturedTypes(scanner: TextScanner(withoutBox(name)))
    let text = types.list().map(\.text).joined(separator: ", ")
    return types.scanner.isAtEnd ? text : name
  }

  private init(scanner: TextScanner) {
    self.scanner = scanner
  }

  /// A type on its way.
  private struct Written {
    var text = ""
    var isError = false
    var isAsync = false
    /// What stands in parentheses, when nothing stands around them.
    var group: [Written]?
  }

  /// `<A> { var Box<A> } <Swift.Int>` is a box in a generic function, `<A><A1> { … } <…>` one in a
  /// generic function of a generic type.
  private static func withoutBox(_ name: String) -> String {
    var scanner = TextScanner(name)
    var parameters: [String] = []
    while scanner.current == UInt8(ascii: "<") {
      let signature = String(nameBytes: scanner.skipGroup()).prefix(before: " where ")
      parameters += elements(of: signature).map(withoutEach)
      _ = scanner.skip(" ")
    }
    guard scanner.looksAt("{ ") else { return name }
    let group = String(nameBytes: scanner.skipGroup())
    let content = String(group.dropFirst().dropLast(group.hasSuffix(" ") ? 1 : 0))
    guard scanner.skip(" <") else { return content }
    scanner.position -= 1
    let arguments = elements(of: String(nameBytes: scanner.skipGroup()))
    return GenericParameters.replacing(parameters, by: arguments, in: content)
  }

  /// `each A` is a pack of types, which is called `A` where it is repeated.
  private static func withoutEach(_ parameter: String) -> String {
    parameter.hasPrefix("each ") ? String(parameter.dropFirst(5)) : parameter
  }

  /// What stands between the commas of a list.
  private static func elements(of list: String) -> [String] {
    var scanner = TextScanner(list)
    var elements: [String] = []
    var start = 0
    while let byte = scanner.current {
      if TextScanner.isOpening(byte) {
        _ = scanner.skipGroup()
      } else if scanner.skip(", ") {
        elements.append(String(nameBytes: scanner.bytes[start..<(scanner.position - 2)]))
        start = scanner.position
      } else {
        scanner.position += 1
      }
    }
    return elements + [String(nameBytes: scanner.bytes[start...])]
  }

  /// Up to the end of the text or of the group around it, or to a comma.
  private mutating func type() -> Written {
    var written = Written()
    depth += 1
    defer { depth -= 1 }
    while depth < Self.deepest, let byte = scanner.current, byte != UInt8(ascii: ",") {
      if TextScanner.isClosing(byte), !scanner.isArrow { break }
      if byte == UInt8(ascii: "@") {
        skipConvention(of: &written)
      } else if TextScanner.isOpening(byte) {
        guard addGroup(byte, to: &written) else { break }
      } else {
        written.group = nil
        add(byte, to: &written)
      }
    }
    return written
  }

  private mutating func add(_ byte: UInt8, to written: inout Written) {
    var bytes = [byte]
    scanner.position += 1
    while let next = scanner.current, TextScanner.isIdentifier(next) {
      bytes.append(next)
      scanner.position += 1
    }
    written.text += String(nameBytes: bytes)
  }

  /// Of `@convention(c)` and the like a group belongs to the word; parameters of a function stand
  /// behind a space.
  private mutating func skipConvention(of written: inout Written) {
    scanner.position += 1
    let start = scanner.position
    while let next = scanner.current, TextScanner.isIdentifier(next) { scanner.position += 1 }
    let word = String(nameBytes: scanner.bytes[start..<scanner.position])
    written.isAsync = written.isAsync || word == "async"
    written.isError = written.isError || word == "error"
    if scanner.current == UInt8(ascii: "(") { _ = scanner.skipGroup() }
    _ = scanner.skip(" ")
  }

  /// - Returns: false for a group without end.
  private mutating func addGroup(_ opening: UInt8, to written: inout Written) -> Bool {
    let elements = group()
    guard let closing = scanner.current, TextScanner.isClosing(closing) else { return false }
    scanner.position += 1
    if opening == UInt8(ascii: "{"), written.text == "Pack" || written.text == "repeat Pack" {
      return addPack(elements, to: &written)
    }
    let isWhole = written.text.isEmpty && opening == UInt8(ascii: "(")
    if isWhole, scanner.skip(" -> ") {
      written.text = Self.function(elements, isAsync: written.isAsync, result: type())
    } else {
      let content = elements.map(\.text).joined(separator: ", ")
      written.text += String(nameBytes: [opening] + Array(content.utf8) + [closing])
      written.group = isWhole ? elements : nil
    }
    return true
  }

  /// The values of a pack are those of a tuple: `() -> Pack{A, B}` becomes `() -> (A, B)`, and
  /// `(repeat Pack{A, B})` becomes `(A, B)`.
  private func addPack(_ elements: [Written], to written: inout Written) -> Bool {
    let content = elements.map(\.text).joined(separator: ", ")
    written.text = written.text == "Pack" ? "(\(content))" : content
    return true
  }

  private mutating func group() -> [Written] {
    scanner.position += 1
    if let byte = scanner.current, TextScanner.isClosing(byte) { return [] }
    return list()
  }

  private mutating func list() -> [Written] {
    var elements: [Written] = []
    repeat { elements.append(type()) } while scanner.skip(", ")
    return elements
  }

  private static func function(
    _ parameters: [Written], isAsync: Bool, result: Written
  ) -> String {
    let results = result.group ?? [result]
    let values = results.filter { !$0.isError }.map(\.text)
    let errors = results.filter(\.isError).map(\.text)
    let effect = errors.first.map { $0 == "Swift.Error" ? " throws" : " throws(\($0))" } ?? ""
    let value = values.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))"
    // Whose actor an async function runs on is no parameter in the source.
    let own = parameters.map(\.text).filter { $0 != "Builtin.ImplicitActor" }
    return "(\(own.joined(separator: ", ")))\(isAsync ? " async" : "")\(effect) -> \(value)"
  }
}
