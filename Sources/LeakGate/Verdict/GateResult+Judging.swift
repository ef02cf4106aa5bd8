import Reports
import TraceReader

extension GateResult {
  /// Judges what was found.
  public init(judging input: GateInput) {
    var findings = input.findings
    let marks = FindingJudge(input)
    for index in findings.indices { marks.judge(&findings[index]) }
    if input.isWhole { marks.noteRenamed(&findings) }
    let checked = input.processes.filter { $0.isChosen && $0.measures != nil }
    let judges = input.rules.map { RuleJudge($0, input.rules, findings, input.baseline) }
    let results = judges.map { judge in checked.map(judge.result) }
    let rules = results.flatMap(\.self)
    let broken = results.map {
      Set(zip(checked, $0).filter { !$1.isKept }.map { ProcessKey($0.0) })
    }
    Self.noteAllowed(&findings, by: Array(zip(judges, broken)))
    var problems = input.problems
    problems += input.processes.flatMap { process in
      process.problems.map { "\(process.title): \($0)" }
    }
    if checked.isEmpty, input.problems.isEmpty {
      let names = Set(input.processes.map(\.name)).sorted().joined(separator: ", ")
      problems.append(
        names.isEmpty ? "nothing was recorded" : "no process was chosen among: \(names)")
    }
    if problems.isEmpty, Self.saysNothingOfLeaks(checked, input.rules) {
      problems.append(
        "leaks were not looked for: what replaced the checked process is not checked itself; "
          + "--process chooses programs")
    }
    problems += rules.filter { $0.most == nil }.map {
      "\($0.process): the baseline has no figure for '\($0.rule)'; renew it with --update-baseline"
    }
    let stale = input.isWhole ? marks.stale(among: findings) : []
    let isBroken = rules.contains { !$0.isKept && $0.most != nil }
    let fails = isBroken || (input.failsOnStale && !stale.isEmpty)
    verdict =
      fails ? .fail : (problems.isEmpty || !input.failsOnUnmeasured ? .pass : .unmeasured)
    // A run that recorded nothing has proved nothing, whatever was asked.
    if checked.isEmpty { verdict = .unmeasured }
    toolVersion = input.toolVersion
    (failsOnStale, baselineName) = (input.failsOnStale, input.baselineName)
    hostStatus = input.hostStatus
    exitStatus = Self.exitStatus(verdict, host: input.hostStatus)
    processes = input.processes
    let orders = findings.map(\.order)
    self.findings = orders.indices.sorted { orders[$0] < orders[$1] }.map { findings[$0] }
    self.rules = rules
    self.stale = stale
    self.problems = problems
    suppressions = marks.uses(among: findings)
    isWhole = input.isWhole
    warnings = input.warnings + marks.warnings(about: findings)
    for process in input.processes where process.isChosen {
      warnings += process.warnings.map { "\(process.title): \($0)" }
    }
  }

  /// Whether leaks are asked for, and nothing was checked but what replaced itself by another program: `swift` by
  /// `swift-package`, say, which is left out where no programs are chosen.
  private static func saysNothingOfLeaks(
    _ checked: [CheckedProcess], _ rules: [GateRule]
  ) -> Bool {
    rules.contains { $0.measure == .leaks || $0.measure == .cycles } && !checked.isEmpty
      && checked.allSatisfy { $0.ending == EndingSummary(.exec) }
  }

  /// Notes which of the findings that count no broken rule speaks of.
  ///
  /// - Parameters:
  ///   - findings: All findings, judged.
  ///   - judges: The rules, each with the processes that break it.
  private static func noteAllowed(
    _ findings: inout [Finding], by judges: [(judge: RuleJudge, breaking: Set<ProcessKey>)]
  ) {
    for index in findings.indices where findings[index].counts {
      let finding = findings[index], process = ProcessKey(finding)
      findings[index].isAllowed = !judges.contains { judge, breaking in
        judge.covers(finding) && breaking.contains(process)
      }
    }
  }

