import TraceReader

extension AllocationsReport {
  /// Writes the table under a line that says what it is about.
  public func write(to page: inout TextPage) {
    page.line(Span(headline, .heading))
    page.lines(about: trace)
    page.lines(about: query.filter, query.filter.text)
    if total.isEmpty {
      page.line("No allocations to show.")
      coverage.write(to: &page)
      return
    }
    timeline.write(to: &page, isOfMore: query.filter.picksSites)
    page.blank()
    writeTable(to: &page)
    let hidden = rowCount - rows.count
    if hidden > 0 {
      page.line(Span("… \(hidden.grouped) more; --top 0 shows all", .faint))
    }
    coverage.write(to: &page)
  }

  private var headline: String {
    "Allocations of \(trace.commandLine) (pid \(trace.pid))" + MomentText.suffix(query.moment)
  }

  /// Writes the table, without the margins of estimates where there is no room for them.
  func writeTable(to page: inout TextPage) {
    let columns = columns(fitting: page.style)
    let full = table(columns, bytes: page.style.bytes, hasMargins: true)
    if trace.sampling == nil || full.fits(in: page.style) {
      page.table(full)
      return
    }
    page.table(table(columns, bytes: page.style.bytes, hasMargins: false))
    page.line(Span("There is no room for the margins here; --format csv has them.", .faint))
  }

  private func table(
    _ columns: [AllocationsColumn], bytes: ByteStyle, hasMargins: Bool, shortestName: Int? = nil
  ) -> TextTable {
    let names = TextTable.Column.text(query.grouping.title, shortest: shortestName ?? 8)
    var table = TextTable([names] + columns.map(\.column))
    let numbers = { (tally: TallyRow) in
      columns.map { $0.text(tally, bytes: bytes, hasMargin: hasMargins) }
    }
    table.add([Span(Self.totalName, .heading)] + numbers(total))
    for row in rows { table.add([Span(row.name, .emphasis)] + numbers(row.tally)) }
    return table
  }

  /// In a sample no temporary allocations can be seen, and margins need the room of the bar.
  private var columns: [AllocationsColumn] {
    let isChosen = ![AllocationsColumn.standard, AllocationsColumn.wide].contains(query.columns)
    if trace.sampling == nil || isChosen { return query.columns }
    return query.columns.filter { $0 != .bar && $0 != .temporary }
  }

  /// The columns that leave room for names of rows: on a narrow terminal the bar goes, then the
  /// number that the others tell as well; the totals where there is no room for short names.
  private func columns(fitting style: TextStyle) -> [AllocationsColumn] {
    var columns = columns
    guard query.columns == AllocationsColumn.standard else { return columns }
    let order: [(column: AllocationsColumn, shortestName: Int?)] = [
      (.bar, Self.readableName), (.transient, Self.readableName), (.total, nil), (.totalBytes, nil),
    ]
    for (column, shortestName) in order {
      let trial = table(
        columns, bytes: style.bytes, hasMargins: false, shortestName: shortestName)
      if trial.fits(in: style) { break }
      columns.removeAll { $0 == column }
    }
    return columns
  }

  /// As many columns as `Malloc-1.00 KiB` takes, with one to spare.
  private static let readableName = 16

  /// The table with the total row first and all number columns.
  public var csv: CSVTable? {
    let columns = AllocationsColumn.wide.filter { $0 != .bar }
    let uncertain = trace.sampling == nil ? [] : columns.filter { $0 != .temporary }
    let withStack = query.grouping == .stack
    var table = CSVTable(
      [query.grouping.title] + columns.map(\.title) + uncertain.map { "\($0.title) Margin" }
        + (withStack ? ["Stack ID", "Frames"] : []))
    let numbers = { (tally: TallyRow) in
      columns.map { String($0.value(tally) ?? 0) }
        + uncertain.map { String(TallyVariance.wholeMargin($0.variance(tally) ?? 0)) }
    }
    table.add([Self.totalName] + numbers(total) + (withStack ? ["", ""] : []))
    for row in rows {
      let stack = [
        row.stack.csvText, (row.frames ?? []).map(\.title).joined(separator: " < "),
      ]
      table.add([row.name] + numbers(row.tally) + (withStack ? stack : []))
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, filter, moment, groupBy, sortedBy, total, rows, rowCount, timeline
  }

  /// Writes the document `memtrace.allocations`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(query.filter, forKey: .filter)
    try container.encodeIfPresent(query.moment, forKey: .moment)
    try container.encode(query.grouping, forKey: .groupBy)
    try container.encode(query.order, forKey: .sortedBy)
    try container.encode(total, forKey: .total)
    try container.encode(rows, forKey: .rows)
    try container.encode(rowCount, forKey: .rowCount)
    try container.encode(timeline, forKey: .timeline)
  }
}

extension AllocationsReport.Row: Encodable {
  enum CodingKeys: String, CodingKey { case name, type, stack, frames, thread, greatestSize }

  /// Writes the name, the numbers and what goes with the grouping.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(type, forKey: .type)
    try container.encodeIfPresent(stack, forKey: .stack)
    try container.encodeIfPresent(frames, forKey: .frames)
    try container.encodeIfPresent(thread, forKey: .thread)
    try container.encodeIfPresent(greatestSize, forKey: .greatestSize)
    try tally.encode(to: encoder)
  }
}

extension SiteFilter {
  /// The filter in words, nil when everything passes.
  var text: String? {
    var parts = scope
    if let generation { parts.append("generation \"\(generation)\"") }
    switch lifespan {
    case .all: break
    case .persistent: parts.append("created and still living")
    case .transient: parts.append("created and destroyed")
    }
    if let category { parts.append("category \(category)") }
    if let responsible { parts.append("responsible \(responsible)") }
    if let image { parts.append("image \(image)") }
    if let thread { parts.append("thread \(thread)") }
    return parts.isEmpty ? nil : "Only: " + parts.joined(separator: ", ")
  }
}

/// When the state is as of, for headlines.
enum MomentText {
  /// `, as of the peak`; empty for the end.
  static func suffix(_ moment: String?) -> String { moment.map { ", as of \($0)" } ?? "" }
}

extension TextPage {
  /// Says what a filter lets through, and why that may be nothing.
  mutating func lines(about filter: SiteFilter, _ text: String?) {
    if let text { line(Span(text, .faint)) }
    if let note = filter.endNote { line(Span(note, .warning)) }
  }
}
