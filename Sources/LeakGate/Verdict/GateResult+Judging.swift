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
    let problems = Self.problems(input, checked, rules)
    let stale = input.isWhole ? marks.stale(among: findings) : []
    let isBroken = rules.contains { !$0.isKept && $0.most != nil }
    let fails = isBroken || (input.failsOnStale && !stale.isEmpty)
    verdict =
      fails ? .fail : (problems.isEmpty || !input.failsOnUnmeasured ? .pass : .unmeasured)
    // A run that recorded nothing has proved nothing, whatever was asked.
    if checked.isEmpty { verdict = .unmeasured }
    toolVersion = input.toolVersion
    (failsOnStale, baselineName) = (input.failsOnStale, input.baselineName)
    (commandName, hostStatus) = (input.commandName, input.hostStatus)
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

  /// Why something that a rule asks for could not be measured.
  private static func problems(
    _ input: GateInput, _ checked: [CheckedProcess], _ rules: [RuleResult]
  ) -> [String] {
    var problems = input.problems
    problems += input.processes.flatMap { process in
      process.problems.map { "\(process.title): \($0)" }
    }
    if checked.isEmpty, input.problems.isEmpty {
      let names = Set(input.processes.map(\.name)).sorted().joined(separator: ", ")
      problems.append(
        names.isEmpty ? "nothing was recorded" : "no process was chosen among: \(names)")
    }
    if problems.isEmpty, saysNothingOfLeaks(checked, input.rules) {
      problems.append(
        "leaks were not looked for: what replaced the checked process is not checked itself; "
          + "--process chooses programs")
    }
    return problems
      + rules.filter { $0.most == nil }.map {
        "\($0.process): the baseline has no figure for '\($0.rule)'; renew it with --update-baseline"
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
