import Reports

/// What the gate decided, and all that it decided it by.
public struct GateResult: Sendable, Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.check"

  /// The decision.
  public enum Verdict: String, Sendable, Hashable, Encodable {
    /// Everything was measured, and every rule is kept.
    case pass
    /// A rule is broken.
    case fail
    /// Something that a rule asks for could not be measured, and no rule is broken as far as known.
    case unmeasured
  }

  /// A rule, and what a process has of it.
  public struct RuleResult: Sendable, Hashable, Encodable {
    /// The rule as it is written.
    public var rule: String
    /// Whether the findings say all that there is to say: the rule allows none.
    public var isOfFindings: Bool
    /// The name of the program.
    public var process: String
    /// The process ID.
    public var pid: UInt32
    /// The trace of the process; nil when that is not kept.
    public var trace: String?
    /// What was measured, in the words of the rule: `3 leaked blocks`.
    public var measured: String
    /// What it puts a limit on.
    public var measure: Measure
    /// Whether the numbers are of bytes.
    public var isBytes: Bool
    /// The number that is compared.
    public var value: UInt64
    /// The most that is allowed; nil when the baseline has no figure to compare with.
    public var most: UInt64?
    /// Whether it is kept.
    public var isKept: Bool

    /// What was measured, in the words of the rule: `3 leaked blocks`, `1.20 KiB in leaked blocks`.
    func measuredText(_ style: ByteStyle) -> String {
      guard isBytes else { return measure.counted(value) }
      let bytes = LimitText(value, most: most, style).value
      return measure == .peak ? bytes : "\(bytes) in \(measure.noun)"
    }

    /// The most that is allowed, written like what was measured.
    func allowedText(_ style: ByteStyle) -> String {
      isBytes ? LimitText(value, most: most, style).most : "\(most ?? 0)"
    }

    /// In one sentence: `3 leaked blocks, at most 2 allowed`.
    func sentence(_ style: ByteStyle) -> String {
      "\(measuredText(style)), at most \(allowedText(style)) allowed"
    }
  }

  /// An entry of the baseline that matched nothing.
  public struct StaleEntry: Sendable, Hashable, Encodable {
    /// Which finding it is about; see ``Fingerprint``.
    public var fingerprint: String
    /// What it is, as the baseline says.
    public var what: String

    /// Which one, and what is wrong with it.
    var sentence: String { "\(what) (\(fingerprint)) was not found" }
  }

  /// The decision.
  public var verdict: Verdict
  /// The status to end with: the command's own when it failed, 86, 87 or 0.
  public var exitStatus: Int32
  /// The command's own exit status; nil when traces were checked.
  public var hostStatus: Int32?
  /// The processes, those that were not chosen too.
  public var processes: [CheckedProcess]
  /// All findings: those that count first, the ones with the most bytes first.
  public var findings: [Finding]
  /// Each rule for each process.
  public var rules: [RuleResult]
  /// Entries that matched nothing.
  public var stale: [StaleEntry]
  /// Why something could not be measured.
  public var problems: [String]
  /// What else should be known.
  public var warnings: [String]
  /// Whether these fail the gate; not part of the document.
  var failsOnStale: Bool
  /// The file of the baseline; not part of the document.
  var baselineName: String
  /// The version of the tool; not part of the document.
  var toolVersion: String

  /// The processes in lines: those that the rules apply to, each with how it ended, then the others,
  /// those of one program together.
  var processLines: [(title: String, ending: String, summary: String)] {
    let others = processes.filter { !$0.isChosen }
    var lines = processes.filter(\.isChosen).map { ($0.title, $0.ending.text, $0.summary) }
    var told: Set<String> = []
    for process in others where told.insert(process.name).inserted {
      let count = others.count { $0.name == process.name }
      lines.append(
        count == 1
          ? (process.title, process.ending.text, process.summary)
          : ("\(process.name), \(count) processes", "", process.summary))
    }
    return lines
  }

  /// The same with the whole names of functions, for people: all is judged by the short ones.
  public var withFullNames: GateResult {
    var result = self
    for index in result.findings.indices { result.findings[index].takeFullNames() }
    return result
  }

  /// Rules that are broken.
  var broken: [RuleResult] { rules.filter { !$0.isKept && $0.most != nil } }

  /// Broken rules that no finding speaks for.
  var brokenFigures: [RuleResult] { broken.filter { !$0.isOfFindings } }

  /// Entries of the baseline that fail the gate, because they matched nothing.
  var failingStale: [StaleEntry] { failsOnStale ? stale : [] }

  /// What the gate failed for: `3 findings, 1 stale entry of the baseline`.
  var failureText: String {
    let findings = "\(failing.count) finding\(failing.count == 1 ? "" : "s")"
    let entries = failingStale.count
    if entries == 0 { return findings }
    return findings + ", \(entries) stale entr\(entries == 1 ? "y" : "ies") of the baseline"
  }

  /// Findings that count.
  public var counted: [Finding] { findings.filter(\.counts) }

  /// Findings that the gate fails for.
  var failing: [Finding] { findings.filter(\.fails) }

  /// Findings that count against rules that are kept all the same.
  var allowed: [Finding] { findings.filter { $0.counts && $0.isAllowed } }

  /// How many findings have a state.
  func count(_ state: Finding.State) -> Int { findings.count { $0.state == state } }
}

/// The statuses that the gate ends with.
public enum GateStatus {
  /// A rule is broken.
  public static let failed: Int32 = 86
  /// memtrace could not do its work.
  public static let unmeasured: Int32 = 87
}
