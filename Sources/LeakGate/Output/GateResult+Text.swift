import Reports

extension GateResult {
  /// Writes the verdict for people; the last line is for programs.
  public func write(to page: inout TextPage) {
    for line in processLines { page.line(Span("  \(line.title): \(line.summary)", .faint)) }
    writeFindings(to: &page)
    writeRules(to: &page)
    list(
      "Suppressed by", usedSuppressions.map { $0.sentence(page.style.bytes) }, .faint, to: &page)
    list("Suppressed nothing", unusedSuppressionText.map { [$0] } ?? [], .faint, to: &page)
    list("Not measured", joiningAlike(problems), .error, to: &page)
    list("Warning", joiningAlike(warnings), .warning, to: &page)
    list("Stale in the baseline", staleLines, failsOnStale ? .error : .warning, to: &page)
    page.blank()
    page.line(Span(headline, verdict == .pass ? .heading : .error))
    page.line(Span(machineLine))
  }

  /// A few, where they fail nothing: who runs some of the tests finds nothing of what the others leak.
  private var staleLines: [String] {
    let lines = stale.map(\.sentence)
    guard !failsOnStale, lines.count > Self.mostStale else { return lines }
    let rest = CountText.more(lines.count - Self.mostStale, "entry", "entries")
    return lines.prefix(Self.mostStale) + [rest + "; --output json has all"]
  }

  private static let mostStale = 10

  /// A log of GitLab is cut at 4 MiB, and with that the verdict lost: these have a quarter of that at most,
  /// unless all their stacks are long.
  static let mostFindingsInLogs = 500

  private func writeFindings(to page: inout TextPage) {
    let repeated = RepeatedFinding.of(counted)
    let limit = mostFindings ?? .max
    write(repeated.prefix(limit), to: &page)
    guard repeated.count > limit else { return }
    let bytes = repeated[limit...].reduce(UInt64(0)) { $0 &+ $1.total.bytes }
    let rest = CountText.more(repeated.count - limit, "finding")
    page.blank()
    page.line(
      Span("\(rest) with \(page.bytes(bytes)); --output text=FILE has all", .faint))
  }

  private func write(_ findings: ArraySlice<RepeatedFinding>, to page: inout TextPage) {
    for repeated in findings {
      let finding = repeated.finding
      page.blank()
      page.line(Span(repeated.sentence(page.style.bytes), finding.fails ? .error : .warning))
      if finding.isAllowed { page.line([Span("allowed by the rules")], indent: 2) }
      if let reason = finding.reason { page.line([Span(reason)], indent: 2) }
      for line in finding.tree { page.line([Span(line)], indent: 4) }
      StackText.write(finding.frames, to: &page, indent: 4, limit: 12)
      for related in finding.related {
        page.line([Span("\(related.title):")], indent: 2)
        StackText.write(related.frames, below: finding.frames, to: &page, indent: 4, limit: 12)
      }
      page.line(
        [
          Span("\(repeated.processText), fingerprint \(finding.fingerprint)", .faint)
        ],
        indent: 2)
    }
  }

  private func writeRules(to page: inout TextPage) {
    guard !broken.isEmpty else { return }
    page.heading("Rules that are broken:")
    var table = TextTable([
      .text("Rule"), .text("Process"), .text("Measured"), .number("Allowed"),
    ])
    for line in brokenLines(page.style.bytes) {
      table.add([Span(line.rule), Span(line.process), Span(line.measured), Span(line.allowed)])
    }
    page.table(table, indent: 2)
  }

  private func list(
    _ title: String, _ lines: [String], _ paint: Paint, to page: inout TextPage
  ) {
    guard !lines.isEmpty else { return }
    page.blank()
    for line in lines { page.line(Span("\(title): ", paint), Span(line)) }
  }

  private var headline: String {
    let known = count(.baselined)
    let hidden = count(.suppressed)
    var text: String
    switch verdict {
    case .pass: text = "memtrace check passed"
    case .fail: text = "memtrace check failed: \(failureText)"
    case .unmeasured: text = "memtrace could not measure everything, so the check proves nothing"
    }
    let allowed = self.allowed.count
    if allowed > 0 { text += ", \(allowed) allowed by the rules" }
    if known > 0 { text += ", \(known) in the baseline" }
    if hidden > 0 { text += ", \(hidden) suppressed" }
    if let hostStatus, hostStatus != 0 { text += "; the command itself ended with \(hostStatus)" }
    return text + "."
  }

  /// `memtrace-check: verdict=fail exit=86 …`, every value a word or a number.
  var machineLine: String {
    let counted = findings.lazy.filter(\.counts)
    let sum = { (kinds: (FindingKind) -> Bool, value: (Finding) -> UInt64) in
      counted.reduce(0) { kinds($1.kind) ? $0 &+ value($1) : $0 }
    }
    let values: [(String, String)] = [
      ("verdict", verdict.rawValue), ("exit", "\(exitStatus)"),
      ("host", hostStatus.map { "\($0)" } ?? "none"),
      ("processes", "\(processes.count { $0.isChosen && $0.measures != nil })"),
      ("findings", "\(counted.count)"),
      ("leaks", "\(sum({ $0 == .leak }, \.count))"),
      ("leaked_bytes", "\(sum({ $0 == .leak || $0 == .cycle }, \.bytes))"),
      ("cycles", "\(sum({ $0 == .cycle }, \.instances))"),
      ("errors", "\(sum(\.isMemoryError, \.count))"),
      ("baselined", "\(count(.baselined))"), ("suppressed", "\(count(.suppressed))"),
      ("stale", "\(stale.count)"), ("unmeasured", "\(problems.count)"),
    ]
    return "memtrace-check: " + values.map { "\($0)=\($1)" }.joined(separator: " ")
  }

  /// The findings as rows.
  public var csv: CSVTable? { nil }

  enum CodingKeys: String, CodingKey {
    case verdict, exitStatus, hostStatus, processes, findings, rules, stale
    case suppressions, problems, warnings
  }
}
