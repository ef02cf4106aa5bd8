/// Rewrites the template argument lists of a C++ name without default arguments.
///
/// `std::vector<int, std::allocator<int> >` -> `std::vector<int>`. Separate from ``CxxNames``
/// because lists nest: the rewriter calls itself for each argument.
struct CxxTemplateRewriter {
  private var scanner: TextScanner
  private static let deepestNesting = 128

  init(_ text: String) {
    scanner = TextScanner(text)
  }

  /// The rewritten text; `nil` when its brackets do not match.
  mutating func rewrite() -> String? {
    guard let text = copy(until: [], depth: 0), scanner.isAtEnd else { return nil }
    return String(nameBytes: text)
  }

  /// Copies up to one of `stops` outside of all brackets, which is left to the caller.
  private mutating func copy(until stops: [UInt8], depth: Int) -> [UInt8]? {
    guard depth < Self.deepestNesting else { return nil }
    var result: [UInt8] = []
    while let byte = scanner.current {
      if CxxNames.copyOperator(&scanner, to: &result) { continue }
      if stops.contains(byte), !(byte == UInt8(ascii: ">") && scanner.isArrow) { return result }
      scanner.position += 1
      if byte == UInt8(ascii: "("), depth > 0, listsParameters(after: result) {
        result.removeLast()
      }
      switch byte {
      case UInt8(ascii: "(") where !appendGroup(byte, UInt8(ascii: ")"), to: &result, depth),
        UInt8(ascii: "{") where !appendGroup(byte, UInt8(ascii: "}"), to: &result, depth),
        UInt8(ascii: "[") where !appendGroup(byte, UInt8(ascii: "]"), to: &result, depth):
        return nil
      case UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "["): break
      case UInt8(ascii: "<") where Self.opensList(after: result):
        guard let arguments = copyArguments(depth: depth) else { return nil }
        Self.append(arguments: arguments, to: &result)
      default: result.append(byte)
      }
    }
    return stops.isEmpty ? result : nil
  }

  /// Whether the bracket in front of the scanner is that of a function type, behind a space.
  ///
  /// `void (int)`, which debug information writes without the space; no pointer, as in `void (*)(int)` and
  /// `int (&) [3]`, no name, and no `decltype (x)`.
  private func listsParameters(after text: [UInt8]) -> Bool {
    guard text.last == UInt8(ascii: " "), !text.suffix(9).elementsEqual("decltype ".utf8)
    else { return false }
    var group = scanner
    group.position -= 1
    if group.looksAt("(anonymous namespace)") { return false }
    let inner = group.skipGroup()
    return inner.first != UInt8(ascii: "*") && inner.first != UInt8(ascii: "&")
      && !inner.suffix(3).elementsEqual("::*".utf8)
  }

  private mutating func appendGroup(
    _ opening: UInt8, _ closing: UInt8, to result: inout [UInt8], _ depth: Int
  ) -> Bool {
    guard let inner = copy(until: [closing], depth: depth + 1) else { return false }
    scanner.position += 1
    result.append(opening)
    result += inner
    result.append(closing)
    return true
  }

  private mutating func copyArguments(depth: Int) -> [[UInt8]]? {
    var arguments: [[UInt8]] = []
    while true {
      while scanner.current == UInt8(ascii: " ") { scanner.position += 1 }
      let stops = [UInt8(ascii: ","), UInt8(ascii: ">")]
      guard var argument = copy(until: stops, depth: depth + 1) else { return nil }
      while argument.last == UInt8(ascii: " ") { argument.removeLast() }
      arguments.append(argument)
      let isLast = scanner.current == UInt8(ascii: ">")
      scanner.position += 1
      if isLast { return arguments }
    }
  }

  /// Behind anything but a name, `<` compares.
  private static func opensList(after text: [UInt8]) -> Bool {
    guard let last = text.last else { return false }
    if text.suffix(10).elementsEqual("operator()".utf8) { return true }
    return TextScanner.isIdentifier(last) || last == UInt8(ascii: " ")
      || last == UInt8(ascii: "}")
  }

  private static func append(arguments: [[UInt8]], to result: inout [UInt8]) {
    var kept = arguments.map { String(nameBytes: $0) }
    if kept.count > 1, kept.last?.hasPrefix(polymorphic) == true, renameToPMR(&result) {
      kept.removeLast()
    }
    while kept.count > 1, let last = kept.last, defaults.contains(where: last.hasPrefix) {
      kept.removeLast()
    }
    if kept.count == 1, let alias = alias(of: result, character: kept[0]) {
      result.removeLast(alias.dropped)
      result += Array(alias.name.utf8)
    } else {
      result += Array("<\(kept.joined(separator: ", "))>".utf8)
    }
  }

  private static let defaults = [
    "std::allocator<", "std::char_traits<", "std::less<", "std::hash<", "std::equal_to<",
    "std::default_delete<", "(__gnu_cxx::_Lock_policy)",
  ]

  /// Gives a container of the standard library the name that it has with a `std::pmr::polymorphic_allocator`.
  ///
  /// - Parameter template: What ends with its name.
  /// - Returns: false where it has none.
  private static func renameToPMR(_ template: inout [UInt8]) -> Bool {
    let name = String(
      nameBytes: template.suffix(while: { TextScanner.isIdentifier($0) || $0 == 0x3a }))
    guard name.hasPrefix(standard), pmrContainers.contains(String(name.dropFirst(standard.count)))
    else { return false }
    template.insert(contentsOf: pmr, at: template.count - name.utf8.count + standard.count)
    return true
  }

  private static let standard = "std::"
  private static let pmr = Array("pmr::".utf8)
  private static let polymorphic = "std::pmr::polymorphic_allocator<"
  private static let pmrContainers: Set = [
    "basic_string", "vector", "deque", "list", "forward_list", "map", "multimap", "set",
    "multiset", "unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset",
  ]

  /// `std::basic_string<char>` has a name that everybody knows.
  private static func alias(
    of template: [UInt8], character: String
  ) -> (dropped: Int, name: String)? {
    guard let prefix = characterPrefixes[character] else { return nil }
    let name = template.suffix(while: { TextScanner.isIdentifier($0) || $0 == 0x3a })
    for space in [standard, standard + "pmr::"] where name.starts(with: "\(space)basic_".utf8) {
      let rest = name.dropFirst(space.utf8.count + 6)
      return (name.count, space + prefix + String(nameBytes: rest))
    }
    return nil
  }

  private static let characterPrefixes = [
    "char": "", "wchar_t": "w", "char8_t": "u8", "char16_t": "u16", "char32_t": "u32",
  ]
}

extension [UInt8] {
  /// The bytes at the end that all are as asked for.
  fileprivate func suffix(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let last = lastIndex { !isWanted($0) }
    return self[(last.map { $0 + 1 } ?? 0)...]
  }
}
