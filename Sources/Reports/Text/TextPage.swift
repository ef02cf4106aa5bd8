/// The text of a report, built line by line.
///
/// All text passes through ``Span``, so nothing that the traced process put into the trace can
/// reach the terminal as a control sequence.
public struct TextPage: Sendable {
  /// How the text is written.
  public let style: TextStyle
  /// What has been written so far; every line ends in a line break.
  public private(set) var text = ""

  /// Makes an empty page.
  public init(style: TextStyle = TextStyle()) {
    self.style = style
  }

  /// Adds one line.
  public mutating func line(_ spans: Span...) {
    line(spans)
  }

  /// Adds one line.
  public mutating func line(_ spans: [Span], indent: Int = 0) {
    text += String(repeating: " ", count: indent)
    for span in spans { text += adapted(span.rendered(coloured: style.isColoured)) }
    text += "\n"
  }

  /// Adds an empty line, unless the page is empty or ends in one.
  public mutating func blank() {
    if !text.isEmpty && !text.hasSuffix("\n\n") { text += "\n" }
  }

  /// Adds a heading with an empty line before it.
  public mutating func heading(_ title: String) {
    blank()
    line(Span(title, .heading))
  }

  /// Adds a table.
  package mutating func table(_ table: TextTable, indent: Int = 0) {
    text += adapted(table.rendered(in: style, indent: indent))
  }

  private func adapted(_ piece: String) -> String {
    style.isASCII ? ASCIIText.of(piece) : piece
  }

  /// A number of bytes in this page's style.
  package func bytes(_ count: UInt64) -> String {
    style.bytes.format(count)
  }
}
