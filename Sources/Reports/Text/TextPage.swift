/// The text of a report, built line by line.
///
/// All text passes through ``Span``, so nothing that the traced process put into the trace can
/// reach the terminal as a control sequence.
public struct TextPage: Sendable {
  /// A table that may be too long for the memory, and what is before it.
  private struct LongTable {
    var before: String
    var table: TextTable
    var indent: Int
  }

  /// How the text is written.
  public let style: TextStyle
  private var longTables: [LongTable] = []
  /// What has been written behind the last long table; every line ends in a line break.
  private var rest = ""

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
    rest += String(repeating: " ", count: indent)
    for span in spans { rest += adapted(span.rendered(coloured: style.isColoured)) }
    rest += "\n"
  }

  /// Adds an empty line, unless the page is empty or ends in one.
  public mutating func blank() {
    let isEmpty = rest.isEmpty && longTables.isEmpty
    if !isEmpty && !rest.hasSuffix("\n\n") { rest += "\n" }
  }

  /// Adds a heading with an empty line before it.
  public mutating func heading(_ title: String) {
    blank()
    line(Span(title, .heading))
  }

  /// Adds a table.
  package mutating func table(_ table: TextTable, indent: Int = 0) {
    if table.longRows.isEmpty {
      rest += adapted(table.rendered(in: style, indent: indent))
    } else {
      longTables.append(LongTable(before: rest, table: table, indent: indent))
      rest = ""
    }
  }

  /// What has been written so far; every line ends in a line break.
  public var text: String {
    var text = ""
    write { text += $0 }
    return text
  }

  /// Writes the text part by part.
  func write(to sink: (String) throws -> Void) rethrows {
    for long in longTables {
      try sink(long.before)
      try long.table.write(in: style, indent: long.indent) { try sink(adapted($0)) }
    }
    try sink(rest)
  }

  private func adapted(_ piece: String) -> String {
    style.isASCII ? ASCIIText.of(piece) : piece
  }

  /// A number of bytes in this page's style.
  package func bytes(_ count: UInt64) -> String {
    style.bytes.format(count)
  }
}
