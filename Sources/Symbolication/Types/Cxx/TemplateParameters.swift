/// What the parameters of a C++ template stand for in one of its instances.
///
/// A line such as `(T *)malloc(sizeof(T))` names the parameter; blocks of `make<Node>` and `make<Edge>`
/// are of different types.
enum TemplateParameters {
  /// The beginning of a template.
  struct Head {
    /// Where it is in its file, from 1.
    let line: Int
    /// The names of its parameters.
    let parameters: [String]
  }

  /// The templates of a file.
  ///
  /// - Parameter lines: All lines of the file.
  /// - Returns: From its beginning to its end.
  static func heads(in lines: [Substring]) -> [Head] {
    lines.indices.compactMap { index in
      guard TextSearch.holds(lines[index], "template") else { return nil }
      let text = lines[index..<min(lines.count, index + linesOfHead)].joined(separator: " ")
      return Head(line: index + 1, parameters: parameters(ofHead: text))
    }
  }

  /// A type as an instance has it.
  ///
  /// - Parameters:
  ///   - type: As the source spells it.
  ///   - function: The name of the instance, without its parameters: `Pool<Node>::get`.
  ///   - number: The line that was read, from 1.
  ///   - heads: The templates of the same file.
  /// - Returns: The type with arguments in place of parameters; nil where it names a parameter and the
  ///   function's name does not tell which of its arguments belongs to it.
  static func resolve(
    _ type: String, in function: String, at number: Int, heads: @autoclosure () -> [Head]
  ) -> String? {
    guard function.utf8.contains(UInt8(ascii: "<")) else { return type }
    let heads = heads()
    var resolved = ""
    for word in words(of: type) {
      guard let first = word.utf8.first, TextScanner.isIdentifier(first),
        let parameters = head(declaring: word, above: number, in: heads)
      else {
        resolved += word
        continue
      }
      guard let argument = argument(for: word, of: parameters, in: function) else { return nil }
      resolved += argument
    }
    return resolved
  }

  /// The names of the parameters in the nearest head above a line that declares one of that name.
  private static func head(
    declaring name: String, above number: Int, in heads: [Head]
  ) -> [String]? {
    // The first one behind the line: by halves, as of a large file everything is asked for.
    var (low, high) = (0, heads.count)
    while low < high {
      let middle = (low + high) / 2
      if heads[middle].line <= number { low = middle + 1 } else { high = middle }
    }
    return heads[..<low].reversed().prefix { $0.line >= number - mostLines }
      .first { $0.parameters.contains(name) }?.parameters
  }

  /// `template <class T, int N = 3>` gives `T` and `N`.
  private static func parameters(ofHead text: String) -> [String] {
    guard let start = text.firstRange(of: "template") else { return [] }
    var scanner = TextScanner(String(text[start.upperBound...]))
    while scanner.current == UInt8(ascii: " ") { scanner.position += 1 }
    guard scanner.current == UInt8(ascii: "<") else { return [] }
    return elements(scanner.skipGroup()).map { parameter in
      let declaration = parameter.prefix { $0 != "=" }
      return words(of: String(declaration)).last {
        $0.utf8.first.map(TextScanner.isIdentifier) == true
      }
        ?? ""
    }
  }

  /// The argument of a parameter, where just one list of arguments can be that of its template.
  ///
  /// Default arguments are not in names.
  private static func argument(
    for name: String, of parameters: [String], in function: String
  ) -> String? {
    guard let index = parameters.firstIndex(of: name) else { return nil }
    let lists = argumentLists(of: function)
    let fitting = lists.filter { $0.count == parameters.count }
    let possible = fitting.isEmpty ? lists.filter { $0.count < parameters.count } : fitting
    guard possible.count == 1, index < possible[0].count else { return nil }
    return possible[0][index]
  }

  /// `A<int>::make<Node, 3>` gives `int`, and `Node` with `3`.
  private static func argumentLists(of function: String) -> [[String]] {
    var scanner = TextScanner(function)
    var lists: [[String]] = []
    while let byte = scanner.current {
      if byte == UInt8(ascii: "<") {
        lists.append(elements(scanner.skipGroup()))
      } else {
        scanner.position += 1
      }
    }
    return lists
  }

  /// The elements of a list, at its outermost commas, without spaces around them.
  static func elements(_ list: ArraySlice<UInt8>) -> [String] {
    var scanner = TextScanner(String(nameBytes: list))
    var elements: [String] = []
    var start = 0
    while let byte = scanner.current {
      if TextScanner.isOpening(byte) {
        _ = scanner.skipGroup()
        continue
      }
      if byte == UInt8(ascii: ",") {
        elements.append(trimmed(scanner.bytes[start..<scanner.position]))
        start = scanner.position + 1
      }
      scanner.position += 1
    }
    return elements + [trimmed(scanner.bytes[start...])]
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    let space = UInt8(ascii: " ")
    let end = bytes.lastIndex { $0 != space }.map { $0 + 1 } ?? bytes.startIndex
    return String(nameBytes: bytes[..<end].drop { $0 == space })
  }

  /// Identifiers, and what is between them.
  private static func words(of text: String) -> [String] {
    var words: [[UInt8]] = []
    var isInIdentifier: Bool?
    for byte in text.utf8 {
      if TextScanner.isIdentifier(byte) != isInIdentifier {
        words.append([])
        isInIdentifier = TextScanner.isIdentifier(byte)
      }
      words[words.count - 1].append(byte)
    }
    return words.map { String(decoding: $0, as: UTF8.self) }
  }

  private static let mostLines = 1000
  private static let linesOfHead = 4
}
