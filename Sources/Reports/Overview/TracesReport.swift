import LeakAnalysis
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

    /// Takes the figures from a replay of the whole trace.
    ///
    /// Without looking for whoever allocates: of hundreds of traces that would take most of the time.
    ///
    /// - Parameters:
    ///   - result: The replay, which need not have kept the live blocks.
    ///   - leaked: From ``leaked(in:source:)``, of the last snapshot; nil for a trace without one.
    ///   - source: Names.
    /// - Throws: Nothing at present: there are no filters that could fit nothing.
    public init(_ result: ReplayResult, leaked: BlockSum? = nil, source: ReportSource) throws {
      trace = source.summary(after: result)
      let allocations = try AllocationsReport(result, source: source, query: AllocationsQuery())
      total = allocations.total
      peak = allocations.timeline.peak
      self.leaked = leaked
      errorCount =
        ErrorsReport(result, source: source, top: 0, frameLimit: 0, checks: []).totalCount
      warnings = CoverageSummary(result.coverage).warnings
    }

    /// What a heap has leaked, as the page of its trace counts it.
    ///
    /// - Parameters:
    ///   - analysis: The heap, which need not be kept for the rest.
    ///   - source: Names.
    /// - Returns: Blocks and bytes.
    /// - Throws: Nothing at present: there are no filters that could fit nothing.
    public static func leaked(
      in analysis: LeakAnalysis, source: ReportSource
    ) throws -> BlockSum {
      var query = LeaksQuery()
      query.hasRows = false
      return try LeaksReport(analysis, source: source, query: query).leaked
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
