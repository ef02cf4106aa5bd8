import TraceReader

extension HistoryReport {
  /// Writes the table of events, and the stacks below when they are asked for.
  public func write(to page: inout TextPage) {
    let program = "\(trace.commandLine) (pid \(trace.pid))"
    if entries.isEmpty {
      let blocks = trace.sampling.map { "in \($0.name) of \(program)" } ?? "of \(program)"
      page.line("No block \(blocks) ever covered \(HexText.of(address)).")
      page.line(Span(addressAdvice, .faint))
      coverage.write(to: &page)
      return
    }
    page.line(Span("History of \(HexText.of(address)) in \(program)", .heading))
    if entryCount > entries.count {
      page.line(Span("The last \(entries.count) of \(entryCount.grouped) events.", .faint))
    }
    page.blank()
    page.table(table(bytes: page.style.bytes))
    writeSnapshotCounts(to: &page)
    writeUnbalanced(to: &page)
    writeUses(to: &page)
    if showsStacks {
      for (number, entry) in numbered where entry.refcount?.isImplied != true {
        page.blank()
        page.line(
          Span("\(number). \(entry.eventType)", .heading), " on ", Span(entry.event.thread.text),
          " at \(TimeText.timestamp(entry.event.timeNanoseconds))")
        StackText.write(entry.event.frames, to: &page, indent: 4)
      }
    }
    coverage.write(to: &page)
  }

  /// Where the addresses are that there are.
  private var addressAdvice: String {
    // The next run has its blocks elsewhere.
    trace.file == nil
      ? "Addresses differ from run to run: keep a trace (memtrace record), and look into that."
      : "Its blocks with their addresses: memtrace allocations \(trace.fileArgument) --blocks"
  }

  private func writeSnapshotCounts(to page: inout TextPage) {
    guard let found = snapshotCounts else { return }
    page.blank()
    let moment = "snapshot \(found.snapshot) (\(TimeText.timestamp(found.timeNanoseconds)))"
    page.line("\(HexText.of(found.object)) in \(moment): \(found.counts.text)")
  }

  private func writeUses(to page: inout TextPage) {
    write(uses.filter { !$0.isAfterFree }, under: "Used outside of its bounds", to: &page)
    write(uses.filter(\.isAfterFree), under: "Used after it was freed", to: &page)
  }

  private func write(_ uses: [Use], under title: String, to page: inout TextPage) {
    guard !uses.isEmpty else { return }
    page.heading(title)
    for use in uses {
      let moment = TimeText.timestamp(use.event.timeNanoseconds)
      page.line(
        [Span(use.block), ": ", Span(use.message, .error), " (\(moment))"], indent: 2)
      if !use.event.frames.isEmpty { StackText.write(use.event.frames, to: &page, indent: 4) }
    }
  }

  /// Names what goes with nothing.
  private func writeUnbalanced(to page: inout TextPage) {
    guard !imbalances.isEmpty else { return }
    page.heading("Unbalanced")
    for (title, found) in Self.byTitle(imbalances) {
      let times = found.count == 1 ? "" : "; \(found.count.grouped) times, last at \(found.last)"
      page.line([Span("\(found.first). "), Span(title, .error), Span(times)], indent: 2)
    }
  }

  /// What reads the same is told once, whichever way led there.
  private static func byTitle(_ all: [Imbalance]) -> [(title: String, found: Imbalance)] {
    var lines: [(title: String, found: Imbalance)] = []
    var positions: [String: Int] = [:]
    for found in all {
      let title = found.entry.imbalance
      if let known = positions[title] {
        lines[known].found.count += found.count
        lines[known].found.last = max(lines[known].found.last, found.last)
      } else {
        positions[title] = lines.count
        lines.append((title, found))
      }
    }
    return lines
  }

  private var numbered: [(Int, Entry)] {
    let first = entryCount - entries.count
    return entries.enumerated().map { (first + $0.offset, $0.element) }
  }

  private func table(bytes: ByteStyle) -> TextTable {
    let withBlock = entries.contains { $0.offset != 0 } || Set(entries.map(\.block)).count > 1
    var columns: [TextTable.Column] = [
      .number("#"), .text("Event Type", shortest: 15), .number("Δ"),
      .text("Timestamp", shortest: nil, spare: 1),
      .number("Size"),
    ]
    let withCounts = entries.contains { $0.refcount != nil }
    if withCounts { columns += [.number("RefCt"), .number("Pair")] }
    let withType = entries.contains { $0.category?.isType ?? false }
    if withType { columns.append(.text("Category")) }
    if withBlock { columns.append(.text("Block", shortest: nil)) }
    columns += [
      .text("Thread", spare: 2), .text("Responsible Library", spare: 3),
      .text("Responsible Caller"),
    ]
    var table = TextTable(columns)
    for (number, entry) in numbered {
      let change = entry.refcount?.change ?? Int64(entry.delta)
      var cells = [
        Span("\(number)"),
        Span(entry.typeText, entry.isUnexpected || entry.isUnbalanced ? .error : .plain),
        Span(change == 0 ? "" : change > 0 ? "+\(change)" : "\(change)"),
        Span(TimeText.timestamp(entry.event.timeNanoseconds)),
        Span(entry.size.map(bytes.format) ?? ""),
      ]
      if withCounts {
        cells.append(Span((entry.refcount?.count).map { "\($0)" } ?? ""))
        cells.append(
          entry.isUnbalanced
            ? Span("none", .error) : Span((entry.refcount?.partner).map { "\($0)" } ?? ""))
      }
      if withType { cells.append(Span(entry.category?.name ?? "")) }
      if withBlock {
        let offset = entry.offset == 0 ? "" : " + \(entry.offset)"
        cells.append(Span(HexText.of(entry.block) + offset))
      }
      cells += [
        Span(entry.event.thread.shortText), Span(entry.responsible?.imageName ?? ""),
        Span(
          entry.responsible.map { frame in
            frame.place.map { "\(frame.name)  \($0)" } ?? frame.name
          } ?? "", .emphasis),
      ]
      table.add(cells)
    }
    return table
  }

