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

  /// Adds one line of a tree, in which a long name loses its middle on a terminal that is too narrow.
  ///
  /// Broken lines hide who stands below whom. All else stays, addresses above all: these are typed
  /// anew. Where that is not enough, the terminal breaks the line.
  ///
  /// - Parameters:
  ///   - name: The name; nil where there is none.
  ///   - paint: That of the line.
  ///   - indent: How deep it stands, in columns.
  ///   - text: The whole line with a name.
  mutating func treeLine(
    _ name: String?, paint: Paint = .plain, indent: Int, _ text: (String?) -> String
  ) {
    var name = name?.printable
    if let width = style.width, let whole = name {
      let excess = indent + text(whole).printable.displayWidth - width
      let room = max(whole.displayWidth - excess, Self.leastNameWidth)
      if excess > 0 { name = whole.shortenedInTheMiddle(to: room) }
    }
    line([Span(text(name), paint)], indent: indent)
  }

  /// Names in trees are not shortened below this.
  private static let leastNameWidth = 20

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
