extension OverviewReport {
  /// Writes the page: how it went, errors, hogs, totals, unfreed blocks, hotspots, next commands.
  public func write(to page: inout TextPage) {
    writeHead(to: &page)
    writeErrors(to: &page)
    writeFailures(to: &page)
    writeUnowned(to: &page)
    writeHogs(to: &page)
    writeAllocations(to: &page)
    writeMapped(to: &page)
    writeLeaks(to: &page)
    writeUnfreed(to: &page)
    writeHotspots(to: &page)
    for warning in symbolWarnings.prefix(5) {
      page.blank()
      page.line(Span("Names: ", .warning), Span(warning))
    }
    if let namesAdvice { page.line(Span(namesAdvice)) }
    nextCommands.write(to: &page)
  }

  private func writeHead(to page: inout TextPage) {
    let title = trace.title.map { ": \($0)" } ?? ""
    page.line(Span(trace.commandLine, .heading), " (pid \(trace.pid))\(title)")
    let ending = "The process \(trace.ending.text)"
    let duration = TimeText.duration(trace.durationNanoseconds)
    let events = CountText.of(eventCount, "event")
    page.line(
      Span(ending, trace.ending.isClean ? .plain : .warning),
      trace.ending.isKnown
        ? " after \(duration); \(events) recorded." : "; \(events) recorded in \(duration).")
    if let resident { page.line("Resident memory: ", Span(resident.text(page.style.bytes))) }
    page.lines(about: trace)
    for warning in coverage.warnings {
      page.line(Span("Coverage: ", .warning), Span(warning))
    }
  }

  private func writeErrors(to page: inout TextPage) {
    if let crash = errors.crash {
      page.blank()
      crash.write(to: &page, frameLimit: errors.frameLimit)
    } else if errors.lastEvent != nil {
      page.blank()
      errors.writeLastEvent(to: &page)
    }
    guard errors.totalCount > 0 else { return }
    page.blank()
    let count = CountText.of(errors.totalCount, "memory error")
    page.line(Span("\(count): \(errors.kindsText)", .error))
    for (index, entry) in errors.entries.enumerated() {
      page.blank()
      ErrorsReport.write(entry, number: index + 1, frameLimit: errors.frameLimit, to: &page)
    }
    let hidden = errors.entryCount - errors.entries.count
    if hidden > 0 {
      page.blank()
      page.line(Span(CountText.more(hidden, "group") + " of errors", .faint))
    }
  }

  /// The allocations that failed: a program that does not look for that crashes soon after.
  private func writeFailures(to page: inout TextPage) {
    guard errors.failureCount > 0 else { return }
    page.blank()
    page.line(Span(errors.failureTitle(page.style.bytes), .warning))
    let shown = errors.failures.prefix(Self.failuresShown)
    for failure in shown {
      let times = failure.count == 1 ? "once" : "\(failure.count.grouped) times, first"
      let caller = StackText.withoutLeadingRuntime(failure.first.frames).first
      page.line(
        "  \(failure.request(page.style.bytes)), \(times)",
        Span(caller.map { " by \($0.title)" } ?? ""))
    }
    let rest = errors.failureCount &- shown.reduce(0) { $0 &+ $1.count }
    if rest > 0 { page.line(Span("  " + CountText.more(Int(clamping: rest), "failure"), .faint)) }
  }

  private static let failuresShown = 3

  /// What may have ended a process of Swift: an `unowned` reference to an object that is gone.
  private func writeUnowned(to page: inout TextPage) {
    guard mayHaveReadUnowned, let first = deinitialized.first else { return }
    let count = deinitialized.reduce(0) { $0 &+ $1.objects.count }
    let names = deinitialized.count > 1 ? "\(first.name) and others" : first.name
    page.blank()
    let objects = "\(CountText.of(count, "object")) (\(names))"
    page.line(
      Span("Perhaps why: ", .warning),
      "unowned references have outlived \(objects); to read one ends the program.")
  }

  private func writeHogs(to page: inout TextPage) {
    guard !hogs.isEmpty else { return }
    page.blank()
    for hog in hogs {
      page.line(Span("Memory hog: ", .warning), Span(hog.text(bytes: page.style.bytes)))
    }
  }

  private func writeAllocations(to page: inout TextPage) {
    page.blank()
    guard !allocations.total.isEmpty else {
      page.line("No allocations were recorded.")
      return
    }
    allocations.timeline.write(to: &page)
    page.blank()
    allocations.writeTable(to: &page)
    let hidden = allocations.rowCount - allocations.rows.count
    if hidden > 0 { page.line(Span(CountText.more(hidden, "category", "categories"), .faint)) }
  }

  private func writeMapped(to page: inout TextPage) {
    guard let mapped, mapped.peakBytes > 0 || mapped.persistentBytes > 0 else { return }
    page.blank()
    page.line("Mapped by the program itself: ", Span(mapped.text(page.style.bytes)))
  }

