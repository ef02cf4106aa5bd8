/// Reads the type that a line of source allocates.
///
/// C and C++ alike: the line says what debug information does not, if the source is at hand.
enum AllocationExpression {
  /// The type in the `new` expression at a column.
  ///
  /// Clang names the column of `new`, GCC one inside or behind the expression.
  ///
  /// - Parameters:
  ///   - line: One line of source.
  ///   - column: Counted from 1; 0 when unknown.
  /// - Returns: `Foo`, `std::pair<int, int>`, `int[]`; nil when there is no such expression.
  static func typeOfNew(in line: String, column: Int) -> String? {
    let bytes = Array(line.utf8)
    let starts = tokens("new", in: bytes)
    let limit = column == 0 ? Int.max : column - 1
    guard let start = starts.last(where: { $0 <= limit }) ?? starts.first else { return nil }
    var scanner = TextScanner(String(nameBytes: bytes[(start + 3)...]))
    skipSpaces(&scanner)
    if scanner.current == UInt8(ascii: "(") {
      _ = scanner.skipGroup()  // new (std::nothrow) Foo
      skipSpaces(&scanner)
    }
    let type = takeType(&scanner)
    guard isTypeName(type) else { return nil }
    skipSpaces(&scanner)
    return scanner.current == UInt8(ascii: "[") ? "\(type)[]" : type
  }

  /// The type that a call of `malloc` or its like is cast to or whose size it asks for.
  ///
  /// - Parameter line: One line of source.
  /// - Returns: `Foo`, `struct node`, `Foo[]` where the size is multiplied; nil when neither tells.
  static func typeOfSize(in line: String) -> String? {
    let bytes = Array(line.utf8)
    guard let start = tokens("sizeof", in: bytes).first else { return typeOfCast(in: line) }
    var scanner = TextScanner(String(nameBytes: bytes[(start + 6)...]))
    skipSpaces(&scanner)
    guard scanner.current == UInt8(ascii: "(") else { return typeOfCast(in: line) }
    let operand = trimmed(String(nameBytes: scanner.skipGroup()))
    guard looksLikeType(operand) else { return typeOfCast(in: line) }
    skipSpaces(&scanner)
    let before = trimmed(String(nameBytes: bytes[..<start]))
    let isCounted =
      scanner.current == UInt8(ascii: "*") || before.hasSuffix("*")
      || (before.contains("calloc") && !before.hasSuffix("(1,"))
    return isCounted ? "\(operand)[]" : operand
  }

  /// `(Foo *)malloc(…)`, `static_cast<Foo *>(malloc(…))`.
  private static func typeOfCast(in line: String) -> String? {
    guard let call = line.firstRange(of: "alloc(") else { return nil }
    let before = line[..<call.lowerBound]
    guard let star = before.lastIndex(of: "*") else { return nil }
    let rest = before[before.index(after: star)...]
    guard rest.first(where: { $0 != " " }).map({ ")>".contains($0) }) ?? false else { return nil }
    let head = before[..<star]
    guard let open = head.lastIndex(where: { "(<".contains($0) }) else { return nil }
    let type = trimmed(String(head[head.index(after: open)...]))
    return isTypeName(type) && type != "void" ? type : nil
  }

  // MARK: Pieces

  /// The positions at which a word stands.
  private static func tokens(_ word: StaticString, in bytes: [UInt8]) -> [Int] {
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

  private static func skipSpaces(_ scanner: inout TextScanner) {
    while scanner.current == UInt8(ascii: " ") || scanner.current == UInt8(ascii: "\t") {
      scanner.position += 1
    }
  }

  private static func takeType(_ scanner: inout TextScanner) -> String {
    let start = scanner.position
    while let byte = scanner.current {
      if byte == UInt8(ascii: "<") {
        _ = scanner.skipGroup()
      } else if TextScanner.isIdentifier(byte) || " :*".utf8.contains(byte) {
        scanner.position += 1
      } else {
        break
      }
    }
    return trimmed(String(nameBytes: scanner.bytes[start..<scanner.position]))
  }

  private static func isTypeName(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    return TextScanner.isIdentifier(first) && !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first)
  }

  /// Whether the operand of `sizeof` is a type, as far as its spelling tells: not a variable.
  private static func looksLikeType(_ text: String) -> Bool {
    guard isTypeName(text), !text.contains(where: { "[](.+-".contains($0) }) else { return false }
    let first = text.prefix(before: " ")
    if elaborated.contains(first) || builtIn.contains(first.prefix(before: "*")) { return true }
    return text.contains("::") || text.hasSuffix("_t") || text.hasSuffix("*")
      || (text.first?.isUppercase ?? false) && text != text.uppercased()
  }

  private static let elaborated: Set<String> = ["struct", "union", "enum", "const"]
  private static let builtIn: Set<String> = [
    "char", "short", "int", "long", "float", "double", "unsigned", "signed", "bool", "wchar_t",
  ]

  private static func trimmed(_ text: String) -> String {
    var text = Substring(text)
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
