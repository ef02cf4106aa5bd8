extension InfoReport {
  /// More threads or images than this are counted, not listed, unless all are asked for.
  private static let listedAtMost = 20

  /// Writes the facts as labelled lines, then threads, images and remarks.
  public func write(to page: inout TextPage) {
    for (label, value) in facts(page) {
      page.line(Span("\(label):".rightPadded(to: 18), .heading), Span(value))
    }
    writeThreads(to: &page)
    writeImages(to: &page)
    writeSnapshots(to: &page)
    writeMarks(to: &page)
    writeRemarks(to: &page)
    if coverage.warnings.isEmpty {
      page.blank()
      page.line("Coverage: \(completenessText)")
    } else {
      coverage.write(to: &page)
    }
    writeCounters(to: &page)
  }

  /// What a trace covers of which nothing is known to be missing, but for snapshots.
  private var completenessText: String {
    let partial = snapshots.count { !$0.summary.coversAll }
    let events = hasReadEvents ? "" : " The events were not read: --all does."
    guard partial == 0 else {
      return "nothing is known to be missing but parts of "
        + "\(CountText.of(UInt64(partial), "heap snapshot")), listed above.\(events)"
    }
    return "\(hasReadEvents ? "complete; " : "")nothing is known to be missing.\(events)"
  }

  private func facts(_ page: TextPage) -> [(String, String)] {
    var facts: [(String, String)] = []
    if let name = trace.file { facts.append(("Trace", name)) }
    facts += [
      ("Size", sizeText(page)), ("Format version", file.formatVersion),
      ("Command", trace.commandLine),
    ]
    if let title = trace.title { facts.append(("Title", title)) }
    facts += [
      ("Executable", trace.executable),
      ("Directory", process.workingDirectory),
      ("Process", "\(trace.pid), parent \(process.ppid), user \(process.uid)"),
      ("Machine", process.machine), ("Began", WallClockText.utc(trace.startedAtNanoseconds)),
      ("Lasted", TimeText.duration(trace.durationNanoseconds)),
      ("Ended", "the process \(trace.ending.text)"),
    ]
    if let peak = trace.peakResidentBytes { facts.append(("Peak resident", page.bytes(peak))) }
    facts += [
      ("Memory available", memoryText(page)), ("Recording", recordingText),
      ("Stack depth", "at most \(file.stackDepth) frames; \(file.stackNodes.grouped) stack nodes"),
      ("Trace ID", file.traceID), ("Session ID", file.sessionID),
    ]
    if let refcounts = file.refcounts { facts.append(("Reference counts", text(of: refcounts))) }
    if let parent = file.parentTraceID { facts.append(("Parent trace ID", parent)) }
    for relative in relatives.prefix(listsAll ? .max : Self.listedAtMost) {
      let label = relative.relation.prefix(1).uppercased() + relative.relation.dropFirst()
      facts.append((label, "\(relative.file) (pid \(relative.pid))"))
    }
    let hidden = relatives.count - Self.listedAtMost
    if !listsAll, hidden > 0 {
      facts.append(("Other traces", "\(hidden.grouped) more; --all lists them"))
    }
    return facts
  }

  private func sizeText(_ page: TextPage) -> String {
    guard let recorded = file.recordedBytes else { return page.bytes(file.bytes) }
    let kind = file.isPacked ? "packed" : "unpacked"
    let perEvent = PackingText.perEvent(file.bytes, file.events ?? 0)
    return "\(page.bytes(file.bytes)) \(kind), \(page.bytes(recorded)) as recorded; \(perEvent)"
  }

  private var recordingText: String {
    var parts = ["begun by \(beginner)"]
    if file.isForked { parts.append("in a forked process") }
    if let sampling = trace.sampling { parts.append(sampling.name) }
    if let windows = trace.windows {
      let count = windows.windows.count
      parts.append(
        "paused at first, resumed \(count == 0 ? "never" : CountText.of(UInt64(count), "time"))")
    }
    parts.append(file.followsChildren ? "children are recorded too" : "children are not recorded")
    return parts.joined(separator: ", ")
  }

  private var beginner: String {
    if trace.windows?.attachedAfterNanoseconds != nil { return "memtrace attach" }
    return file.isLaunched ? "memtrace record" : "LD_PRELOAD"
  }

  private func text(of refcounts: InfoReport.Refcounts) -> String {
    let types = refcounts.types == "*" ? "of all types" : "of \(refcounts.types)"
    if !refcounts.runtimes.isEmpty { return "recorded, \(types)" }
    let reason = refcounts.refusals.isEmpty ? "no Swift runtime was loaded" : "see below"
    return "asked for \(types), not recorded: \(reason)"
  }

  private func memoryText(_ page: TextPage) -> String {
    var parts: [String] = []
    if process.ramBytes > 0 { parts.append("\(page.bytes(process.ramBytes)) of RAM") }
    if let limit = process.cgroupLimitBytes { parts.append("cgroup limit \(page.bytes(limit))") }
    if let limit = process.addressSpaceLimitBytes {
      parts.append("address space limit \(page.bytes(limit))")
    }
    return parts.isEmpty ? "not known" : parts.joined(separator: ", ")
  }

  private func writeThreads(to page: inout TextPage) {
    page.heading("Threads (\(threads.count.grouped))")
    var table = TextTable([
      .text("Thread", shortest: nil), .number("TID"), .text("Name"),
      .text("Began", shortest: nil), .text("Ended", shortest: nil, spare: 1),
    ])
    for entry in threads.prefix(listsAll ? .max : Self.listedAtMost) {
      table.add([
        "T\(entry.thread.index)", "\(entry.thread.tid)", Span(entry.thread.name, .emphasis),
        Span(TimeText.timestamp(entry.beganNanoseconds)),
        Span(entry.endedNanoseconds.map(TimeText.timestamp) ?? ""),
      ])
    }
    page.table(table, indent: 2)
    writeMore(threads.count, to: &page)
  }

  private func writeImages(to page: inout TextPage) {
    page.heading("Images (\(images.count.grouped))")
    var table = TextTable([
      .text("Start", shortest: nil), .text("Loaded", shortest: nil, spare: 2),
      .text("Unloaded", shortest: nil, spare: 3), .text("Build ID", shortest: 12, spare: 1),
      .text("Path", shortest: 20),
    ])
    for image in images.prefix(listsAll ? .max : Self.listedAtMost) {
      table.add([
        Span(image.start), Span(TimeText.timestamp(image.loadedNanoseconds)),
        Span(image.unloadedNanoseconds.map(TimeText.timestamp) ?? ""),
        Span(image.buildID ?? "none", .faint), Span(image.path, .emphasis),
      ])
    }
    page.table(table, indent: 2)
    writeMore(images.count, to: &page)
  }

  private func writeMore(_ count: Int, to page: inout TextPage) {
    let hidden = count - Self.listedAtMost
    guard !listsAll, hidden > 0 else { return }
    page.line([Span("… \(hidden.grouped) more; --all lists them", .faint)], indent: 2)
  }

  private func writeSnapshots(to page: inout TextPage) {
    guard !snapshots.isEmpty else { return }
    page.heading("Heap snapshots (\(snapshots.count.grouped))")
    let areCounted = snapshots.contains { $0.live != nil }
    let liveColumns: [TextTable.Column] =
      areCounted ? [.number("# Blocks", spare: 2), .number("Bytes", spare: 1)] : []
    var table = TextTable(
      [
        .number("#", spare: 5), .text("Time", shortest: nil), .text("Taken", shortest: 12),
        .number("Pause", spare: 4), .number("Size", spare: 3),
      ] + liveColumns + [.text("Coverage")])
    for snapshot in snapshots.prefix(listsAll ? .max : Self.listedAtMost) {
      let summary = snapshot.summary
      let live = snapshot.live.map { [Span($0.count.grouped), Span(page.bytes($0.bytes))] }
      let coverage = summary.coverageText(page.style.bytes)
      table.add(
        [
          Span(summary.index.grouped), Span(TimeText.timestamp(summary.timeNanoseconds)),
          Span(summary.reason, .emphasis), Span(TimeText.duration(summary.pauseNanoseconds)),
          Span(page.bytes(summary.storedBytes)),
        ] + (areCounted ? live ?? ["", ""] : []) + [
          Span(coverage, coverage == "complete" ? .plain : .warning)
        ])
    }
    page.table(table, indent: 2)
    writeMore(snapshots.count, to: &page)
  }

  private func writeMarks(to page: inout TextPage) {
    guard !marks.isEmpty else { return }
    page.heading("Marks (\(marks.count.grouped))")
    var table = TextTable([.text("Time", shortest: nil), .text("Name"), .text("Made by")])
    for mark in marks.prefix(listsAll ? .max : Self.listedAtMost) {
      table.add([
        Span(TimeText.timestamp(mark.timeNanoseconds)), Span(mark.name, .emphasis),
        Span(mark.thread?.text ?? "memtrace mark"),
      ])
    }
    page.table(table, indent: 2)
    writeMore(marks.count, to: &page)
  }

  private func writeRemarks(to page: inout TextPage) {
    // Marks have a table of their own.
    let remarks = remarks.filter { $0.kind != "mark" }
    guard !remarks.isEmpty else { return }
    page.heading("Notes (\(remarks.count.grouped))")
    for remark in remarks.prefix(listsAll ? .max : Self.listedAtMost) {
      page.line(
        [
          Span(TimeText.timestamp(remark.timeNanoseconds), .faint),
          Span("  \(remark.kind): \(remark.text)"),
        ], indent: 2)
    }
    writeMore(remarks.count, to: &page)
  }

  private func writeCounters(to page: inout TextPage) {
    for (name, value) in coverage.counters.sorted(by: { $0.key < $1.key }) {
      page.line([Span("\(name): \(value.grouped)", .faint)], indent: 2)
    }
  }

  /// One row per image; the other lists have no table of their own.
  public var csv: CSVTable? {
    var table = CSVTable([
      "Start", "End", "Loaded Nanoseconds", "Unloaded Nanoseconds", "Build ID", "Path",
    ])
    for image in images {
      table.add(
        image.start, image.end, image.loadedNanoseconds, image.unloadedNanoseconds, image.buildID,
        image.path)
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, file, process, threads, images, snapshots, marks, relatives, remarks,
      hasReadEvents
  }
}

extension InfoReport.Snapshot: Encodable {
  enum CodingKeys: String, CodingKey { case threadCount, regionCount, keepsContents, live }

  /// Writes the summary's fields and those that only this document has.
  public func encode(to encoder: any Encoder) throws {
    try summary.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(threadCount, forKey: .threadCount)
    try container.encode(regionCount, forKey: .regionCount)
    try container.encode(keepsContents, forKey: .keepsContents)
    try container.encodeIfPresent(live, forKey: .live)
  }
}

/// Moments of the calendar.
enum WallClockText {
  /// `2026-07-20 12:34:56.789 UTC`; the proleptic Gregorian calendar, computed without time zones.
  static func utc(_ nanosecondsSince1970: UInt64) -> String {
    let seconds = nanosecondsSince1970 / 1_000_000_000
    let milliseconds = nanosecondsSince1970 / 1_000_000 % 1000
    let (year, month, day) = date(days: Int(seconds / 86_400))
    let time = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map {
      String($0).leftPadded(to: 2, with: "0")
    }
    let date = [String(year), two(month), two(day)].joined(separator: "-")
    let fraction = String(milliseconds).leftPadded(to: 3, with: "0")
    return "\(date) \(time.joined(separator: ":")).\(fraction) UTC"
  }

  private static func two(_ value: Int) -> String { String(value).leftPadded(to: 2, with: "0") }

  /// Days since 1970 as a date, by eras of 400 years
  /// (https://howardhinnant.github.io/date_algorithms.html#civil_from_days).
  private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}
