/// Types as the source of C++ programs spells them.
enum CxxSourceNames {
  /// The one spelling of a type that may be spelled in several ways: that of the demangler.
  ///
  /// - Parameter type: `struct A`, `const A`, `::A`, `A *[]`, `const char *`.
  /// - Returns: `A`, `A`, `A`, `A*[]`, `char const*`.
  static func plain(_ type: String) -> String {
    var element = type[...]
    while element.hasSuffix("[]") { element = element.dropLast(2) }
    let brackets = type.dropFirst(element.count)
    var (words, pointers) = split(element)
    // What is allocated, be it constant or not, is the same; what it points to is not.
    let qualifiers = pointers.isEmpty ? [] : ["const", "volatile"].filter(words.contains)
    words.removeAll { ignored.contains($0) }
    guard !words.isEmpty else { return type }
    var name = words.joined(separator: " ")
    if name.hasPrefix("::") { name.removeFirst(2) }
    return ([name] + qualifiers).joined(separator: " ") + pointers + brackets
  }

  /// The arguments of a template as the demangler writes them: a comma and a space between them, `const` behind what
  /// it belongs to.
  private static func arguments(_ list: ArraySlice<UInt8>) -> [UInt8] {
    Array(TemplateParameters.elements(list).map(argument).joined(separator: ", ").utf8)
  }

  /// An argument, be it a type or a number; functions (`void (int)`), references and characters stay as they are.
  private static func argument(_ text: String) -> String {
    let outside = text.prefix { $0 != "<" }
    guard !outside.contains(where: { "(&\"'".contains($0) }) else { return text }
    var (words, pointers) = split(text[...])
    let qualifiers = ["const", "volatile"].filter(words.contains)
    words.removeAll { ignored.contains($0) }
    guard !words.isEmpty else { return text }
    return (words + qualifiers).joined(separator: " ") + pointers
  }

  /// Whether a path is that of a source file of C++, by its extension: functions there may have names of C.
  static func isSource(_ path: String) -> Bool {
    guard let dot = path.lastIndex(of: ".") else { return false }
    return extensions.contains(String(path[path.index(after: dot)...]))
  }

  /// The words of a type, and the asterisks behind them without spaces; brackets of templates belong to the word
  /// in front of them.
  private static func split(_ type: Substring) -> (words: [String], pointers: String) {
    var scanner = TextScanner(String(type))
    var words: [String] = []
    var word: [UInt8] = []
    var pointers = ""
    while let byte = scanner.current {
      if byte == UInt8(ascii: "<") {
        if word.isEmpty, let template = words.popLast() { word = Array(template.utf8) }
        word.append(byte)
        word += arguments(scanner.skipGroup())
        if scanner.previous == UInt8(ascii: ">") { word.append(UInt8(ascii: ">")) }
        continue
      }
      scanner.position += 1
      if byte == UInt8(ascii: "*") {
        pointers += "*"
      } else if byte != UInt8(ascii: " ") {
        word.append(byte)
        continue
      }
      if !word.isEmpty { words.append(String(nameBytes: word)) }
      word = []
    }
    if !word.isEmpty { words.append(String(nameBytes: word)) }
    return (words, pointers)
  }

  private static let ignored: Set<String> = [
    "struct", "class", "union", "enum", "typename", "const", "volatile",
  ]
  private static let extensions: Set<String> = [
    "cpp", "cc", "cxx", "c++", "C", "CPP", "hpp", "hh", "hxx", "h++", "ipp", "tcc", "inl",
  ]
}
