/// A table of text: aligned columns that fit a given width.
///
/// Own code rather than a package: ordo-one/TextTable (the one at hand) knows no terminal. It
/// takes fixed column widths only, cuts at the head or the tail, counts characters instead of
/// columns, and has no place for colours, so fitting would have to be computed outside anyway.
public struct TextTable: Sendable {
  /// Where the texts of a column stand.
  public enum Alignment: Sendable { case leading, trailing }

  /// One column's title and behaviour.
  public struct Column: Sendable {
    var title: String
    var alignment: Alignment
    /// The width the column may be shortened to when the table is too wide; nil: never.
    var shortest: Int?
    /// Whether the column may be left out where there is no room for it: the greatest first; 0: never.
    var spare: Int

    /// A column of names, which may be shortened in the middle.
    package static func text(_ title: String, shortest: Int? = 8, spare: Int = 0) -> Column {
      Column(title: title, alignment: .leading, shortest: shortest, spare: spare)
    }

    /// A column of numbers: right-aligned, never shortened.
    package static func number(_ title: String, spare: Int = 0) -> Column {
      Column(title: title, alignment: .trailing, shortest: nil, spare: spare)
    }
  }

  let columns: [Column]
  private(set) var rows: [[Span]] = []
  /// Rows behind these, of which there may be too many for the memory.
  let longRows: LongList<[Span]>

  /// Makes a table without rows.
  package init(_ columns: [Column]) {
    self.init(columns, rows: LongList())
  }

  /// Makes a table of many rows, each with a cell for each column.
  init(_ columns: [Column], rows: LongList<[Span]>) {
    self.columns = columns
    longRows = rows
  }

  /// Adds a row; missing cells are empty, surplus ones are dropped.
  package mutating func add(_ cells: [Span]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: "", count: missing))
  }

  /// Whether the table can be made as narrow as the style asks for, with all its columns.
  func fits(in style: TextStyle, indent: Int = 0) -> Bool {
    guard let width = style.width else { return true }
    var layout = TableLayout(columns: columns, cells: printable)
    layout.fit(width: width - indent)
    return layout.totalWidth <= width - indent
  }

  private var printable: some Sequence<[Span]> {
    [LongList(rows), longRows].lazy.joined().map { $0.map { Span($0.text.printable, $0.paint) } }
  }

  private func layout(
    of cells: some Sequence<[Span]>, in style: TextStyle, indent: Int
  ) -> TableLayout {
    let layout = TableLayout(columns: columns, cells: cells)
    return style.width.map { layout.fitted(to: $0 - indent) } ?? layout.unfitted()
  }

  /// The table as lines that end in a line break, the titles first.
  func rendered(in style: TextStyle, indent: Int = 0) -> String {
    var result = ""
    write(in: style, indent: indent) { result += $0 }
    return result
  }

  /// Writes the lines part by part.
  func write(
    in style: TextStyle, indent: Int = 0, to sink: (String) throws -> Void
  ) rethrows {
    let cells = printable
    let layout = layout(of: cells, in: style, indent: indent)
    let margin = String(repeating: " ", count: indent)
    var text = PartedText()
    for line in layout.titleLines {
      try text.add(
        margin + layout.line(line.map { Span($0, .heading) }, style: style) + "\n", to: sink)
    }
    for row in cells { try text.add(margin + layout.row(row, style: style) + "\n", to: sink) }
    try text.end(to: sink)
  }
}
