/// Reads the type that a line of source allocates.
///
/// C and C++ alike: the line says what debug information does not, if the source is at hand.
enum AllocationExpression {
  /// The type in the `new` expression at a column.
  ///
  /// Clang names the column of `new`, GCC that of the last word or bracket of the expression, or one
  /// outside of it.
  ///
  /// - Parameters:
  ///   - line: One line of source.
  ///   - column: Counted from 1; 0 when unknown.
  /// - Returns: `Foo`, `std::pair<int, int>`, `int[]`; nil when there is no such expression, or when
  ///   several may be meant.
  static func typeOfNew(in line: String, column: Int) -> String? {
    // Most lines that are asked have none.
    guard TextSearch.holds(line, "new") else { return nil }
    let expressions = newExpressions(in: line)
    let place = column - 1
    if let exact = expressions.first(where: { $0.range.lowerBound == place }) { return exact.type }
    guard let innermost = expressions.last(where: { $0.range.contains(place) }) else {
      return column > 0 && endsEarlierLine(line, at: place) ? nil : common(expressions)
    }
    // GCC gives `new int` the place of the call that it is an argument of.
    let hasVague = expressions.contains {
      $0.isVague && innermost.range.contains($0.range.lowerBound)
    }
    return hasVague ? common(expressions) : innermost.type
  }

  /// The one type that all of them name.
  private static func common(_ expressions: [NewExpression]) -> String? {
    let types = Set(expressions.map(\.type))
    return types.count == 1 ? types.first : nil
  }

  /// Whether what closes at a place was opened in a line above.
  private static func endsEarlierLine(_ line: String, at place: Int) -> Bool {
    let bytes = withoutLiterals(line)
    guard place < bytes.count, closing.contains(bytes[place]) else { return false }
    var depth = 0
    for byte in bytes[...place] {
      if opening.contains(byte) { depth += 1 }
      if closing.contains(byte) { depth -= 1 }
    }
    return depth < 0
  }

  // MARK: Expressions

  /// A `new` expression in a line.
  private struct NewExpression {
    var type: String
    /// From `new` to the last bracket or word, or to the end of the line.
    var range: Range<Int>
    /// Whether GCC may give it another place: what has no constructor, and no value either.
    var isVague: Bool
  }

  /// In the order in which they begin.
  private static func newExpressions(in line: String) -> [NewExpression] {
    let bytes = withoutLiterals(line)
    return tokens("new", in: bytes).compactMap { newExpression(at: $0, in: bytes) }
  }

  private static func newExpression(at start: Int, in bytes: [UInt8]) -> NewExpression? {
    var scanner = TextScanner(String(nameBytes: bytes))
    scanner.position = start + 3
    scanner.skipSpaces()
    if scanner.current == UInt8(ascii: "(") {
      skipBrackets(&scanner)  // new (std::nothrow) Foo
      scanner.skipSpaces()
    }
    let type = takeType(&scanner)
    guard isTypeName(type), type != "auto", type != "decltype" else { return nil }
    var isArray = false
    while skipBrackets("[", &scanner) { isArray = true }
    let isScalar =
      type.hasSuffix("*") || type.hasSuffix("_t") || builtIn.contains(type.prefix(before: " "))
    let hasValue = skipBrackets("(", &scanner) || skipBrackets("{", &scanner)
    return NewExpression(
      type: isArray ? "\(type)[]" : type, range: start..<scanner.position,
      isVague: isScalar && !hasValue)
  }

  /// Goes past a group that begins with this bracket, perhaps behind spaces.
  static func skipBrackets(_ bracket: Unicode.Scalar, _ scanner: inout TextScanner) -> Bool {
    var ahead = scanner
    ahead.skipSpaces()
    guard ahead.current == UInt8(ascii: bracket) else { return false }
    skipBrackets(&ahead)
    scanner = ahead
    return true
  }

  /// Goes past the group that begins here; in expressions `<` and `>` compare.
  private static func skipBrackets(_ scanner: inout TextScanner) {
    var depth = 0
    while let byte = scanner.current {
      if opening.contains(byte) { depth += 1 }
      if closing.contains(byte) { depth -= 1 }
      scanner.position += 1
      if depth <= 0 { return }
    }
  }

  static let opening = Array("([{".utf8)
  static let closing = Array(")]}".utf8)

