import Reports

/// New findings that are likely known ones under another name: a function on the stack was renamed or
/// split.
///
/// Such a finding is as large as an entry that was not found, and of its kind and type; where several
/// fit, nothing is concluded.
struct RenamedFindings {
  /// The entries by the fingerprints of the findings that they are likely about.
  let entries: [String: Baseline.Entry]

  private struct Likeness: Hashable {
    let kind: FindingKind
    /// `Node` of `Node in makeList (list.c)`.
    let type: Substring
    let count: UInt64
    let bytes: UInt64

    init(_ kind: FindingKind, name: String, count: UInt64, bytes: UInt64) {
      self.kind = kind
      type = name.firstRange(of: " in ").map { name[..<$0.lowerBound] } ?? name[...]
      self.count = count
      self.bytes = bytes
    }
  }

  /// Compares what is new with what was not found.
  ///
  /// - Parameters:
  ///   - findings: All findings of a run that missed nothing.
  ///   - baseline: What was known.
  init(_ findings: [Finding], _ baseline: Baseline) {
    let found = Set(findings.map(\.fingerprint))
    let stale = Dictionary(grouping: baseline.entries.filter { !found.contains($0.fingerprint) }) {
      Likeness($0.kind, name: $0.what, count: $0.count, bytes: $0.bytes)
    }
    // Where all was found, nothing was renamed, and comparing takes longer than judging.
    guard !stale.isEmpty else {
      entries = [:]
      return
    }
    let known = Set(baseline.entriesByFingerprint.keys)
    let new = findings.filter { !known.contains($0.fingerprint) && $0.state != .suppressed }
    let alike = Dictionary(grouping: new.grouped(by: \.fingerprint)) { findings in
      // Entries hold the most of any process.
      Likeness(
        findings[0].kind, name: findings[0].name, count: findings.map(\.count).max() ?? 0,
        bytes: findings.map(\.bytes).max() ?? 0)
    }
    var entries: [String: Baseline.Entry] = [:]
    for (likeness, faults) in alike where faults.count == 1 {
      guard let fitting = stale[likeness], fitting.count == 1 else { continue }
      entries[faults[0][0].fingerprint] = fitting[0]
    }
    self.entries = entries
  }
}
