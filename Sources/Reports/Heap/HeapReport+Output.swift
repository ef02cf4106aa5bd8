extension HeapReport {
  /// Writes the header of `heap` and the table of classes.
  public func write(to page: inout TextPage) {
    page.line(Span("Process \(trace.pid): \(trace.commandLine)", .heading))
    page.line(Span(momentText, .faint))
    page.lines(about: trace)
    page.line("Found:  \(foundText)")
    let nodes = CountText.of(totalCount, "node")
    page.line("All zones: \(nodes) malloced - Sizes: \(sizesText)")
    page.line(Span(String(repeating: "-", count: min(71, page.style.width ?? 71)), .faint))
    let count = totalCount.grouped + MarginText.suffix(totalCountMargin, of: totalCount)
    let bytes = totalBytes.grouped + MarginText.suffix(totalBytesMargin, of: totalBytes)
    page.line("All zones: \(count) \(totalCount == 1 ? "node" : "nodes") (\(bytes) bytes)")
    if rows.isEmpty {
      coverage.write(to: &page)
      return
    }
    page.blank()
    page.table(table)
    let hidden = rowCount - rows.count
    if hidden > 0 { page.line(Span("… \(hidden.grouped) more; --top 0 shows all", .faint)) }
    writeObjects(to: &page)
    page.blank()
    page.line(Span(evidenceText, .faint))
    coverage.write(to: &page)
  }

  private func writeObjects(to page: inout TextPage) {
    guard query.listsObjects else { return }
    page.blank()
    let columns: [TextTable.Column] = [
      .text("ADDRESS", shortest: nil), .number("SIZE"), .number("STRONG", spare: 1),
      .number("UNOWNED", spare: 3), .number("WEAK", spare: 2), .text("CLASS_NAME"),
    ]
    let cells = objects.converted { object in
      [
        Span(HexText.of(object.address)), Span(object.size.grouped),
        Span(object.counts?.strong.grouped ?? ""), Span(object.counts?.unowned.grouped ?? ""),
        Span(object.counts?.weak.grouped ?? ""), Span(object.name, .emphasis),
      ]
    }
    page.table(TextTable(columns, rows: cells))
    let hidden = objectCount - objects.count
    if hidden > 0 { page.line(Span("… \(hidden.grouped) more; --top 0 shows all", .faint)) }
  }

  private var momentText: String {
    guard let snapshot else {
      return "What was live at the end; the trace has no snapshot, so types follow from stacks."
    }
    let cut = snapshot.isComplete ? "" : " (cut: words may be missing)"
    return "Snapshot \(snapshot.index) at \(TimeText.timestamp(snapshot.timeNanoseconds))\(cut)"
  }

  /// `3 Swift classes  2 C++ classes`.
  private var foundText: String {
    let languages = classes.map { found in
      "\(found.count.grouped) \(found.language) \(found.count == 1 ? "class" : "classes")"
    }
    return languages.isEmpty ? "no classes" : languages.joined(separator: "  ")
  }

  /// `2048KB[5] 1024KB[4] 48[5415]`, the greatest sizes first.
  private var sizesText: String {
    let shown = sizes.prefix(Self.mostSizes).map { entry in
      let isKilobytes = entry.size >= 1024 && entry.size % 1024 == 0
      return "\(isKilobytes ? "\(entry.size / 1024)KB" : "\(entry.size)")[\(entry.count)]"
    }
    let rest = sizes.count - shown.count
    return shown.joined(separator: " ")
      + (rest > 0 ? " and \(CountText.of(UInt64(rest), "smaller size"))" : "")
  }

  private static let mostSizes = 8

  private var evidenceText: String {
    "The types of \(CountText.blocks(seenCount)) were read in the blocks themselves; "
      + "those of \(derivedCount.grouped) follow from the stacks that allocated them."
  }

  private var table: TextTable {
    var table = TextTable([
      .number("COUNT"), .number("BYTES"), .number("AVG", spare: 3), .text("CLASS_NAME"),
      .text("TYPE", shortest: nil, spare: 1), .text("BINARY", spare: 2),
    ])
    table.add([
      Span("====="), Span("====="), Span("==="), Span("=========="), Span("===="), Span("======"),
    ])
    for row in rows {
      let size = row.size.map { "  [\($0.grouped)]" } ?? ""
      table.add([
        Span(row.count.grouped + MarginText.suffix(row.countMargin, of: row.count)),
        Span(row.bytes.grouped + MarginText.suffix(row.bytesMargin, of: row.bytes)),
        Span(Self.tenths(row)),
        Span(row.name + size, .emphasis), Span(row.language),
        Span(
          row.image.map(ReportFrame.lastComponent)
            ?? (row.isOfSeveralImages ? "< multiple >" : "<unknown>")),
      ])
    }
    return table
  }

  /// Bytes per block with one decimal.
  private static func tenths(_ row: Row) -> String {
    guard row.count > 0 else { return "0.0" }
    let (scaled, overflow) = row.bytes.multipliedReportingOverflow(by: 10)
    if overflow { return (row.bytes / row.count).grouped }
    let tenths = (scaled &+ row.count / 2) / row.count
    return "\((tenths / 10).grouped).\(tenths % 10)"
  }

  /// One row per block, where blocks were asked for.
  private var objectsCSV: CSVTable {
    let fields = objects.converted { object in
      CSVTable.row([
        HexText.of(object.address), object.size, object.counts?.strong, object.counts?.unowned,
        object.counts?.weak, object.name,
      ])
    }
    return CSVTable(
      ["Address", "Size", "Strong", "Unowned", "Weak", "Class"], rows: fields)
  }

  /// One row per class, or per block where these were asked for.
  public var csv: CSVTable? {
    if query.listsObjects { return objectsCSV }
    let isEstimate = trace.sampling != nil
    var table = CSVTable(
      ["Count", "Bytes", "Average", "Class", "Full Name", "Type", "Binary", "Size", "Seen"]
        + (isEstimate ? ["Count Margin", "Bytes Margin"] : []))
    for row in rows {
      let fields: [any CSVField] = [
        row.count, row.bytes, Self.tenths(row).filter { $0 != "," }, row.name, row.fullName,
        row.language, row.image, row.size, row.seenCount,
      ]
      let margins: [any CSVField] = isEstimate ? [row.countMargin, row.bytesMargin] : []
      table.add((fields + margins).map(\.csvText))
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, snapshot, sortedBy, totalCount, totalBytes, totalCountMargin
    case totalBytesMargin, sizes, classes, seenCount, derivedCount, rows, rowCount
    case objects, objectCount
  }

  /// Writes the document `memtrace.heap`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encodeIfPresent(snapshot, forKey: .snapshot)
    try container.encode(query.order, forKey: .sortedBy)
    try container.encode(totalCount, forKey: .totalCount)
    try container.encode(totalBytes, forKey: .totalBytes)
    try container.encodeIfPresent(totalCountMargin, forKey: .totalCountMargin)
    try container.encodeIfPresent(totalBytesMargin, forKey: .totalBytesMargin)
    try container.encode(sizes, forKey: .sizes)
    try container.encode(classes, forKey: .classes)
    try container.encode(seenCount, forKey: .seenCount)
    try container.encode(derivedCount, forKey: .derivedCount)
    try container.encode(rows, forKey: .rows)
    try container.encode(rowCount, forKey: .rowCount)
    guard query.listsObjects else { return }
    try container.encode(objects, forKey: .objects)
    try container.encode(objectCount, forKey: .objectCount)
  }
}

extension HeapReport.Object: Encodable {
  enum CodingKeys: String, CodingKey { case address, size, name, counts }

  /// Writes the block; its address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(size, forKey: .size)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(counts, forKey: .counts)
  }
}
