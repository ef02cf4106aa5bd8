import TraceReader

extension TracesReport {
  /// Writes the table, what is not in it, and what to type next.
  public func write(to page: inout TextPage) {
    page.line(Span(headline, .heading))
    page.blank()
    page.table(table(page.style.bytes))
    let warnings = warnings
    if !problems.isEmpty || !warnings.isEmpty { page.blank() }
    for (files, warning) in warnings {
      page.line(Span("\(files): ", .warning), Span(warning))
    }
    for problem in problems { page.line(Span("Not listed: ", .warning), Span(problem)) }
    nextCommands.write(to: &page)
  }

  /// Each warning once: the processes of a build have the same ones, a thousand times perhaps.
  private var warnings: [(files: String, text: String)] {
    traces.flatMap { row in row.warnings.map { (file: row.trace.file ?? "", text: $0) } }
      .grouped(by: \.text)
      .map { alike in
        let others = alike.count - 1
        let more = others > 0 ? " and \(others.grouped) more" : ""
        return (alike[0].file + more, alike[0].text)
      }
  }

  private var headline: String {
    let found = traces.count { $0.hasFindings }
    let what = found > 0 ? ", \(found.grouped) with leaks or memory errors" : ""
    return "\(CountText.of(UInt64(traces.count), "trace")) in \(folder)\(what)"
  }

  private func table(_ bytes: ByteStyle) -> TextTable {
    var table = TextTable([
      .text("Process"), .number("PID", spare: 3), .text("Ended", shortest: nil),
      .number("# Total", spare: 2), .number("Peak"), .number("Unfreed", spare: 1),
      .number("Leaked"), .number("Errors"), .text("Trace"),
    ])
    for row in traces {
      let (total, variance) = (row.total, row.total.variance)
      let count = MarginText.suffix(
        variance.map { TallyVariance.wholeMargin($0.totalCount) }, of: total.totalCount)
      let unfreed = MarginText.suffix(
        variance.map { TallyVariance.wholeMargin($0.liveBytes) }, of: total.persistentBytes)
      let peak = MarginText.suffix(row.peak.bytesMargin, of: row.peak.bytes)
      table.add([
        Span(row.trace.processName, row.hasFindings ? .emphasis : .plain), Span("\(row.trace.pid)"),
        Span(row.trace.ending.shortText, row.trace.ending.isClean ? .plain : .warning),
        Span(total.totalCount.grouped + count), Span(bytes.format(row.peak.bytes) + peak),
        Span(bytes.format(total.persistentBytes) + unfreed),
        Span(row.leaked.map { bytes.format($0.bytes) } ?? "unknown"),
        Span(row.errorCount.grouped, row.errorCount > 0 ? .error : .plain),
        Span(ReportFrame.lastComponent(row.trace.file ?? "")),
      ])
    }
    return table
  }

  /// The report is a table of traces, but its rows have more to them than fields of one line.
  public var csv: CSVTable? { nil }
}

extension TraceSummary {
  /// What tells the process from others of its program, if anything does: its title, of a browser's
  /// processes its command line without the folder.
  var processName: String {
    guard let title else { return programName.isEmpty ? "unknown" : programName }
    let words = title.split(separator: " ", maxSplits: 1)
    guard let first = words.first, first.hasPrefix("/") else { return title.shortened }
    return ([ReportFrame.lastComponent(String(first))] + words.dropFirst().map(String.init))
      .joined(separator: " ").shortened
  }
}

extension String {
  /// The beginning of a long title.
  fileprivate var shortened: String {
    let mostCharacters = 40
    return count > mostCharacters ? prefix(mostCharacters - 1) + "…" : self
  }
}

extension EndingSummary {
  /// In a word or two: `status 0`, `SIGABRT`.
  var shortText: String {
    switch kind {
    case "exit", "_exit", "quick_exit": "status \(status ?? 0)"
    case "exec": "exec"
    case "abort": "abort()"
    case "signal": SignalText.name(of: signal ?? 0)
    case "running": "running"
    default: "no end"
    }
  }
}
