/// What stands for an object in C, as the operand of `sizeof` does: `*node`, `list->first->name`, `table[i]`.
struct ObjectExpression: Hashable {
  /// From an object to another one.
  enum Step: Hashable {
    /// To what it points to, or to one of its elements.
    case target
    /// To one of its members.
    case member(String)
  }

  /// The variable that it begins with; or a type, where there are no steps.
  var root: String
  /// In the order in which they are taken.
  var steps: [Step]

  /// Reads an expression that is the whole text; nil for calls, casts and sums.
  init?(_ text: String) {
    var scanner = TextScanner(text)
    guard let found = Self.take(&scanner) else { return nil }
    scanner.skipSpaces()
    guard scanner.isAtEnd else { return nil }
    self = found
  }

  private init(root: String, steps: [Step]) {
    (self.root, self.steps) = (root, steps)
  }

  /// Reads the longest expression at the position, and goes past it: of `*node * count` the first three words.
  static func take(_ scanner: inout TextScanner) -> ObjectExpression? {
    scanner.skipSpaces()
    var stars = 0
    while scanner.skip("*") {
      stars += 1
      scanner.skipSpaces()
    }
    guard var object = takeOperand(&scanner) else { return nil }
    object.takeSteps(&scanner)
    object.steps += Array(repeating: .target, count: stars)
    return object
  }

  private static func takeOperand(_ scanner: inout TextScanner) -> ObjectExpression? {
    guard scanner.current == UInt8(ascii: "(") else {
      return takeWord(&scanner).map { ObjectExpression(root: $0, steps: []) }
    }
    return ObjectExpression(String(nameBytes: scanner.skipGroup()))
  }

  private mutating func takeSteps(_ scanner: inout TextScanner) {
    while true {
      var ahead = scanner
      ahead.skipSpaces()
      if ahead.current == UInt8(ascii: "[") {
        _ = ahead.skipGroup()
        steps.append(.target)
      } else if ahead.skip("->"), let member = Self.takeWord(&ahead) {
        steps += [.target, .member(member)]
      } else if ahead.skip("."), let member = Self.takeWord(&ahead) {
        steps.append(.member(member))
      } else {
        return
      }
      scanner = ahead
    }
  }

  private static func takeWord(_ scanner: inout TextScanner) -> String? {
    scanner.skipSpaces()
    let start = scanner.position
    while let byte = scanner.current, TextScanner.isIdentifier(byte) { scanner.position += 1 }
    let word = scanner.bytes[start..<scanner.position]
    guard let first = word.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else {
      return nil
    }
    return String(nameBytes: word)
  }
}
