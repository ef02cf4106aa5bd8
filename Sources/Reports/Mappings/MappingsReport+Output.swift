extension MappingsReport {
  /// What Instruments calls the row of all mappings together.
  static let totalName = "All VM Regions"

  /// Writes what is mapped in all, and the table or the stacks.
  public func write(to page: inout TextPage) {
    page.line(
      Span(
        "Mapped memory of \(trace.commandLine) (pid \(trace.pid))"
          + MomentText.suffix(query.moment),
        .heading))
    page.lines(aboutPausesOf: trace)
    if let text = lifespanText { page.line(Span(text, .faint)) }
    guard !total.isEmpty else {
      page.line("No calls of mmap, mremap, brk or sbrk to show.")
      coverage.write(to: &page)
      return
    }
    page.line(Span(summary(page)))
    timeline.write(
      to: &page, called: query.lifespan == .all ? "Mapped bytes" : "All mapped bytes",
      of: "mapping")
    page.blank()
    switch query.grouping {
    case .kind, .file, .function: page.table(table(page))
    case .stack: writeStacks(to: &page)
    case .mapping: page.table(regionTable(page))
    }
    let hidden = rowCount - max(rows.count, regions.count)
    if hidden > 0 { page.line(Span("… \(hidden.grouped) more; --top 0 shows all", .faint)) }
    coverage.write(to: &page)
  }

  private var lifespanText: String? {
    switch query.lifespan {
    case .all: nil
    case .persistent: "Only: mapped still"
    case .transient: "Only: unmapped"
    }
  }

  /// Such as `1.05 MiB mapped in 3 mappings; peak 2.00 MiB at 00:00.001.200`.
  private func summary(_ page: TextPage) -> String {
    if query.lifespan == .transient {
      return "\(page.bytes(total.totalBytes)) was mapped in "
        + "\(CountText.of(total.totalCount, "mapping")), and unmapped."
    }
    let used = page.bytes(total.persistentBytes &- reservedBytes)
    var text = "\(used) mapped in \(CountText.of(total.persistentCount, "mapping"))"
    if reservedBytes > 0 {
      text += "; besides, \(page.bytes(reservedBytes)) of addresses are reserved"
    }
    return text + "."
  }

  private var groupTitle: String {
    switch query.grouping {
    case .file: "File"
    case .function: "Responsible Caller"
    case .stack: "Stack"
    case .kind, .mapping: "Category"
    }
  }

  /// As that of `allocations`, with what of the persistent bytes is reserved.
  private func table(_ page: TextPage) -> TextTable {
    let columns: [AllocationsColumn] = [.persistent, .transient, .totalBytes, .total]
    var table = TextTable(
      [
        .text(groupTitle, shortest: 8), .number(AllocationsColumn.persistentBytes.title),
        .number("Reserved"),
      ]
        + columns.map { column in
          switch column {
          case .transient: .number(column.title, spare: 2)
          case .total: .number(column.title, spare: 1)
          default: column.column
          }
        })
    func add(_ name: Span, _ tally: TallyRow, _ reserved: UInt64) {
      let first = [name, Span(page.bytes(tally.persistentBytes)), Span(page.bytes(reserved))]
      table.add(
        first + columns.map { $0.text(tally, bytes: page.style.bytes, hasMargin: false) })
    }
    add(Span(Self.totalName, .heading), total, reservedBytes)
    for row in rows { add(Span(row.name, .emphasis), row.tally, row.reservedBytes) }
    return table
  }

  private func writeStacks(to page: inout TextPage) {
    for row in rows {
      page.blank()
      page.line(
        Span(sizeText(row, page), .heading),
        Span(" (\(row.kinds.joined(separator: ", ")))"))
      StackText.write(row.frames ?? [], to: &page, indent: 4, limit: query.frames ?? .max)
    }
  }

  /// `1.00 MiB in 1 mapping`, `28.00 KiB left of 40.00 KiB in 1 mapping`, `192.0 KiB in 3 mappings,
  /// unmapped`; `, 4.00 KiB reserved`.
  private func sizeText(_ row: Row, _ page: TextPage) -> String {
    let tally = row.tally
    let all =
      "\(page.bytes(tally.totalBytes)) in \(CountText.of(tally.totalCount, "mapping"))"
    if tally.persistentBytes == 0 { return "\(all), unmapped" }
    let reserved = row.reservedBytes > 0 ? ", \(page.bytes(row.reservedBytes)) reserved" : ""
    if tally.transientBytes == 0 { return all + reserved }
    return "\(page.bytes(tally.persistentBytes)) left of \(all)\(reserved)"
  }

  private func regionTable(_ page: TextPage) -> TextTable {
    var table = TextTable([
      .text("Address", shortest: nil), .number("Size"), .number("Persistent"),
      .number("Reserved", spare: 4), .text("Category", shortest: nil),
      .text("Prot", shortest: nil, spare: 5), .text("Mapped", shortest: nil, spare: 3),
      .text("Unmapped", shortest: nil, spare: 2), .text("Responsible Caller"),
      .text("File", spare: 1),
    ])
    for region in regions {
      table.add([
        Span(HexText.of(region.address)), Span(page.bytes(region.length)),
        Span(page.bytes(region.persistentBytes)), Span(page.bytes(region.reservedBytes)),
        Span(region.kind, .emphasis),
        Span(region.protection), Span(TimeText.timestamp(region.startNanoseconds)),
        Span(region.endNanoseconds.map(TimeText.timestamp) ?? ""),
        Span(region.responsible?.title ?? ""), Span(region.path ?? ""),
      ])
    }
    return table
  }
}

