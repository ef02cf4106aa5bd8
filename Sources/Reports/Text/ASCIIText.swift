/// The characters that reports draw with, for terminals that only have ASCII.
///
/// One for one, so that columns stay where they are. Names that the traced program brought along
/// stay as they are.
enum ASCIIText {
  private static let substitutes: [Unicode.Scalar: Unicode.Scalar] = [
    "…": ".", "●": "*", "▲": "^", "✗": "x", "✓": ".", "±": "~", "×": "x", "→": ">", "µ": "u",
    "–": "-",
    "─": "-", "·": "-", "Δ": "d", "│": "|", "├": "+", "└": "`", "┬": "+", "┼": "+", "┤": "+",
    "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#", "░": ".",
    "▒": ":", "▓": "+",
  ]

  /// The text with every drawing character replaced.
  static func of(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(substitutes[scalar] ?? scalar) }
    return String(result)
  }
}
