/// What is known and tolerated: findings with budgets, and the figures that rules compare with.
public struct Baseline: Sendable, Hashable {
  /// A known finding.
  public struct Entry: Sendable, Hashable {
    /// Which one; see ``Fingerprint``.
    public var fingerprint: String
    /// What it is.
    public var kind: FindingKind
    /// What it is about, for people: `Node in makeList (list.c)`.
    public var what: String
    /// At most so many blocks or calls in a process.
    public var count: UInt64
    /// At most so many bytes in a process.
    public var bytes: UInt64
    /// Why it is tolerated.
    public var reason: String?
    /// Who is to mend it.
    public var owner: String?
    /// The last day on which it is tolerated, as `2027-01-31`.
    public var expires: CalendarDay?

    /// Makes an entry.
    public init(
      fingerprint: String, kind: FindingKind, what: String, count: UInt64, bytes: UInt64,
      reason: String? = nil, owner: String? = nil, expires: CalendarDay? = nil
    ) {
      self.fingerprint = fingerprint
      self.kind = kind
      self.what = what
      self.count = count
      self.bytes = bytes
      self.reason = reason
      self.owner = owner
      self.expires = expires
    }
  }

  /// Known findings.
  public var entries: [Entry] = []
  /// The figures of each program, by its name; of several processes the greatest.
  public var measures: [String: [Measure: Amount]] = [:]

  /// Makes an empty baseline.
  public init() {}

  /// The baseline that tolerates just what a run has found.
  ///
  /// What people wrote into the old one stays: reasons, owners and dates of entries that are still
  /// needed, or were renamed. Entries that match nothing go, if the run would have found what they are about.
  ///
  /// - Parameters:
  ///   - old: The baseline until now.
  ///   - findings: All that was found and is not suppressed.
  ///   - processes: The processes that were measured.
  ///   - isWhole: Whether nothing can have been missed; see ``GateInput/isWhole``.
  public init(
    renewing old: Baseline, findings: [Finding], processes: [CheckedProcess], isWhole: Bool = true
  ) {
    let entries = old.entriesByFingerprint
    var renewed = isWhole ? [:] : entries
    if !isWhole { measures = old.measures }
    let renamed = isWhole ? RenamedFindings(findings, old).entries : [:]
    for finding in findings where finding.state != .suppressed {
      let known = entries[finding.fingerprint] ?? renamed[finding.fingerprint]
      var entry =
        renewed[finding.fingerprint]
        ?? Entry(
          fingerprint: finding.fingerprint, kind: finding.kind, what: finding.name, count: 0,
          bytes: 0, reason: known?.reason, owner: known?.owner, expires: known?.expires)
      entry.count = max(entry.count, finding.count)
      entry.bytes = max(entry.bytes, finding.bytes)
      renewed[finding.fingerprint] = entry
    }
    self.entries = renewed.values.sorted { $0.order < $1.order }
    for process in processes {
      guard let amounts = process.measures?.amounts else { continue }
      measures[process.name, default: [:]].merge(amounts) {
        Amount(count: max($0.count, $1.count), bytes: max($0.bytes, $1.bytes))
      }
    }
  }
}

extension Baseline {
  /// The entries by what they are found by; of several the first.
  var entriesByFingerprint: [String: Entry] {
    Dictionary(entries.map { ($0.fingerprint, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension Baseline.Entry {
  /// By kind, then name, so that entries of one function stand together whatever was measured.
  fileprivate var order: (String, String, String) { (kind.ruleID, what, fingerprint) }
}

extension Finding {
  /// What it is and where, without a line: `Node in makeList (list.c)`.
  var name: String {
    guard let place = responsible else { return what }
    let file = place.file.map { " (\(PathText.lastComponent($0)))" } ?? ""
    return what.hasSuffix(" in \(place.name)") ? what + file : "\(what) in \(place.name)\(file)"
  }
}

extension CheckedProcess.Measures {
  /// The figures by measure, as far as they are known.
  var amounts: [Measure: Amount] {
    var amounts: [Measure: Amount] = [
      .memoryErrors: Amount(count: memoryErrors),
      .unfreed: Amount(count: unfreed.count, bytes: unfreed.bytes),
      .peak: Amount(bytes: peakBytes), .allocations: Amount(count: allocations),
    ]
    if let leaked { amounts[.leaks] = Amount(count: leaked.count, bytes: leaked.bytes) }
    if let mapped { amounts[.mapped] = Amount(count: mapped.count, bytes: mapped.bytes) }
    if let mappedPeakBytes { amounts[.mappedPeak] = Amount(bytes: mappedPeakBytes) }
    if let cycles { amounts[.cycles] = Amount(count: cycles) }
    return amounts
  }
}

/// A day, as `2027-01-31`; days compare as they follow each other.
public struct CalendarDay: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Four digits, two and two.
  public let description: String

  /// Reads a day; nil when the text is none.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({
        $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }),
      let year = Int(parts[0]), let month = Int(parts[1]), (1...12).contains(month),
      let day = Int(parts[2]), (1...Self.days(of: month, in: year)).contains(day)
    else { return nil }
    description = text
  }

  private static func days(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The first day there is.
  public static let first = CalendarDay(unchecked: "0000-01-01")

  private init(unchecked text: String) { description = text }

  /// Compares the dates.
  public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
    left.description < right.description
  }
}
