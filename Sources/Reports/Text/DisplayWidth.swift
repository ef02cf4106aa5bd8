/// How many terminal columns a text takes, and texts made safe to print.
///
/// Names in a trace come from the traced process, so they may hold anything: escape sequences that
/// would repaint the terminal, line breaks that would break a table, wide or combining characters.
extension StringProtocol {
  /// The number of terminal columns this text takes.
  ///
  /// An approximation of `wcwidth`: marks that combine with the letter before them take none,
  /// East Asian wide characters and emoji take two, everything else takes one.
  var displayWidth: Int {
    var width = 0
    for scalar in unicodeScalars { width += scalar.displayWidth }
    return width
  }

  /// This text with control characters written out (`\n`, `\x1b`, `\u{202e}`).
  public var printable: String {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return String(self) }
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
        result += "\\x" + String(scalar.value, radix: 16).leftPadded(to: 2, with: "0")
      case _ where scalar.changesDirection:
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// This text preceded by as many `pad` characters as it takes to fill `width` columns.
  func leftPadded(to width: Int, with pad: Character = " ") -> String {
    String(repeating: pad, count: Swift.max(0, width - displayWidth)) + self
  }

  /// This text followed by as many blanks as it takes to fill `width` columns.
  func rightPadded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - displayWidth))
  }
}

extension Unicode.Scalar {
  /// Terminal columns of one scalar: 0, 1 or 2.
  fileprivate var displayWidth: Int {
    if value < 0x300 { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    return Self.wideRanges.contains { $0.contains(value) } ? 2 : 1
  }

  /// Whether the scalar reorders the text after it (https://trojansource.codes).
  fileprivate var changesDirection: Bool {
    (0x202a...0x202e).contains(value) || (0x2066...0x2069).contains(value)
      || (0x2028...0x2029).contains(value)
  }

  /// The blocks whose characters are wide or full width (https://unicode.org/reports/tr11).
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
    0xa000...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
    0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x20000...0x3fffd,
  ]
}
