/// A type as the source of C++ spells it, with the arguments of templates apart: `list::Node<Key>*[]`.
struct CxxSpelledName {
  /// Names, colons and groups in brackets, in turn, as far as they are one name.
  private var pieces: [Piece] = []
  /// What is behind the name: `*[]`, ` const*`, ` (int)`.
  let rest: String

  private enum Piece {
    case text(String)
    case arguments([String])
  }

  init(_ type: String) {
    var scanner = TextScanner(type)
    while let byte = scanner.current {
      let start = scanner.position
      if byte == UInt8(ascii: "<") {
        guard !pieces.isEmpty else { break }
        let list = scanner.skipGroup()
        let isEmpty = list.allSatisfy { $0 == UInt8(ascii: " ") }
        pieces.append(.arguments(isEmpty ? [] : TemplateParameters.elements(list)))
      } else if scanner.skip("::") || scanner.skipName() {
        pieces.append(.text(String(nameBytes: scanner.bytes[start..<scanner.position])))
      } else {
        break
      }
    }
    rest = String(nameBytes: scanner.bytes[scanner.position...])
  }

  /// The name without the arguments of templates: `list::Node<>`.
  var pattern: String { text { _ in "<>" } }

  /// What is behind the last `::` of the pattern: `Node<>`.
  var last: String { pattern.split(separator: ":").last.map(String.init) ?? "" }

  /// What is in front of the first `::` or `<`: `list`.
  var first: String {
    guard case .text(let name) = pieces.first else { return "" }
    return name
  }

  /// The name with other arguments.
  func mapArguments(_ transform: (String) -> String) -> String {
    text { "<" + $0.map(transform).joined(separator: ", ") + ">" }
  }

  private func text(_ arguments: ([String]) -> String) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .arguments(let list): arguments(list)
      }
    }.joined()
  }
}