  /// The command's own failure is what its caller has to know first.
  private static func exitStatus(_ verdict: Verdict, host: Int32?) -> Int32 {
    if let host, host != 0 { return host }
    switch verdict {
    case .pass: return 0
    case .fail: return GateStatus.failed
    case .unmeasured: return GateStatus.unmeasured
    }
  }
}

extension Finding {
  /// Those that the gate fails for first, then those that count, then the most bytes, then by what
  /// does not change from run to run.
  fileprivate var order: (Int, UInt64, UInt64, String, String) {
    (fails ? 0 : counts ? 1 : 2, .max - bytes, .max - count, what, fingerprint)
  }
}

/// Which process something was found in.
///
/// The traces tell apart what has the same process ID: in containers, programs often have.
private struct ProcessKey: Hashable {
  private let name: String
  private let pid: UInt32
  private let trace: String?

  init(_ process: CheckedProcess) {
    (name, pid, trace) = (process.name, process.pid, process.trace)
  }

  init(_ finding: Finding) {
    (name, pid, trace) = (finding.process, finding.pid, finding.trace)
  }
}

/// Tells known findings from new ones.
struct FindingJudge {
  private let suppressions: SuppressionSet
  private let ofPrograms: [SuppressionSet]
  /// The position in these for each process whose program has some.
  private let ownSuppressions: [ProcessKey: Int]
  private let baseline: Baseline
  private let today: CalendarDay
  private let entries: [String: Baseline.Entry]

  init(_ input: GateInput) {
    suppressions = input.suppressions
    let sets = input.programSuppressions.sets
    ofPrograms = sets.map(\.suppressions)
    let owned = input.processes.compactMap { process in
      sets.firstIndex { $0.executables.contains(process.executable) }.map {
        (ProcessKey(process), $0)
      }
    }
    ownSuppressions = Dictionary(owned, uniquingKeysWith: { first, _ in first })
    baseline = input.baseline ?? Baseline()
    today = input.today
    entries = baseline.entriesByFingerprint
  }

  func judge(_ finding: inout Finding) {
    if let suppression = suppressions.first(hiding: finding) ?? own(hiding: finding) {
      finding.state = .suppressed
      finding.reason = suppression.title
      return
    }
    guard let entry = entries[finding.fingerprint] else { return }
    if let expires = entry.expires, expires < today {
      finding.state = .expired
      finding.reason = "known, but its entry in the baseline expired on \(expires)"
    } else if finding.count > entry.count || finding.bytes > entry.bytes {
      finding.state = .grown
      finding.reason =
        "known, but grew from \(entry.count) to \(finding.count) (\(entry.bytes) B to "
        + "\(finding.bytes) B)"
    } else {
      finding.state = .baselined
      finding.reason = entry.reason
    }
  }

  /// The first suppression of the program itself that hides a finding; nil when none does.
  private func own(hiding finding: Finding) -> Suppression? {
    ownSuppressions[ProcessKey(finding)].flatMap { ofPrograms[$0].first(hiding: finding) }
  }

  /// Says of new findings which entry they are likely about, under another name.
  func noteRenamed(_ findings: inout [Finding]) {
    let renamed = RenamedFindings(findings, baseline).entries
    for index in findings.indices {
      guard let entry = renamed[findings[index].fingerprint] else { continue }
      findings[index].reason =
        "as large as \(entry.what) (\(entry.fingerprint)) in the baseline, which was not found: "
        + "renamed? --update-baseline takes it over"
    }
  }

  /// The entries that matched no finding.
  func stale(among findings: [Finding]) -> [GateResult.StaleEntry] {
    let found = Set(findings.map(\.fingerprint))
    return baseline.entries.filter { !found.contains($0.fingerprint) }.map {
      GateResult.StaleEntry(fingerprint: $0.fingerprint, what: $0.what)
    }
  }

