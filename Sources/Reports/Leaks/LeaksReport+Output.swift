extension LeaksReport {
  /// Writes the sum, the table, and the trees with their stacks.
  public func write(to page: inout TextPage) {
    page.line(Span(headline, leaked.count > 0 ? .error : .heading))
    page.line(Span(origin(page), .faint))
    page.lines(about: trace)
    page.lines(about: query.filter, query.filter.nameText)
    for warning in snapshot.warnings { page.line(Span("Snapshot: ", .warning), Span(warning)) }
    if let remark = snapshot.remark { page.line(Span(remark)) }
    writeDiscoveries(to: &page)
    writeTable(to: &page)
    writeTrees(to: &page)
    writePossible(to: &page)
    writeSystem(to: &page)
    writeRest(to: &page)
    coverage.write(to: &page)
  }

  /// As `leaks` of macOS says it.
  var headline: String {
    let leaks = leaked.count == 1 ? "1 leak" : "\(leaked.count) leaks"
    let new = comparedWith.map { " that \($0) does not have" } ?? ""
    return "Process \(trace.pid): \(leaks) for \(leaked.bytes) total leaked bytes\(new)."
  }

  private func origin(_ page: TextPage) -> String {
    let time = TimeText.timestamp(snapshot.timeNanoseconds)
    return "\(trace.commandLine), snapshot \(snapshot.reason) (\(time)): "
      + "\(CountText.blocks(live.count)) live, \(page.bytes(live.bytes))"
  }

  /// What taking it cost: `Snapshot: 88.0 MiB in 1.9 s; …`.
  private func cost(_ page: TextPage) -> String {
    "The snapshot has \(page.bytes(snapshot.storedBytes)) and took "
      + "\(TimeText.duration(snapshot.durationNanoseconds)); \(pause)."
  }

  private var pause: String {
    if snapshot.pauseNanoseconds == 0 { return "no thread had to be stopped" }
    // Without a copy, at the end of a process, until all was written.
    guard snapshot.forkNanoseconds > 0 else { return "the other threads stood still meanwhile" }
    return "threads stood still for \(TimeText.duration(snapshot.pauseNanoseconds)), "
      + "\(TimeText.duration(snapshot.forkNanoseconds)) of it for the copy of the process"
  }

  private func writeDiscoveries(to page: inout TextPage) {
    guard discoveries.count > 1 else { return }
    let part =
      discoveries.count < snapshotCount
      ? ", \(discoveries.count.grouped) of \(snapshotCount.grouped) snapshots; --top 0 takes all"
      : ""
    page.heading("Leaked bytes by discovery\(part):")
    LeakTimeline.write(discoveries, to: &page)
    // Snapshots that found nothing new are in the track; the last one says where it all ends.
    let told = discoveries.enumerated().filter {
      $0.element.new.count > 0 || $0.offset == discoveries.count - 1
    }.map(\.element)
    let shown = told.suffix(query.top ?? .max)
    page.blank()
    var table = TextTable([
      .text(""), .text("Snapshot", shortest: nil), .number("New", spare: 1),
      .number("New Bytes"), .number("Leaks", spare: 2),
      .number("Leaked Bytes"),
    ])
    for moment in shown {
      let isNew = moment.new.count > 0
      table.add([
        isNew
          ? Span(String(LeakTimeline.foundNew), .error) : Span(String(LeakTimeline.foundNone)),
        Span(TimeText.timestamp(moment.timeNanoseconds)), Span(moment.new.count.grouped),
        Span(page.bytes(moment.new.bytes)), Span(moment.leaked.count.grouped),
        Span(page.bytes(moment.leaked.bytes)),
      ])
    }
    page.table(table, indent: 2)
    let hidden = told.count - shown.count
    if hidden > 0 {
      page.line(
        [
          Span(
            "… \(CountText.of(UInt64(hidden), "earlier one")) with new leaks; --top 0 shows all",
            .faint)
        ],
        indent: 2)
    }
  }

  private func writeTable(to page: inout TextPage) {
    guard !rows.isEmpty else { return }
    page.blank()
    write(rows, of: rowCount, called: "Leaked Object", hasTrees: hasTrees, to: &page)
  }

  private func write(
    _ rows: LongList<LeakRow>, of rowCount: Int, called title: String, hasTrees: Bool = false,
    hasHolders: Bool = false, to page: inout TextPage
  ) {
    var columns: [TextTable.Column] = [
      .text(title), .number("#"), .text("Address", shortest: nil, spare: 1), .number("Size"),
      .text("Responsible Library", spare: 2), .text("Responsible Frame"),
    ]
    if hasHolders { columns.append(.text("Held By")) }
    if hasTrees { columns.insert(.number("Tree Size"), at: 4) }
    let isComparison = rows.first?.newCount != nil
    if isComparison {
      columns.insert(contentsOf: [.number("# New"), .number("New Size")], at: 2)
    }
    let style = page.style.bytes
    let cells = rows.converted { row in
      let place = row.responsible?.place.map { "  \($0)" } ?? ""
      var cells = [
        Span(row.name), Span(row.count.grouped),
        Span(row.count == 1 ? HexText.of(row.address) : "< multiple >", .faint),
        Span(style.format(row.bytes)), Span(row.responsible?.imageName ?? ""),
        Span((row.responsible?.name ?? "<no stack recorded>") + place, .emphasis),
      ]
      if hasTrees { cells.insert(Span(style.tree(row.treeBytes)), at: 4) }
      if hasHolders { cells.append(Span(row.heldBy ?? "", .faint)) }
      if let count = row.newCount, let bytes = row.newBytes {
        cells.insert(contentsOf: [Span(count.grouped), Span(style.format(bytes))], at: 2)
      }
      return cells
    }
    page.table(TextTable(columns, rows: cells))
    let hidden = rowCount - rows.count
    if hidden > 0 { page.line(Span(CountText.more(hidden, "row") + "; --top 0 shows all", .faint)) }
  }

  private func writeTrees(to page: inout TextPage) {
    for group in treeGroups {
      page.blank()
      let instances = group.instances == 1 ? "1 INSTANCE" : "\(group.instances.grouped) INSTANCES"
      let role = group.role == .rootCycle ? "ROOT CYCLE" : "ROOT LEAK"
      let name = group.name.map { "<\($0)>" } ?? "block"
      page.line(Span("STACK OF \(instances) OF '\(role): \(name)':", .heading))
      StackText.write(group.frames, to: &page, indent: 2, limit: query.frames ?? .max)
      page.line("====")
      for tree in group.trees {
        for line in tree {
          write(line, to: &page)
          for retainer in line.retainers {
            page.line([Span(retainer.text, .faint)], indent: 6 + 3 * line.depth)
          }
        }
      }
      let hidden = group.instances - UInt64(group.trees.count)
      if hidden > 0 { page.line([Span("… \(hidden.grouped) more like these", .faint)], indent: 4) }
    }
    let hidden = treeGroupCount - treeGroups.count
    if hidden > 0 {
      page.blank()
      page.line(Span(CountText.more(hidden, "stack") + "; --top 0 shows all", .faint))
    }
  }

  private func write(_ line: LeakTreeLine, to page: inout TextPage) {
    var shown = line
    let bytes = page.style.bytes
    page.treeLine(line.name, indent: 4 + 3 * line.depth) { name in
      shown.name = name
      return shown.text(bytes)
    }
  }

  /// What is no leak, and why.
  private func writePossible(to page: inout TextPage) {
    guard !possibleRows.isEmpty else { return }
    page.heading(
      "Possible leaks: only pointers into the middle of a block, or with tags, lead there.")
    write(
      possibleRows, of: possibleRowCount, called: "Object",
      hasHolders: possibleRows.contains { $0.heldBy != nil }, to: &page)
  }

  /// The blocks that built-in rules leave out, where they are asked for.
  private func writeSystem(to page: inout TextPage) {
    for rule in systemRules where !rule.rows.isEmpty {
      page.heading("Counted only with --all, \(rule.rule): \(rule.reason).")
      write(
        rule.rows.limited(to: query.top), of: rule.rows.count, called: "Leaked Object", to: &page)
    }
  }

  private func writeRest(to page: inout TextPage) {
    page.blank()
    page.line(Span(cost(page), .faint))
    if !reachable.isEmpty {
      let parts = reachable.map { "\($0.root) \($0.blocks.count.grouped)" }
      page.line(Span("Still reachable, held by: \(parts.joined(separator: ", ")).", .faint))
    }
    if possible.count > 0 {
      page.line(
        Span(
          "Of these \(CountText.blocks(possible.count)) (\(page.bytes(possible.bytes))) only by "
            + "pointers into the middle of a block, or with tags.", .faint))
    }
    if system.count > 0 {
      let parts = systemRules.map {
        "\(CountText.blocks($0.blocks.count)) (\(page.bytes($0.blocks.bytes))) of the \($0.rule)"
      }
      page.line(
        Span("Not counted: \(parts.joined(separator: ", ")); --all shows them.", .faint))
    }
  }

  /// One row per row of the table.
  public var csv: CSVTable? {
    let header = [
      "Leaked Object", "#", "Address", "Size", "# Roots", "Responsible Library",
      "Responsible Frame", "Source", "Stack ID", "# New", "New Bytes", "# Tree", "Tree Bytes",
    ]
    let fields = rows.converted { row in
      CSVTable.row([
        row.name, row.count, HexText.of(row.address), row.bytes, row.rootCount,
        row.responsible?.imageName, row.responsible?.name, row.responsible?.place, row.stack,
        row.newCount, row.newBytes, row.treeCount, row.treeBytes,
      ])
    }
    return CSVTable(header, rows: fields)
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, snapshot, filter, groupBy, live, leaked, rootLeakCount, rootCycleCount
    case possible, possibleRows, possibleRowCount, system, systemRules, reachable, rows, rowCount,
      treeGroups, treeGroupCount, discoveries
    case comparedWith, snapshotCount
  }

  /// Writes the document `memtrace.leaks`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(snapshot, forKey: .snapshot)
    try container.encode(query.filter, forKey: .filter)
    try container.encode(query.grouping, forKey: .groupBy)
    try container.encode(live, forKey: .live)
    try container.encode(leaked, forKey: .leaked)
    try container.encode(rootLeakCount, forKey: .rootLeakCount)
    try container.encode(rootCycleCount, forKey: .rootCycleCount)
    try container.encode(possible, forKey: .possible)
    try container.encode(possibleRows, forKey: .possibleRows)
    try container.encode(possibleRowCount, forKey: .possibleRowCount)
    try container.encode(system, forKey: .system)
    try container.encode(systemRules, forKey: .systemRules)
    try container.encode(reachable, forKey: .reachable)
    try container.encode(rows, forKey: .rows)
    try container.encode(rowCount, forKey: .rowCount)
    try container.encode(treeGroups, forKey: .treeGroups)
    try container.encode(treeGroupCount, forKey: .treeGroupCount)
    try container.encode(discoveries, forKey: .discoveries)
    try container.encode(snapshotCount, forKey: .snapshotCount)
    try container.encodeIfPresent(comparedWith, forKey: .comparedWith)
  }
}
