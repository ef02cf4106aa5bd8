import LeakAnalysis
import TraceReader

extension DanglingReport {
  /// Writes one paragraph per row: who holds it, what it was, allocated and freed where.
  public func write(to page: inout TextPage) {
    page.line(Span(headline, total > 0 ? .error : .heading))
    page.line(Span(origin(page), .faint))
    page.lines(about: trace)
    for warning in warnings { page.line(Span("Snapshot: ", .warning), Span(warning)) }
    let sure = rows.filter { $0.confidence == .likely && !$0.isFromExit }
    for (index, row) in sure.enumerated() {
      page.blank()
      write(row, number: index + 1, to: &page)
    }
    writeTable(rows.dropFirst(sure.count), to: &page)
    let hidden = rowCount - rows.count
    if hidden > 0 {
      page.line(Span(CountText.more(hidden, "row") + "; --top 0 shows all", .faint))
    }
    writeDeinitialized(to: &page)
    writeRest(to: &page)
    coverage.write(to: &page)
  }

  /// Likely ones.
  var total: UInt64 { counts[.likely] ?? 0 }

  /// What was found, in a sentence such as `Process 4711: 1 pointer into a freed block.`.
  var headline: String {
    let possible = counts[.possible] ?? 0
    let pointers =
      total == 0
      ? "no sure pointer into a freed block"
      : total == 1
        ? "1 pointer into a freed block"
        : "\(total.grouped) pointers into freed blocks"
    if total + possible == 0 { return "Process \(trace.pid): no pointers into freed blocks." }
    let others = possible == 1 ? "1 possible one" : "\(possible.grouped) possible ones"
    return "Process \(trace.pid): \(pointers)\(possible == 0 ? "" : ", and \(others)")."
  }

  private func origin(_ page: TextPage) -> String {
    let time = TimeText.timestamp(snapshot.timeNanoseconds)
    return "\(trace.commandLine), snapshot \(snapshot.reason) (\(time)): "
      + "\(CountText.blocks(live.count)) live, \(page.bytes(live.bytes))"
  }

  private var warnings: [String] {
    var warnings: [String] = []
    if !snapshot.isComplete || snapshot.skippedBytes > 0 || snapshot.damagedParts != nil {
      warnings.append(
        "a part of it is missing: what is there, and what only that holds, is not seen")
    }
    if !isComplete { warnings.append("the events before it could not be followed to the end") }
    return warnings
  }

  private func write(_ row: Row, number: Int, to page: inout TextPage) {
    page.line(Span("\(number). "), Span(title(row, page), .error))
    page.line("   \(places(row))")
    if let holder = row.holderAllocated {
      write("Holder allocated", holder, after: nil, to: &page)
    }
    write("Allocated", row.allocated, after: nil, to: &page)
    write("Freed", row.freed, after: row.allocated, to: &page)
  }

  /// `variable cache in app holds a pointer to a freed struct node (16 B)`.
  private func title(_ row: Row, _ page: TextPage) -> String {
    let size = page.bytes(row.blocks.bytes)
    let what =
      row.blocks.count == 1
      ? "a freed block: \(row.name) (\(size))"
      : "\(row.blocks.count.grouped) freed blocks: \(row.name) (\(size))"
    let verb = row.holderKind == "thread-local variable" ? "point" : "points"
    return "\(Self.capitalized(row.holder)) \(verb) to \(what)"
  }

  private static func capitalized(_ text: String) -> String {
    text.hasPrefix("variable ") || text.hasPrefix("thread-local ")
      ? text.prefix(1).uppercased() + text.dropFirst() : text
  }

  /// The first few pointers, such as `0x404010 -> 0x55d0c0a0`.
  private func places(_ row: Row) -> String {
    let places = row.examples.map { example in
      let place = example.holder.map { "\(HexText.of($0)) -> " } ?? ""
      return place + HexText.of(example.pointer)
    }
    let more = row.count > UInt64(places.count) ? ", …" : ""
    let earlier =
      row.examples.contains(where: \.mayBeEarlier)
      ? "; several blocks were there, this is the last" : ""
    return places.joined(separator: ", ") + more + earlier
  }

