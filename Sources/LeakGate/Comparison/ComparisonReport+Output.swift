import Reports

extension ComparisonReport {
  /// Writes the totals and the rows that changed.
  public func write(to page: inout TextPage) {
    page.line(Span("\(base) → \(head): \(blocks.text), by \(grouping.rawValue)", .heading))
    if baseRuns > 1 || headRuns > 1 {
      page.line(
        Span(
          "Medians of \(baseRuns) and \(headRuns) runs; ~ marks what lies within their spread.",
          .faint))
    }
    if isEstimate {
      page.line(
        Span("Estimated from samples; ~ marks what lies within their margins (95 %).", .faint))
    }
    writeTotals(to: &page)
    writeRows(to: &page)
    if let nextStep { page.line(Span("Next: \(nextStep)", .faint)) }
    if !warnings.isEmpty { page.blank() }
    for warning in warnings { page.line(Span("Warning: ", .warning), Span(warning)) }
    for failure in failures {
      page.line(
        Span("Failed: ", .error),
        Span("\(failure.rule): \(failure.text(page.style.bytes))"))
    }
    for limit in undecided {
      page.line(
        Span("Undecided: ", .warning),
        Span(
          "\(limit.rule): \(limit.text(page.style.bytes)); the samples do not tell whether it is "
            + "exceeded, smaller intervals do"))
    }
  }

  /// What of all that is allocated is still there is the question behind most comparisons.
  private var nextStep: String? {
    let unfreed = totals.first { $0.measure == Measure.unfreed.rawValue }
    guard blocks == .total, let unfreed, !unfreed.isWithinSpread,
      unfreed.head.median > unfreed.base.median
    else { return nil }
    let sides = [base, head].map(ShellText.quoted).joined(separator: " ")
    return "memtrace diff \(sides) --blocks unfreed --group-by function shows whose blocks are left"
  }

  private func writeTotals(to page: inout TextPage) {
    page.blank()
    var table = TextTable([
      .text("Whole process"), .number("Before", spare: 1), .number("After"),
      .number("Change"),
    ])
    let style = page.style.bytes
    for total in totals {
      let format: (UInt64) -> String = { total.isBytes ? style.format($0) : $0.grouped }
      let more = Difference.of(total.head.median, total.base.median)
      table.add([
        Span(total.measure), Span(format(total.base.median)), Span(format(total.head.median)),
        Span(
          Self.signed(more, format) + percent(total)
            + (total.isWithinSpread && more != 0 ? " ~" : ""),
          more > 0 && !total.isWithinSpread ? .warning : .plain),
      ])
    }
    page.table(table)
  }

  /// ` (+9.4 %)`, of what is more than ten times as much ` (67,797 times)`.
  private func percent(_ total: Total) -> String {
    guard total.base.median > 0, total.base.median != total.head.median else { return "" }
    let ratio = Double(total.head.median) / Double(total.base.median)
    if ratio > 11 { return " (\(UInt64(min(ratio.rounded(), 0x1p63)).grouped) times)" }
    let tenths = Int64(((ratio - 1) * 1000).rounded())
    return " (\(tenths < 0 ? "-" : "+")\(tenths.magnitude / 10).\(tenths.magnitude % 10) %)"
  }

  private func writeRows(to page: inout TextPage) {
    page.blank()
    var table = TextTable([
      .text("Change", shortest: nil), .text(grouping.title, shortest: 12),
      .number("Bytes", spare: 1), .number("More Bytes"), .number("#", spare: 3),
      .number("More #", spare: 2),
    ])
    for row in rows + [sum] {
      let isSum = row == sum
      table.add([
        Span(isSum ? "" : row.change.rawValue + (row.isWithinSpread ? " ~" : "")),
        Span(row.name, isSum ? .heading : .emphasis), Span(page.bytes(row.headBytes.median)),
        Span(Self.signed(row.bytesMore, page.style.bytes.format)),
        Span(row.headCount.median.grouped),
        Span(Self.signed(row.countMore, \.grouped)),
      ])
    }
    page.table(table)
    let hidden = changedCount - rows.count
    if hidden > 0 { page.line(Span(CountText.more(hidden, "row") + "; --top 0 shows all", .faint)) }
    if sameCount > 0 {
      page.line(Span("\(CountText.of(UInt64(sameCount), "row", .is)) unchanged.", .faint))
    }
  }

  private static func signed(_ value: Int64, _ format: (UInt64) -> String) -> String {
    value == 0 ? "0" : (value < 0 ? "-" : "+") + format(value.magnitude)
  }

  /// A row for each that changed.
  public var csv: CSVTable? {
    var table = CSVTable([
      "Change", grouping.title, "Bytes Before", "Bytes After", "# Before", "# After",
      "Within Spread",
    ])
    for row in rows {
      table.add(
        row.change.rawValue, row.name, row.baseBytes.median, row.headBytes.median,
        row.baseCount.median, row.headCount.median, row.isWithinSpread ? "yes" : "no")
    }
    return table
  }
}

extension ComparisonGrouping {
  /// The title of the column.
  var title: String {
    switch self {
    case .category: "Category"
    case .function: "Function"
    case .stack: "Stack"
    }
  }
}