  private func writeLeaks(to page: inout TextPage) {
    guard let leaks else { return writeLeaksUnknown(to: &page) }
    // Of a program whose allocations were not seen, nothing can be said.
    if hasOwnAllocator && allocations.total.isEmpty { return }
    page.blank()
    for warning in leaks.snapshot.warnings {
      page.line(Span("Snapshot: ", .warning), Span(warning))
    }
    if let remark = leaks.snapshot.remark { page.line(Span(remark)) }
    let moment = leaks.snapshot.qualification
    guard leaks.leaked.count > 0 else {
      let state = moment.isEmpty ? "not freed can still" : "live then could still"
      let what = mayMissBlocks ? "of what was recorded, everything" : "everything"
      page.line("No leaks\(moment): \(what) that was \(state) be reached.")
      return
    }
    let cycles =
      leaks.rootCycleCount > 0 ? ", \(CountText.of(leaks.rootCycleCount, "root cycle"))" : ""
    page.line(
      Span(
        "Leaked\(moment), nothing points to it any more: \(page.bytes(leaks.leaked.bytes)) in "
          + "\(CountText.blocks(leaks.leaked.count))\(cycles)", .error))
    var columns: [TextTable.Column] = [
      .number("Bytes"), .number("#"), .text("Leaked Object"),
      .text("Responsible Library", spare: 1),
      .text("Responsible Frame"),
    ]
    if leaks.hasTrees { columns.insert(.number("Tree Bytes"), at: 1) }
    var table = TextTable(columns)
    let shown = leaks.places.prefix(Limit.leaks)
    for row in shown {
      let place = row.responsible?.place.map { "  \($0)" } ?? ""
      var cells = [
        Span(page.bytes(row.bytes)), Span(row.count.grouped), Span(row.name),
        Span(row.responsible?.imageName ?? ""),
        Span((row.responsible?.name ?? "<no stack recorded>") + place, .emphasis),
      ]
      if leaks.hasTrees { cells.insert(Span(page.style.bytes.tree(row.treeBytes)), at: 1) }
      table.add(cells)
    }
    page.table(table, indent: 2)
    let hidden = leaks.places.count - shown.count
    if hidden > 0 { page.line(Span("  " + CountText.more(hidden, "row"), .faint)) }
  }

  /// Nobody asks for leaks after a crash, or where nothing is left.
  private func writeLeaksUnknown(to page: inout TextPage) {
    guard let leaksUnknown, unfreed.totalCount > 0, !trace.ending.isCrash else { return }
    page.blank()
    page.line(Span("Leaks unknown: ", .warning), Span(leaksUnknown))
  }

  private func writeUnfreed(to page: inout TextPage) {
    guard unfreed.totalCount > 0 else { return }
    page.heading(
      "Unfreed at the end: \(unfreed.totalText(page))")
    var table = TextTable([
      .number("Bytes"), .number("# Blocks"), .text("Responsible Library", spare: 1),
      .text("Responsible Caller"),
    ])
    for place in unfreedPlaces {
      let line = place.responsible?.place.map { "  \($0)" } ?? ""
      table.add([
        Span(page.bytes(place.bytes) + MarginText.suffix(place.bytesMargin, of: place.bytes)),
        Span(place.count.grouped + MarginText.suffix(place.countMargin, of: place.count)),
        Span(place.responsible?.imageName ?? ""),
        Span((place.responsible?.name ?? "<no stack recorded>") + line, .emphasis),
      ])
    }
    page.table(table, indent: 2)
    let hidden = unfreedPlaceCount - unfreedPlaces.count
    if hidden > 0 { page.line(Span("  " + CountText.more(hidden, "caller"), .faint)) }
  }

  private func writeHotspots(to page: inout TextPage) {
    let shown = hotspots.filter { $0.temporaryCount >= Limit.leastTemporary }
    guard !shown.isEmpty else { return }
    page.heading("Temporary allocations, freed right after:")
    var table = TextTable([
      .number("Temporary"), .number("# Total"), .number("Total Bytes"),
      .text("Responsible Library", spare: 1), .text("Responsible Caller"),
    ])
    for spot in shown {
      let place = spot.responsible?.place.map { "  \($0)" } ?? ""
      table.add([
        Span(spot.temporaryCount.grouped), Span(spot.totalCount.grouped),
        Span(page.bytes(spot.totalBytes)), Span(spot.responsible?.imageName ?? ""),
        Span((spot.responsible?.name ?? "<no stack recorded>") + place, .emphasis),
      ])
    }
    page.table(table, indent: 2)
  }

  /// The page is no table; its parts are, in their own commands.
  public var csv: CSVTable? { nil }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, eventCount, errors, hogs, allocations, leaks, leaksUnknown, leakPlaces
    case leakPlaceCount
    case deinitialized, mapped, unfreed, unfreedPlaces, unfreedPlaceCount, hotspots
    case symbolWarnings, nextCommands
  }

  /// Writes the document `memtrace.report`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(eventCount, forKey: .eventCount)
    try container.encode(errors, forKey: .errors)
    try container.encode(hogs, forKey: .hogs)
    try container.encode(allocations, forKey: .allocations)
    try container.encodeIfPresent(leaks, forKey: .leaks)
    try container.encodeIfPresent(leaksUnknown, forKey: .leaksUnknown)
    try container.encodeIfPresent(
      leaks.map { Array($0.places.prefix(Limit.leaks)) }, forKey: .leakPlaces)
    try container.encodeIfPresent(leaks?.places.count, forKey: .leakPlaceCount)
    try container.encode(deinitialized, forKey: .deinitialized)
    try container.encodeIfPresent(mapped, forKey: .mapped)
    try container.encode(unfreed, forKey: .unfreed)
    try container.encode(unfreedPlaces, forKey: .unfreedPlaces)
    try container.encode(unfreedPlaceCount, forKey: .unfreedPlaceCount)
    try container.encode(hotspots, forKey: .hotspots)
    try container.encode(symbolWarnings, forKey: .symbolWarnings)
    try container.encode(nextCommands, forKey: .nextCommands)
  }
}
