/// Shortens one function's part of a demangled Swift name: its path, labels and signature.
enum SwiftPath {
  /// `t.Foo.bar(x: Swift.Int, Swift.Int) throws -> ()` -> `Foo.bar(x:_:)`.
  static func shorten(_ part: String) -> String {
    var scanner = TextScanner(part)
    if let closure = closure(&scanner) { return closure }
    var components: [String] = []
    var labels = ""
    while !scanner.isAtEnd {
      if scanner.skip("(extension in ") {
        _ = scanner.skip(" ")
        while let byte = scanner.current, byte != UInt8(ascii: ")") { scanner.position += 1 }
        _ = scanner.skip("):")
      }
      guard let component = component(&scanner) else { break }
      components.append(component)
      if scanner.looksAt("<") { _ = scanner.skipGroup() }
      skipNumber(&scanner)
      if scanner.looksAt("<") { _ = scanner.skipGroup() }
      // Of a function that may be called on any thread the demangler says so between name and parameters;
      // what macros write goes by the name of the macro alone.
      if !component.hasPrefix("$s") { _ = scanner.skip("@Sendable ") }
      if scanner.looksAt("(") {
        labels = self.labels(scanner.skipGroup())
        break
      }
      guard scanner.skip(".") else { break }
    }
    guard let first = components.first, !isText(components, labels, scanner) else {
      return SwiftNameShortener.withoutModules(part)
    }
    let path = components.count > 1 ? components.dropFirst().joined(separator: ".") : first
    return path + labels
  }

  /// Whether a word of a text that is no path was taken for one, as in `getter of x #1 : Swift.Int`.
  private static func isText(
    _ components: [String], _ labels: String, _ scanner: TextScanner
  ) -> Bool {
    components.count == 1 && labels.isEmpty && scanner.looksAt(" ") && !scanner.looksAt(" : ")
      && !scanner.looksAt(" -> ") && !scanner.looksAt(" #")
  }

  /// `closure #1 (Swift.Int) -> Swift.Int` -> `closure #1`.
  private static func closure(_ scanner: inout TextScanner) -> String? {
    guard scanner.looksAt("closure #") || scanner.looksAt("implicit closure #") else { return nil }
    while let byte = scanner.current, byte != UInt8(ascii: "#") { scanner.position += 1 }
    scanner.position += 1
    while let byte = scanner.current, (0x30...0x39).contains(byte) { scanner.position += 1 }
    return String(nameBytes: scanner.bytes[..<scanner.position])
  }

  /// One name between dots: an identifier or an operator.
  private static func component(_ scanner: inout TextScanner) -> String? {
    guard let byte = scanner.current, byte != UInt8(ascii: "(") else { return nil }
    let start = scanner.position
    if scanner.skipName() { return String(nameBytes: scanner.bytes[start..<scanner.position]) }
    while let next = scanner.current, next != UInt8(ascii: " "), next != UInt8(ascii: "(") {
      scanner.position += 1
    }
    guard scanner.position > start else { return nil }
    let name = String(nameBytes: scanner.bytes[start..<scanner.position])
    _ = scanner.skip(" infix") || scanner.skip(" prefix") || scanner.skip(" postfix")
    return name
  }

  /// ` #1 ` behind the name of a local function.
  private static func skipNumber(_ scanner: inout TextScanner) {
    let start = scanner.position
    guard scanner.skip(" #") else { return }
    while let byte = scanner.current, (0x30...0x39).contains(byte) { scanner.position += 1 }
    if !scanner.skip(" ") { scanner.position = start }
  }

  /// `x: Swift.Int, Swift.Int` -> `(x:_:)`.
  private static func labels(_ parameters: ArraySlice<UInt8>) -> String {
    guard !parameters.isEmpty else { return "()" }
    var scanner = TextScanner(String(nameBytes: parameters))
    var result = ""
    var start = 0
    while let byte = scanner.current {
      if byte == UInt8(ascii: ",") {
        result += label(scanner.bytes[start..<scanner.position])
        scanner.position += 1
        if scanner.current == UInt8(ascii: " ") { scanner.position += 1 }
        start = scanner.position
      } else if TextScanner.isOpening(byte) {
        _ = scanner.skipGroup()
      } else if !scanner.skipQuoted() {
        scanner.position += 1
      }
    }
    return "(" + result + label(scanner.bytes[start...]) + ")"
  }

  private static func label(_ parameter: ArraySlice<UInt8>) -> String {
    var scanner = TextScanner(String(nameBytes: parameter))
    guard scanner.skipName(), scanner.looksAt(": ") else { return "_:" }
    return String(nameBytes: scanner.bytes[..<scanner.position]) + ":"
  }
}
