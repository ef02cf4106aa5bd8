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

    /// The process, as `server (pid 12)`.
    var processTitle: String { "\(process) (pid \(pid))" }

    /// What was measured, in the words of the rule: `3 leaked blocks`, `1.20 KiB in leaked blocks`.
    func measuredText(_ style: ByteStyle) -> String {
      guard isBytes else { return measure.counted(value) }
      let bytes = LimitText(value, most: most, style).value
      return measure.isBytesOnly ? bytes : "\(bytes) in \(measure.noun)"
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

  /// A suppression, and what it hid.
  public struct SuppressionUse: Sendable, Hashable, Encodable {
    /// What it is called, or the pattern itself.
    public var name: String
    /// Where it stands: `lsan.supp:3`.
    public var place: String
    /// How many findings it hid; 0 for one that nothing needs.
    public var findings = 0
    /// Their blocks, or calls.
    public var count: UInt64 = 0
    /// Their requested bytes.
    public var bytes: UInt64 = 0
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
  /// The suppressions, in the order of their files.
  public var suppressions: [SuppressionUse]
  /// Why something could not be measured.
  public var problems: [String]
  /// What else should be known.
  public var warnings: [String]
  /// Whether nothing was missed, so that what hid nothing is not needed; not part of the document.
  var isWhole: Bool
  /// Whether stale entries fail the gate; not part of the document.
  var failsOnStale: Bool
  /// The file of the baseline; not part of the document.
  var baselineName: String
  /// The name of the command; nil when traces were checked; not part of the document.
  var commandName: String?
  /// The version of the tool; not part of the document.
  var toolVersion: String
  /// Whether names are whole also where people read them; not part of the document.
  private(set) var hasFullNames = false
  /// How many different findings the text has, nil for all; not part of the document.
  var mostFindings: Int?

  /// The processes in lines: those that the rules apply to, each with how it ended, of which many alike
  /// are one line, then the others, those of one program together.
  var processLines: [(title: String, ending: String, summary: String)] {
    let others = processes.filter { !$0.isChosen }
    var lines = chosenLines
    var told: Set<String> = []
    for process in others where told.insert(process.name).inserted {
      let count = others.count { $0.name == process.name }
      lines.append(
        count == 1
          ? (process.title, process.ending.text, process.summary)
          : ("\(process.program), \(count) processes", "", process.summary))
    }
    return lines
  }

  private var chosenLines: [(title: String, ending: String, summary: String)] {
    struct Line: Hashable {
      var name: String
      var ending: String
      var summary: String
    }
    let chosen = processes.filter(\.isChosen).map { process in
      (
        title: process.title,
        line: Line(name: process.program, ending: process.ending.text, summary: process.summary)
      )
    }
    let counts = Dictionary(chosen.map { ($0.line, 1) }, uniquingKeysWith: +)
    var told: Set<Line> = []
    return chosen.compactMap { title, line in
      let count = counts[line] ?? 1
      if count < Self.leastAlike { return (title, line.ending, line.summary) }
      guard told.insert(line).inserted else { return nil }
      return ("\(line.name), \(count) processes", line.ending, line.summary)
    }
  }

  /// The same with the whole names of functions, for people: all is judged by the short ones.
  public var withFullNames: GateResult {
    var result = self
    for index in result.findings.indices { result.findings[index].takeFullNames() }
    result.hasFullNames = true
    return result
  }

  /// The same with long names shortened, unless whole ones are asked for: a name of a deep template
  /// has kilobytes, and a log no place for them.
  var forPeople: GateResult {
    guard !hasFullNames else { return self }
    var result = self
    var shortener = NameShortener()
    for index in result.findings.indices { shortener.shorten(&result.findings[index]) }
    return result
  }

  /// Rules that are broken.
  var broken: [RuleResult] { rules.filter { !$0.isKept && $0.most != nil } }

  /// Broken rules that no finding speaks for.
  var brokenFigures: [RuleResult] { broken.filter { !$0.isOfFindings } }

  /// Broken rules in words: processes of one program that break one alike are together.
  func brokenLines(
    _ style: ByteStyle
  ) -> [(rule: String, process: String, measured: String, allowed: String)] {
    struct Line: Hashable {
      var rule: String
      var process: String
      var measured: String
      var allowed: String
    }
    let alike = broken.grouped {
      Line(
        rule: $0.rule, process: $0.process, measured: $0.measuredText(style),
        allowed: $0.allowedText(style))
    }
    return alike.map { rules in
      let rule = rules[0]
      let process =
        rules.count == 1 ? rule.processTitle : "\(rule.process), \(rules.count) processes"
      return (rule.rule, process, rule.measuredText(style), rule.allowedText(style))
    }
  }

  /// Entries of the baseline that fail the gate, because they matched nothing.
  var failingStale: [StaleEntry] { failsOnStale ? stale : [] }

  /// What the gate failed for: `3 findings, 1 stale entry of the baseline`.
  var failureText: String {
    let different = Set(failing.map(\.fingerprint)).count
    var findings = CountText.plain(failing.count, "finding")
    if different < failing.count { findings += " (\(different) different)" }
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
