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
