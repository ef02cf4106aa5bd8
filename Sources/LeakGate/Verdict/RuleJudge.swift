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
