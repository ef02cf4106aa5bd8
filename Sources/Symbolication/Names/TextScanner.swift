/// Reads the text of a demangled name, byte by byte, without ever going past its end.
///
/// All that names are cut at is ASCII; other bytes pass through as parts of identifiers.
struct TextScanner {
  let bytes: [UInt8]
  var position: Int

  init(_ text: some StringProtocol) {
    bytes = Array(text.utf8)
    position = 0
  }

  var isAtEnd: Bool { position >= bytes.count }
  var current: UInt8? { position < bytes.count ? bytes[position] : nil }
  var previous: UInt8? { position > 0 && position <= bytes.count ? bytes[position - 1] : nil }

  /// Whether the text at the position begins with `prefix`.
  func looksAt(_ prefix: StaticString) -> Bool {
    let length = prefix.utf8CodeUnitCount
    guard length <= bytes.count - position else { return false }
    return prefix.withUTF8Buffer { buffer in
      buffer.indices.allSatisfy { buffer[$0] == bytes[position + $0] }
    }
  }

  /// Goes past `prefix` when the text at the position begins with it.
  mutating func skip(_ prefix: StaticString) -> Bool {
    guard looksAt(prefix) else { return false }
    position += prefix.utf8CodeUnitCount
    return true
  }

  /// Goes past a name in backticks, in which any character may stand: `adds (quickly)`.
  mutating func skipQuoted() -> Bool {
    guard current == Self.backtick, position + 1 < bytes.count,
      let end = bytes[(position + 1)...].firstIndex(of: Self.backtick)
    else { return false }
    position = end + 1
    return true
  }

  /// Goes past an identifier, which may be in backticks.
  mutating func skipName() -> Bool {
    let start = position
    if skipQuoted() { return true }
    while let byte = current, Self.isIdentifier(byte) || byte == Self.backtick { position += 1 }
    return position > start
  }

  private static let backtick = UInt8(ascii: "`")

  /// Goes past spaces and tabs.
  mutating func skipSpaces() {
    while current == UInt8(ascii: " ") || current == UInt8(ascii: "\t") { position += 1 }
  }

  /// Goes past a bracketed group; the current byte is its opening bracket.
  ///
  /// An arrow's `>` closes nothing, nor does one in parentheses that none has opened there, as in
  /// `<(8>>1)>`, nor what stands in backticks. A group without end goes to the end of the text.
  /// - Returns: What is between the brackets.
  mutating func skipGroup() -> ArraySlice<UInt8> {
    let start = min(position + 1, bytes.count)
    var open = OpenBrackets()
    while let byte = current {
      if skipQuoted() { continue }
      if Self.isOpening(byte) {
        open.add(byte)
      } else if Self.isClosing(byte), !(byte == UInt8(ascii: ">") && isArrow) {
        open.close(byte)
      }
      position += 1
      if open.count <= 0 { return bytes[start..<max(start, position - 1)] }
    }
    return bytes[start...]
  }

  /// Whether the current `>` is the head of `->`.
  var isArrow: Bool { previous == UInt8(ascii: "-") }

  static func isOpening(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "(") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: "[")
      || byte == UInt8(ascii: "{")
  }

  static func isClosing(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ")") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "]")
      || byte == UInt8(ascii: "}")
  }

  /// What closes a group that `opening` opens.
  static func closing(of opening: UInt8) -> UInt8 {
    // In ASCII only the parentheses are neighbours.
    opening == UInt8(ascii: "(") ? opening + 1 : opening + 2
  }

  static func isIdentifier(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
      true
    default: false
    }
  }
}

extension String {
  /// The text of bytes that come from a name.
  init(nameBytes: some Sequence<UInt8>) {
    self = String(decoding: Array(nameBytes), as: UTF8.self)
  }
}

/// The brackets that are open at a place of a text.
///
/// In parentheses `<` and `>` may be operators: a closing bracket of another kind closes with it the angle brackets
/// behind the one that it belongs to.
private struct OpenBrackets {
  private(set) var count = 0
  /// A bit for each of the innermost 64, the innermost in the lowest: 1 for all but angle brackets.
  private var others: UInt64 = 0

  mutating func add(_ byte: UInt8) {
    count += 1
    others = others << 1 | (byte == UInt8(ascii: "<") ? 0 : 1)
  }

  mutating func close(_ byte: UInt8) {
    if byte == UInt8(ascii: ">") {
      if others & 1 == 0 { removeLast() }
    } else {
      removeLast(others == 0 ? 1 : others.trailingZeroBitCount + 1)
    }
  }

  private mutating func removeLast(_ number: Int = 1) {
    count -= number
    others >>= UInt64(number)
  }
}