  private func write(
    _ verb: String, _ event: EventSummary, after previous: EventSummary?, to page: inout TextPage
  ) {
    var text = "\(verb) by \(event.function) on \(event.thread.text)"
    text += " at \(TimeText.timestamp(event.timeNanoseconds))"
    if let previous, event.timeNanoseconds >= previous.timeNanoseconds {
      let distance = event.timeNanoseconds - previous.timeNanoseconds
      text += distance > 0 ? ", \(TimeText.duration(distance)) later" : ", right after"
    }
    page.line(Span("   \(text)", .heading))
    StackText.write(event.frames, to: &page, indent: 7, limit: query.frames ?? .max)
  }

  private func writeTable(_ rows: some Collection<Row>, to page: inout TextPage) {
    guard !rows.isEmpty else { return }
    page.heading(
      query.includesDoubtful
        ? "Less sure, or freed as the process ended:"
        : "Possible, in arrays and the like, or into the middle:")
    var table = TextTable([
      .number("#"), .text("Held By"), .text("Freed Block"), .number("Bytes", spare: 2),
      .text("Freed In", spare: 1), .text("Such As", shortest: nil),
    ])
    for row in rows {
      let remark =
        row.isFromExit ? " (at the end)" : row.confidence == .doubtful ? " (doubtful)" : ""
      table.add([
        Span(row.count.grouped), Span(row.holder + remark),
        Span((row.edge == "start" ? "" : "inside ") + row.name), Span(page.bytes(row.blocks.bytes)),
        Span(Self.caller(row.freed) ?? ""), Span(HexText.of(row.examples.first?.pointer ?? 0)),
      ])
    }
    page.table(table, indent: 2)
  }

  private func writeRest(to page: inout TextPage) {
    page.blank()
    if let example = rows.first?.examples.first {
      let address = HexText.of(example.pointer)
      page.line(
        "Next: memtrace history \(trace.file ?? "TRACE") \(address) shows what happened there")
    }
    if !rows.isEmpty {
      page.line(Span("A pointer that is never followed again does no harm.", .faint))
    }
    page.line(
      Span(
        "Pointers to addresses that were used again cannot be seen; --zombies keeps freed blocks longer.",
        .faint))
    if hasUnknownBlocks {
      page.line(
        Span(
          "Blocks from before the recording are not known, so that fewer pointers are sure.", .faint
        ))
    }
    guard !query.includesDoubtful else { return }
    var left: [String] = []
    if let doubtful = counts[.doubtful], doubtful > 0 {
      left.append(
        "\(CountText.of(doubtful, "word")) on stacks and in memory that may not be in use")
    }
    if exitCount > 0 {
      left.append("\(CountText.of(exitCount, "pointer")) to blocks freed as the process ended")
    }
    if !left.isEmpty {
      page.line(Span("Not shown: \(left.joined(separator: ", ")); --all shows them.", .faint))
    }
  }

  /// One row per row.
  public var csv: CSVTable? {
    var table = CSVTable([
      "Confidence", "#", "Holder", "Holder Kind", "Offset", "Holder Address", "Pointer",
      "Freed Block", "# Blocks", "Bytes", "Edge", "Block Address", "At Exit",
      "Allocated Responsible Caller", "Allocated Stack ID", "Freed Responsible Caller",
      "Freed Stack ID",
    ])
    for row in rows {
      let example = row.examples.first
      table.add(
        row.confidence.name, row.count, row.holder, row.holderKind, row.offset,
        (example?.holder).map(HexText.of), (example?.pointer).map(HexText.of), row.name,
        row.blocks.count, row.blocks.bytes, row.edge, (example?.block).map(HexText.of),
        row.isFromExit, Self.caller(row.allocated), row.allocated.stack, Self.caller(row.freed),
        row.freed.stack)
    }
    return table
  }

  private static func caller(_ event: EventSummary) -> String? {
    StackText.withoutLeadingRuntime(event.frames).first?.title
  }
}

extension DanglingPointer.Confidence {
  /// The name in JSON and text.
  var name: String {
    switch self {
    case .likely: "likely"
    case .possible: "possible"
    case .doubtful: "doubtful"
    }
  }
}
