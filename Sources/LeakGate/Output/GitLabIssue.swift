import Reports

/// An entry of GitLab's code quality report.
/// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
struct GitLabIssue: Encodable {
  struct Location: Encodable {
    struct Lines: Encodable { var begin: Int }
    var path: String
    var lines: Lines
  }

  var description: String
  var checkName: String
  var fingerprint: String
  var severity: String
  var location: Location

  enum CodingKeys: String, CodingKey {
    case description, fingerprint, severity, location
    case checkName = "check_name"
  }

  /// The findings that count; those without a place in the repository at the program's name,
  /// because GitLab drops entries without a path.
  static func issues(of result: GateResult, root: SourceRoot) -> [GitLabIssue] {
    var issues: [GitLabIssue] = []
    var seen: Set<String> = []
    for repeated in RepeatedFinding.of(result.counted)
    where seen.insert(repeated.finding.fingerprint).inserted {
      let finding = repeated.finding
      let place = root.place(of: finding)
      issues.append(
        GitLabIssue(
          description: repeated.sentence().printable, checkName: finding.kind.ruleID,
          fingerprint: finding.fingerprint,
          severity: !finding.fails ? "info" : finding.kind.isMemoryError ? "critical" : "major",
          location: Location(
            path: place?.path ?? finding.process, lines: .init(begin: place?.line ?? 1))))
    }
    for rule in result.brokenFigures {
      let fingerprint = Fingerprint.of(.unfreed, what: "\(rule.rule) \(rule.process)", frames: [])
      guard seen.insert(fingerprint).inserted else { continue }
      issues.append(
        GitLabIssue(
          description: "\(rule.process): \(rule.measured), \(rule.rule)".printable,
          checkName: "MT009",
          fingerprint: fingerprint, severity: "minor",
          location: Location(path: rule.process, lines: .init(begin: 1))))
    }
    for entry in result.failingStale where seen.insert(entry.fingerprint).inserted {
      issues.append(
        GitLabIssue(
          description: "Stale in the baseline: \(entry.sentence)".printable,
          checkName: "MT017",
          fingerprint: entry.fingerprint, severity: "minor",
          location: Location(path: result.baselineName, lines: .init(begin: 1))))
    }
    return issues
  }
}