// MARK: CSV and JSON

extension MappingsReport {
  /// One row per group, or per mapping.
  public var csv: CSVTable? {
    query.grouping == .mapping ? regionCSV : groupCSV
  }

  private var groupCSV: CSVTable {
    let withStack = query.grouping == .stack
    var table = CSVTable(
      [
        groupTitle, "Persistent Bytes", "Reserved Bytes", "# Persistent", "# Transient",
        "Total Bytes", "# Total",
        "Categories",
      ] + (withStack ? ["Stack ID", "Frames"] : []))
    for row in rows {
      let fields: [any CSVField] = [
        row.name, row.tally.persistentBytes, row.reservedBytes, row.tally.persistentCount,
        row.tally.transientCount, row.tally.totalBytes, row.tally.totalCount,
        row.kinds.joined(separator: "; "),
      ]
      let stack: [any CSVField] = [
        row.stack, (row.frames ?? []).map(\.title).joined(separator: " < "),
      ]
      table.add((fields + (withStack ? stack : [])).map(\.csvText))
    }
    return table
  }

  private var regionCSV: CSVTable {
    var table = CSVTable([
      "Address", "Size", "Persistent Bytes", "Reserved Bytes", "Category", "Protection", "Shared",
      "File", "Offset",
      "Mapped", "Unmapped", "Thread", "Responsible Library", "Responsible Caller", "Stack ID",
      "Frames",
    ])
    for region in regions {
      let fields: [any CSVField] = [
        HexText.of(region.address), region.length, region.persistentBytes, region.reservedBytes,
        region.kind,
        region.protection, region.isShared ? "yes" : "no", region.path, region.offset,
        region.startNanoseconds, region.endNanoseconds, region.thread.text,
        region.responsible?.imageName, region.responsible?.name, region.stack,
        region.frames.map(\.title).joined(separator: " < "),
      ]
      table.add(fields.map(\.csvText))
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, moment, groupBy, lifespan, total, reservedBytes, peakBytes
    case peakNanoseconds, timeline, foreignBytes, rows, mappings, rowCount
  }

  /// Writes the document `memtrace.mappings`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encodeIfPresent(query.moment, forKey: .moment)
    try container.encode(query.grouping, forKey: .groupBy)
    try container.encode(query.lifespan.rawValue, forKey: .lifespan)
    try container.encode(total, forKey: .total)
    try container.encode(reservedBytes, forKey: .reservedBytes)
    try container.encode(peakBytes, forKey: .peakBytes)
    try container.encode(peakNanoseconds, forKey: .peakNanoseconds)
    try container.encode(timeline, forKey: .timeline)
    try container.encode(foreignBytes, forKey: .foreignBytes)
    if query.grouping == .mapping {
      try container.encode(regions, forKey: .mappings)
    } else {
      try container.encode(rows, forKey: .rows)
    }
    try container.encode(rowCount, forKey: .rowCount)
  }
}

extension MappingsReport.Row: Encodable {
  enum CodingKeys: String, CodingKey { case name, kinds, reservedBytes, stack, frames }

  /// Writes the name, the numbers and, where rows are stacks, the frames.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(kinds, forKey: .kinds)
    try container.encode(reservedBytes, forKey: .reservedBytes)
    try container.encodeIfPresent(stack, forKey: .stack)
    try container.encodeIfPresent(frames, forKey: .frames)
    try tally.encode(to: encoder)
  }
}

extension MappingsReport.Region: Encodable {
  enum CodingKeys: String, CodingKey {
    case address, length, persistentBytes, reservedBytes, kind, path, offset, protection, isShared
    case startNanoseconds, endNanoseconds, thread, stack, responsible, frames
  }

  /// Writes all that is known of the mapping; addresses as hexadecimal texts.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(length, forKey: .length)
    try container.encode(persistentBytes, forKey: .persistentBytes)
    try container.encode(reservedBytes, forKey: .reservedBytes)
    try container.encode(kind, forKey: .kind)
    try container.encodeIfPresent(path, forKey: .path)
    try container.encode(offset, forKey: .offset)
    try container.encode(protection, forKey: .protection)
    try container.encode(isShared, forKey: .isShared)
    try container.encode(startNanoseconds, forKey: .startNanoseconds)
    try container.encodeIfPresent(endNanoseconds, forKey: .endNanoseconds)
    try container.encode(thread, forKey: .thread)
    try container.encode(stack, forKey: .stack)
    try container.encodeIfPresent(responsible, forKey: .responsible)
    try container.encode(frames, forKey: .frames)
  }
}
