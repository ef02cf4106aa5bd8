import TraceReader

/// The traces of a folder in a line each: which of them to look at.
public struct TracesReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.traces"

  /// What a trace comes to.
  public struct Row: Sendable, Hashable, Encodable {
    /// Which trace.
    public var trace: TraceSummary
    /// All allocations.
    public var total: TallyRow
    /// The greatest live bytes.
    public var peak: TimelineSummary.Peak
    /// What is leaked at the last snapshot; nil for a trace without one.
    public var leaked: BlockSum?
    /// How many memory errors there are.
    public var errorCount: UInt64
    /// What is missing in the trace, a sentence per gap.
    public var warnings: [String]

    /// Takes over the figures of a page.
    public init(_ page: OverviewReport) {
      trace = page.trace
      total = page.allocations.total
      peak = page.allocations.timeline.peak
      leaked = page.leaks?.leaked
      errorCount = page.errors.totalCount
      warnings = page.coverage.warnings
    }

    /// Whether the trace is one to look at first.
    var hasFindings: Bool { errorCount > 0 || (leaked?.count ?? 0) > 0 }

    /// What was found in it: `1 memory error, 2 leaks`.
    var findings: String {
      var parts: [String] = []
      if errorCount > 0 { parts.append(CountText.of(errorCount, "memory error")) }
      if let leaked, leaked.count > 0 { parts.append(CountText.of(leaked.count, "leak")) }
      return parts.joined(separator: ", ")
    }
  }

  /// The folder, as it was named.
  public var folder: String
  /// The traces in the order in which their processes began.
  public var traces: [Row]
  /// What could not be read, and what is not listed because it is there twice.
  public var problems: [String]

  /// Makes a report.
  ///
  /// - Parameters:
  ///   - folder: The folder, as it was named.
  ///   - traces: The traces, in any order.
  ///   - problems: What is said of those that are not among them.
  public init(folder: String, traces: [Row], problems: [String] = []) {
    self.folder = folder
    self.traces = traces.sorted {
      ($0.trace.startedAtNanoseconds, $0.trace.pid, $0.trace.file ?? "")
        < ($1.trace.startedAtNanoseconds, $1.trace.pid, $1.trace.file ?? "")
    }
    self.problems = problems
  }

  /// Commands that lead on from here: those with errors first, then those that leak most.
  var nextCommands: [NextCommand] {
    let found = traces.filter(\.hasFindings).sorted {
      ($0.errorCount, $0.leaked?.bytes ?? 0) > ($1.errorCount, $1.leaked?.bytes ?? 0)
    }
    var commands = found.prefix(3).map {
      NextCommand("memtrace report \($0.trace.fileArgument)", $0.findings)
    }
    if commands.isEmpty, let largest = traces.max(by: { $0.peak.bytes < $1.peak.bytes }) {
      commands.append(
        NextCommand(
          "memtrace report \(largest.trace.fileArgument)", "the one with the highest peak"))
    }
    commands.append(
      NextCommand("memtrace check \(ShellText.quoted(folder))", "a verdict on all of them"))
    return commands
  }
}
