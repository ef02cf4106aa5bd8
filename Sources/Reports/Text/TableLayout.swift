/// The widths of a table's columns and how they were made to fit.
///
/// Steps, each taken only when the one before was not enough: break the titles over several
/// lines; shorten texts down to a comfortable width; put one blank between columns instead of
/// two; shorten texts down to what each column still allows; leave out what can be spared;
/// shorten texts down to what is hardly readable.
///
/// Where there is no width to fit, all texts are whole, but few long ones do not move those of all other
/// rows: what stands behind them is moved in their rows alone.
struct TableLayout {
  /// Texts are not shortened below this while another step is left.
  private static let comfortableWidth = 20
  /// Texts of which shortening down to the column's own limit was not enough.
  private static let leastWidth = 8

  let columns: [TextTable.Column]
  private(set) var titleLines: [[String]]
  private(set) var widths: [Int]
  private var gap = 2
  private let contentWidths: [Int]
  /// Whether texts are cut where they are wider than their column.
  private var isCut = true
  /// For each column the widest text that is no longer than most have to be.
  private let usualWidths: [Int]
  /// The columns that are shown, as positions in a row.
  private let shown: [Int]

  /// Lays out a table as wide as its contents.
  init(columns: [TextTable.Column], cells: some Sequence<[Span]>) {
    var content = Array(repeating: 0, count: columns.count)
    var usual = content
    var long = content
    var longCounts = content
    var rowCount = 0
    for row in cells {
      rowCount += 1
      for (index, cell) in row.enumerated() where index < content.count {
        let width = cell.text.displayWidth
        content[index] = max(content[index], width)
        if width <= Self.usualWidth {
          usual[index] = max(usual[index], width)
        } else {
          longCounts[index] += 1
          if width <= Self.longWidth { long[index] = max(long[index], width) }
        }
      }
    }
    for index in columns.indices where longCounts[index] > rowCount / 4 {
      usual[index] = max(usual[index], long[index])
    }
    self.init(columns, content, usual, shown: Array(columns.indices))
  }

  /// Texts are long that are wider; where more than a quarter are, that is usual.
  private static let usualWidth = 80
  /// Those that are wider still move only what stands behind them in their own row.
  private static let longWidth = 240

  private init(
    _ columns: [TextTable.Column], _ content: [Int], _ usual: [Int], shown: [Int]
  ) {
    self.columns = columns
    usualWidths = usual
    self.shown = shown
    titleLines = [columns.map(\.title)]
    contentWidths = content
    widths = zip(columns, content).map { max($0.title.displayWidth, $1) }
  }

  /// The columns of a line that is full to the right.
  var totalWidth: Int {
    widths.reduce(0, +) + gap * max(0, widths.count - 1)
  }

  /// The layout without a width to fit.
  func unfitted() -> TableLayout {
    var layout = self
    layout.isCut = false
    layout.widths = zip(columns, usualWidths).map { max($0.title.displayWidth, $1) }
    return layout
  }

  /// The layout for a width, without the columns that there is no room for.
  func fitted(to width: Int) -> TableLayout {
    var layout = self
    layout.fit(width: width)
    guard layout.totalWidth > width else { return layout }
    if let narrower = withoutSparest { return narrower.fitted(to: width) }
    layout.shorten(to: width) { min($0, Self.leastWidth) }
    return layout
  }

  /// Without the column that can be spared before others; nil when none can.
  private var withoutSparest: TableLayout? {
    guard let sparest = columns.indices.max(by: { columns[$0].spare < columns[$1].spare }),
      columns[sparest].spare > 0
    else { return nil }
    let kept = columns.indices.filter { $0 != sparest }
    return TableLayout(
      kept.map { columns[$0] }, kept.map { contentWidths[$0] }, kept.map { usualWidths[$0] },
      shown: kept.map { shown[$0] })
  }

  /// Makes the table fit, as far as its columns allow.
  mutating func fit(width: Int) {
    if totalWidth > width { breakTitles() }
    shorten(to: width) { max($0, Self.comfortableWidth) }
    if totalWidth > width { gap = 1 }
    shorten(to: width) { $0 }
  }

  /// One line of all cells of a row, without blanks at its end.
  func row(_ cells: [Span], style: TextStyle) -> String {
    line(shown.filter { $0 < cells.count }.map { cells[$0] }, style: style)
  }

  /// One line of the cells that are shown.
  func line(_ cells: [Span], style: TextStyle) -> String {
    var result = ""
    var pending = 0
    for (index, cell) in cells.enumerated() where index < widths.count {
      if index > 0 { pending += gap }
      let text = isCut ? cell.text.shortenedInTheMiddle(to: widths[index]) : cell.text
      let padding = max(0, widths[index] - text.displayWidth)
      if columns[index].alignment == .trailing { pending += padding }
      if !text.isEmpty {
        result += String(repeating: " ", count: pending)
        result += Span(text, cell.paint).rendered(coloured: style.isColoured)
        pending = 0
      }
      if columns[index].alignment == .leading { pending += padding }
    }
    return result
  }

  private mutating func breakTitles() {
    let broken = columns.map { Self.words(of: $0.title) }
    let height = broken.map(\.count).max() ?? 1
    // Short titles stand on the last line, next to the numbers.
    titleLines = (0..<height).map { line in
      broken.map { words in
        let index = line - (height - words.count)
        return index >= 0 ? words[index] : ""
      }
    }
    widths = zip(broken, contentWidths).map { words, content in
      max(content, words.map(\.displayWidth).max() ?? 0)
    }
  }

  /// The pieces a title may be broken into: after blanks and after slashes.
  private static func words(of title: String) -> [String] {
    var words: [String] = []
    var word = ""
    for character in title {
      if character == " " {
        words.append(word)
        word = ""
      } else {
        word.append(character)
        if character == "/" {
          words.append(word)
          word = ""
        }
      }
    }
    words.append(word)
    return words.filter { !$0.isEmpty }
  }

  /// Takes columns from the widest text until the table fits or no text may lose more.
  private mutating func shorten(to width: Int, limit: (Int) -> Int) {
    var excess = totalWidth - width
    while excess > 0 {
      let candidates = columns.indices.filter { index in
        columns[index].shortest.map { widths[index] > limit($0) } ?? false
      }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return }
      let next = candidates.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
      let floor = max(limit(columns[widest].shortest ?? 0), min(next, widths[widest] - 1))
      let step = min(excess, max(1, widths[widest] - floor))
      widths[widest] -= step
      excess -= step
    }
  }
}