  /// The bytes of a line, with spaces for what is in quotes and comments; nothing of what is behind `//`.
  static func withoutLiterals(_ line: String) -> [UInt8] {
    var bytes = Array(line.utf8)
    var quote: UInt8?
    var position = 0
    while position < bytes.count {
      if quote == nil, isPair("/", "*", at: position, in: bytes) {
        blankComment(&bytes, &position)
        continue
      }
      let byte = bytes[position]
      let isEscape = quote != nil && byte == UInt8(ascii: "\\")
      if quote == nil, isPair("/", "/", at: position, in: bytes) {
        bytes.removeSubrange(position...)
      } else if byte == quote {
        quote = nil
      } else if quote != nil {
        bytes[position] = UInt8(ascii: " ")
      } else if byte == UInt8(ascii: "\"") || isQuote(at: position, in: bytes) {
        quote = byte
      }
      position += 1
      if isEscape, position < bytes.count {
        bytes[position] = UInt8(ascii: " ")
        position += 1
      }
    }
    return bytes
  }

  /// Puts spaces in the place of a comment, which ends with the line at the latest.
  private static func blankComment(_ bytes: inout [UInt8], _ position: inout Int) {
    let start = position
    position += 2
    while position < bytes.count, !isPair("*", "/", at: position, in: bytes) { position += 1 }
    position = min(position + 2, bytes.count)
    for place in start..<position { bytes[place] = UInt8(ascii: " ") }
  }

  /// Whether two bytes stand here: `starts(with:)` took a quarter of the time of packing.
  private static func isPair(
    _ first: Unicode.Scalar, _ second: Unicode.Scalar, at position: Int, in bytes: [UInt8]
  ) -> Bool {
    position + 1 < bytes.count && bytes[position] == UInt8(ascii: first)
      && bytes[position + 1] == UInt8(ascii: second)
  }

  /// Whether a character begins here: an apostrophe within a number, `1'000`, is none.
  private static func isQuote(at position: Int, in bytes: [UInt8]) -> Bool {
    bytes[position] == UInt8(ascii: "'")
      && !(position > 0 && TextScanner.isIdentifier(bytes[position - 1]))
  }

  // MARK: Pieces

  /// The positions at which a word stands.
  static func tokens(_ word: StaticString, in bytes: [UInt8]) -> [Int] {
    let length = word.utf8CodeUnitCount
    var scanner = TextScanner(String(nameBytes: bytes))
    var found: [Int] = []
    while !scanner.isAtEnd {
      if scanner.looksAt(word), !(scanner.previous.map(TextScanner.isIdentifier) ?? false) {
        let end = scanner.position + length
        if end >= bytes.count || !TextScanner.isIdentifier(bytes[end]) {
          found.append(scanner.position)
        }
      }
      scanner.position += 1
    }
    return found
  }

  private static func takeType(_ scanner: inout TextScanner) -> String {
    let start = scanner.position
    while let byte = scanner.current {
      if byte == UInt8(ascii: "<") {
        _ = scanner.skipGroup()
      } else if scanner.skip("::") {
        continue
      } else if TextScanner.isIdentifier(byte) || " *".utf8.contains(byte) {
        scanner.position += 1
      } else {
        break
      }
    }
    let isEnd = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    while scanner.position > start, scanner.previous.map(isEnd) ?? false { scanner.position -= 1 }
    return trimmed(String(nameBytes: scanner.bytes[start..<scanner.position]))
  }

  static func isTypeName(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    return TextScanner.isIdentifier(first) && !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first)
  }

  /// Whether the operand of `sizeof` is a type, as far as its spelling tells: not a variable.
  static func looksLikeType(_ text: String) -> Bool {
    guard isTypeName(text), !text.contains(where: { "[](.+-".contains($0) }) else { return false }
    let first = text.prefix(before: " ")
    if elaborated.contains(first) || builtIn.contains(first.prefix(before: "*")) { return true }
    return text.contains("::") || text.hasSuffix("_t") || text.hasSuffix("*")
      || (text.first?.isUppercase ?? false) && text != text.uppercased()
  }

  /// Whether a type is a number or a character, as far as its spelling tells.
  static func isScalar(_ type: String) -> Bool {
    let words = type.split(separator: " ").filter { $0 != "const" && $0 != "volatile" }
    guard let first = words.first, !type.hasSuffix("*") else { return false }
    return builtIn.contains(String(first)) || words.count == 1 && scalars.contains(String(first))
  }

  private static let scalars: Set<String> = [
    "size_t", "ssize_t", "uintptr_t", "intptr_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t",
    "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "char8_t", "char16_t", "char32_t",
  ]
  private static let elaborated: Set<String> = ["struct", "union", "enum", "const"]
  private static let builtIn: Set<String> = [
    "char", "short", "int", "long", "float", "double", "unsigned", "signed", "bool", "wchar_t",
  ]

  static func trimmed(_ text: String) -> String {
    var text = Substring(text)
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