  /// One row per event.
  public var csv: CSVTable? {
    var table = CSVTable([
      "#", "Event Type", "Delta", "Live", "Timestamp", "Nanoseconds", "Block", "Offset", "Size",
      "Thread", "Responsible Library", "Responsible Caller", "Source", "Stack ID", "Frames",
      "Category", "Count Change", "Count", "Pair", "Unbalanced",
    ])
    for (number, entry) in numbered {
      table.add(
        number, entry.eventType, entry.delta, entry.live,
        TimeText.timestamp(entry.event.timeNanoseconds), entry.event.timeNanoseconds,
        HexText.of(entry.block), entry.offset, entry.size, entry.event.thread.text,
        entry.responsible?.imageName, entry.responsible?.name, entry.responsible?.place,
        entry.event.stack, entry.event.frames.map(\.title).joined(separator: " < "),
        entry.category?.name, (entry.refcount?.change).map(Int.init),
        (entry.refcount?.count).map(Int.init),
        entry.refcount?.partner, entry.refcount.map { $0.isUnbalanced ? 1 : 0 })
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, address, events, eventCount, unbalanced, imbalances, snapshotCounts, uses
  }

  /// Writes the document `memtrace.history`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(entries, forKey: .events)
    try container.encode(entryCount, forKey: .eventCount)
    try container.encode(unbalanced, forKey: .unbalanced)
    if !imbalances.isEmpty { try container.encode(imbalances, forKey: .imbalances) }
    try container.encodeIfPresent(snapshotCounts, forKey: .snapshotCounts)
    if !uses.isEmpty { try container.encode(uses, forKey: .uses) }
  }
}

extension HistoryReport.Entry: Encodable {
  enum CodingKeys: String, CodingKey {
    case eventIndex, eventType, delta, live, block, offset, size, category, isUnexpected, event
    case responsible, refcount
  }

  /// Writes the event; addresses as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(eventIndex, forKey: .eventIndex)
    try container.encode(eventType, forKey: .eventType)
    try container.encode(delta, forKey: .delta)
    try container.encode(live, forKey: .live)
    try container.encode(HexText.of(block), forKey: .block)
    try container.encode(offset, forKey: .offset)
    try container.encodeIfPresent(size, forKey: .size)
    try container.encodeIfPresent(category?.name, forKey: .category)
    try container.encode(isUnexpected, forKey: .isUnexpected)
    try container.encode(event, forKey: .event)
    try container.encodeIfPresent(responsible, forKey: .responsible)
    try container.encodeIfPresent(refcount, forKey: .refcount)
  }
}

extension HistoryReport.Entry {
  fileprivate var isUnbalanced: Bool { refcount?.isUnbalanced ?? false }

  /// `free (not live)`, `release (freed)`, `retain (not recorded)`.
  fileprivate var typeText: String {
    if refcount?.isImplied ?? false { return "\(eventType) (not recorded)" }
    guard isUnexpected else { return eventType }
    return (refcount != nil && delta == 0) ? "\(eventType) (freed)" : "\(eventType) (not live)"
  }

  /// `release by close(_:)  app.swift:4: no retain goes with it`.
  fileprivate var imbalance: String {
    let frame = responsible.map { " by \($0.title)" } ?? ""
    let isRelease = (refcount?.change ?? 0) < 0
    return "\(eventType)\(frame): "
      + (isRelease ? "no retain goes with it" : "never released")
  }
}

extension HistoryReport.Refcount: Encodable {
  enum CodingKeys: String, CodingKey { case change, count, partner, isUnbalanced, isImplied }

  /// Writes the change and what it goes with.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(change, forKey: .change)
    try container.encodeIfPresent(count, forKey: .count)
    try container.encodeIfPresent(partner, forKey: .partner)
    try container.encode(isUnbalanced, forKey: .isUnbalanced)
    if isImplied { try container.encode(true, forKey: .isImplied) }
  }
}

extension HistoryReport.SnapshotCounts: Encodable {
  enum CodingKeys: String, CodingKey { case snapshot, timeNanoseconds, object, counts }

  /// Writes the counts; the address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(snapshot, forKey: .snapshot)
    try container.encode(timeNanoseconds, forKey: .timeNanoseconds)
    try container.encode(HexText.of(object), forKey: .object)
    try container.encode(counts, forKey: .counts)
  }
}