  /// What each suppression hid, which may be nothing; of those of programs, which are for other tools as
  /// well, the ones that hid something.
  func uses(among findings: [Finding]) -> [GateResult.SuppressionUse] {
    let hidden = Dictionary(
      grouping: findings.filter { $0.state == .suppressed }, by: { $0.reason ?? "" })
    let use = { (suppression: Suppression) in
      let found = hidden[suppression.title] ?? []
      return GateResult.SuppressionUse(
        name: suppression.name, place: suppression.place, findings: found.count,
        count: found.reduce(0) { $0 &+ $1.count }, bytes: found.reduce(0) { $0 &+ $1.bytes })
    }
    // Programs of the same name in different folders, as `tests/a/run` and `tests/b/run`, share titles.
    var titles: Set<String> = []
    let own = ofPrograms.flatMap(\.suppressions).filter { titles.insert($0.title).inserted }
    return suppressions.suppressions.map(use) + own.map(use).filter { $0.findings > 0 }
  }

  /// Patterns that hide so much that they are likely wrong.
  func warnings(about findings: [Finding]) -> [String] {
    guard findings.count >= 4 else { return [] }
    return uses(among: findings).filter { $0.findings * 2 > findings.count }.map {
      "the suppression \($0.title) hides \($0.findings) of \(findings.count) findings: "
        + "make it narrower"
    }
  }
}

/// Compares a process with a rule.
struct RuleJudge {
  private let rule: GateRule
  /// What narrower rules cover, which this one does not.
  private let narrower: [RuleScope]
  /// What counts of its findings, by process.
  private var amounts: [ProcessKey: Amount] = [:]
  private let baseline: Baseline?

  /// - Parameters:
  ///   - rule: The rule.
  ///   - rules: All rules: what one with a scope covers, one without does not.
  ///   - findings: All findings, judged.
  ///   - baseline: The figures to compare with.
  init(_ rule: GateRule, _ rules: [GateRule], _ findings: [Finding], _ baseline: Baseline?) {
    self.rule = rule
    self.baseline = baseline
    let narrower =
      rule.scope.isEmpty
      ? rules.filter { $0.measure == rule.measure && !$0.scope.isEmpty }.map(\.scope) : []
    self.narrower = narrower
    for finding in findings where finding.counts && covers(finding) {
      amounts[ProcessKey(finding), default: Amount()].add(finding, of: rule.measure)
    }
  }

  /// Whether the rule speaks of a finding.
  func covers(_ finding: Finding) -> Bool {
    rule.measure.covers(finding.kind) && rule.scope.holds(finding)
      && !narrower.contains { $0.holds(finding) }
  }

  func result(for process: CheckedProcess) -> GateResult.RuleResult {
    let amount = amount(in: process)
    let isAboutBytes = rule.limit.isAboutBytes(rule.measure)
    let value = isAboutBytes ? amount.bytes : amount.count
    let base = baseline?.measures[process.name]?[rule.measure]
    let most =
      rule.limit.isRelative
      ? base.map { rule.limit.most(above: isAboutBytes ? $0.bytes : $0.count) }
      : rule.limit.most(above: 0)
    var result = GateResult.RuleResult(
      rule: rule.text,
      isOfFindings: rule.measure.hasFindings && rule.limit.most(above: 0) == 0
        && !rule.limit.isRelative,
      process: process.name, pid: process.pid, trace: process.trace, measured: "",
      measure: rule.measure,
      isBytes: isAboutBytes, value: value, most: most, isKept: most.map { value <= $0 } ?? false)
    result.measured = result.measuredText(.human)
    return result
  }

  private func amount(in process: CheckedProcess) -> Amount {
    guard rule.measure.hasFindings else {
      return process.measures?.amounts[rule.measure] ?? Amount()
    }
    // A relative limit speaks of all there is, known or not.
    if rule.limit.isRelative {
      return process.measures?.amounts[rule.measure] ?? Amount()
    }
    return amounts[ProcessKey(process)] ?? Amount()
  }
}

extension Amount {
  fileprivate mutating func add(_ finding: Finding, of measure: Measure) {
    count &+= measure == .cycles ? finding.instances : finding.count
    bytes &+= finding.bytes
  }
}
