/// What names stand for that the source of C++ gives to types: `typedef T value_type;`, `using Entry = Node<T>;`.
///
/// In a template such a name means another type in each instance. Those in the blocks of functions are in no debug
/// information.
enum SourceAliases {
  /// What a name stands for.
  enum Meaning: Equatable {
    /// The type, as the source spells it.
    case type(String)
    /// A type that the source does not spell: `typename Traits::node`.
    case untold
  }

  /// What a name stands for at a place.
  ///
  /// - Parameters:
  ///   - name: One identifier.
  ///   - number: The line of the place, from 1.
  ///   - column: The column of the place, from 1; 0 where it is not known.
  ///   - lines: All lines of the file.
  /// - Returns: nil where no block or class around the place declares it, as far as the lines above tell.
  static func meaning(
    of name: String, at number: Int, column: Int, in lines: [Substring]
  ) -> Meaning? {
    guard lines.indices.contains(number - 1) else { return nil }
    let above = lines[max(0, number - mostLines)..<number - 1]
    let line = lines[number - 1]
    let start = column > 0 ? Substring(decoding: line.utf8.prefix(column), as: UTF8.self) : line
    let window = above + [start]
    guard window.contains(where: { mayDeclare($0, name) }) else { return nil }
    var scopes = Scopes()
    for line in window where line.first(where: { $0 != " " && $0 != "\t" }) != "#" {
      scopes.read(AllocationExpression.withoutLiterals(String(line)))
    }
    return scopes.meaning(of: name)
  }

  private static func mayDeclare(_ line: Substring, _ name: String) -> Bool {
    (TextSearch.holds(line, "typedef") || TextSearch.holds(line, "using")) && line.contains(name)
  }

  /// The blocks that are open at a place, and the names in each.
  private struct Scopes {
    /// The innermost last.
    private var open: [[String: Meaning]] = [[:]]
    /// Of the statement that is read, what is in front of the place.
    private var statement: [UInt8] = []

    func meaning(of name: String) -> Meaning? {
      open.reversed().lazy.compactMap { $0[name] }.first
    }

    mutating func read(_ line: [UInt8]) {
      for byte in line {
        switch byte {
        case UInt8(ascii: "{"): open.append([:])
        case UInt8(ascii: "}"):
          open.removeLast()
          // It was opened above what is read.
          if open.isEmpty { open = [[:]] }
        case UInt8(ascii: ";"): declare()
        default:
          statement.append(byte)
          continue
        }
        statement = []
      }
      statement.append(UInt8(ascii: " "))
    }

    private mutating func declare() {
      let text = String(nameBytes: statement)
      guard let (name, type) = SourceAliases.declaration(text) else { return }
      open[open.count - 1][name] = SourceAliases.isTold(type) ? .type(type) : .untold
    }
  }

  /// The name that a statement gives to a type, and the type.
  private static func declaration(_ statement: String) -> (name: String, type: String)? {
    let bytes = Array(statement.utf8)
    if let start = AllocationExpression.tokens("using", in: bytes).first {
      let parts = String(nameBytes: bytes[(start + 5)...]).split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      let name = AllocationExpression.trimmed(String(parts[0]))
      return (name, AllocationExpression.trimmed(String(parts[1])))
    }
    guard let start = AllocationExpression.tokens("typedef", in: bytes).first else { return nil }
    let rest = AllocationExpression.trimmed(String(nameBytes: bytes[(start + 7)...]))
    let name = rest.utf8.reversed().prefix(while: TextScanner.isIdentifier).reversed()
    let type = AllocationExpression.trimmed(String(rest.dropLast(String(nameBytes: name).count)))
    return name.isEmpty ? nil : (String(nameBytes: name), type)
  }

  /// Whether a type is spelled so that its template's arguments say which it is.
  private static func isTold(_ type: String) -> Bool {
    let words: [StaticString] = ["typename", "decltype", "template", "auto"]
    let bytes = Array(type.utf8)
    return AllocationExpression.isTypeName(type) && !type.contains("...") && !type.contains("(")
      && words.allSatisfy { AllocationExpression.tokens($0, in: bytes).isEmpty }
  }

  private static let mostLines = 400
}
