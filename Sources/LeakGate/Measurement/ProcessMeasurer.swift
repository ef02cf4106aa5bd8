import LeakAnalysis
import Reports
import Symbolication
import TraceReader

/// Measures one process from its trace, and collects what it finds.
public struct ProcessMeasurer {
  /// What the rules ask for; nothing else makes a run fail to be measured.
  public var needs: Set<Measure>
  /// Which processes the rules apply to: patterns with `*` and `?` for the name of the program, or
  /// for its path where they hold a `/`; empty for all.
  public var patterns: [String]
  /// Whether programs that build, start and surround others are left out; see ``ToolPrograms``.
  public var skipsTools = false
  /// Whether a process that was killed need not be measured.
  public var allowsKilled = false
  /// Whether what programs hide from LeakSanitizer themselves is hidden; see ``ProgramSuppressions``.
  public var asksPrograms = true
  /// Whether every process must have the planted leak of ``Canary``.
  public var expectsCanary: Bool

  /// Makes a measurer.
  public init(needs: Set<Measure>, patterns: [String] = [], expectsCanary: Bool = false) {
    self.needs = needs
    self.patterns = patterns
    self.expectsCanary = expectsCanary
  }

  /// Whether the rules apply to a program.
  public func chooses(executable: String) -> Bool {
    if skipsTools, ToolPrograms.contains(executable) { return false }
    return patterns.isEmpty || Glob.matchesAny(executable: executable, patterns)
  }

  /// Measures a process.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - source: Who was traced, and how to name things.
  ///   - file: The trace as the user knows it; nil when it is not kept.
  ///   - progress: Called now and then with the bytes read so far and all of them.
  /// - Returns: The process, what was found in it, in the order of the reports, and what its program hides of
  ///   that itself; nil for nothing.
  /// - Throws: `TraceError` when the file cannot be read, `ReportError` never for a whole trace.
  public func measure(
    _ trace: Trace, source: ReportSource, file: String?,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws -> (process: CheckedProcess, findings: [Finding], suppressions: ReturnedText?) {
    var process = CheckedProcess(trace, source: source, file: file)
    let executable = source.trace.executable
    let reason = ToolPrograms.reason(executable)
    // The recorder went past it, and what it did not record cannot be judged.
    let wasSkipped = reason != nil && trace.coverage.stop?.cause == .requested
    process.isChosen = chooses(executable: executable) && !wasSkipped
    guard process.isChosen else {
      if wasSkipped || skipsTools { process.note = reason }
      process.problems = RecordingGaps.unrecordedChildren(
        in: trace.coverage, chooses: chooses(executable:))
      return (process, [], nil)
    }
    var result = try trace.replay(
      ReplayRequest(), keepsLiveBlocks: needs.contains(.unfreed), progress: progress)
    trace.addNoticedErrors(to: &result)
    var measures = CheckedProcess.Measures(result)
    measures.add(MappedSum(trace))
    process.warnings = CoverageSummary(result.coverage).warnings
    process.problems = RecordingGaps.problems(in: result.coverage, needs: needs) { image in
      chooses(executable: image)
    }
    process.problems += RecordingGaps.unseenAllocators(of: trace)
    process.problems += RecordingGaps.missingMappings(of: trace, needs: needs)
    process.warnings += RecordingGaps.libraryAllocators(of: trace)
    var collector = FindingCollector(
      process: process.name, pid: process.pid, trace: file,
      tests: TestTimeline(trace.marks, clock: source.clock))
    collector.add(ErrorsReport(result, source: source), of: source)
    if needs.contains(.unfreed) {
      collector.add(try UnfreedReport(result, source: source, query: UnfreedQuery()))
    }
    if looksForLeaks {
      try lookForLeaks(
        trace, source, lastError: try LastError.find(in: trace, result.errors), &process,
        &measures, &collector)
    }
    process.measures = measures
    return (process, collector.findings, suppressions(of: source, for: collector.findings))
  }

  /// What a program hides itself; nil where it hides nothing, or nothing was found that it could.
  private func suppressions(of source: ReportSource, for findings: [Finding]) -> ReturnedText? {
    guard asksPrograms, findings.contains(where: { !$0.kind.isMemoryError }) else { return nil }
    return source.variables.text(
      returnedBy: ReturnedText.suppressions, in: source.trace.executable)
  }

  /// Why a process that outlives the recording and has no trace cannot be held to the rules; nil
  /// when it need not be.
  public func problem(ofRunning executable: String, pid: Int32) -> String? {
    guard looksForLeaks, !allowsKilled, chooses(executable: executable) else { return nil }
    return "\(PathText.lastComponent(executable)) (pid \(pid)): still running, and has recorded "
      + "nothing yet; --allow-killed passes it"
  }

  private var looksForLeaks: Bool {
    needs.contains(.leaks) || needs.contains(.cycles) || expectsCanary
  }

  private func noteMissingSnapshot(
    _ trace: Trace, after lastError: MemoryError.Kind?, _ process: inout CheckedProcess
  ) {
    let why = EndSnapshot.whyNone(in: trace, after: lastError)
    guard KilledProcess.isKilled(trace) else {
      process.problems.append(why)
      return
    }
    if allowsKilled {
      process.note = "killed, leaks not looked for"
    } else {
      process.problems.append(
        "\(why); \(KilledProcess.wayToASnapshot(trace))--allow-killed passes it")
    }
  }

  private func lookForLeaks(
    _ trace: Trace, _ source: ReportSource, lastError: MemoryError.Kind?,
    _ process: inout CheckedProcess, _ measures: inout CheckedProcess.Measures,
    _ collector: inout FindingCollector
  ) throws {
    if trace.ending == .exec {
      process.note = "replaced itself by another program (exec)"
      return
    }
    if KilledProcess.isKilled(trace),
      let who = KilledProcess.whoExpected(trace, command: process.command, names: source.names)
    {
      // What a crash leaves behind is no leak, nor is it known at every crash.
      process.note = "\(who), leaks not looked for"
      return
    }
    guard let index = EndSnapshot.index(in: trace) else {
      noteMissingSnapshot(trace, after: lastError, &process)
      return
    }
    let analysis = try trace.leakAnalysis(atSnapshot: index, source: source)
    var query = LeaksQuery()
    query.treeLines = 12
    query.keepsRootTimes = true
    query.hasRows = false
    let report = try LeaksReport(analysis, source: source, query: query)
    process.warnings += report.snapshot.warnings
    if let warning = report.snapshot.slicesWarning { process.warnings.append(warning) }
    collector.add(report, of: source)
    // A forked process has what its parent planted only as a block that is not its own.
    if expectsCanary, !trace.header.flags.contains(.forked),
      !(try Canary.isFound(in: analysis, source: source))
    {
      process.problems.append(
        "the leak that --canary planted was not found: what is said of this process proves nothing")
    }
    measures.leaked = report.leaked
    measures.cycles = report.rootCycleCount
  }
}

extension CheckedProcess {
  init(_ trace: Trace, source: ReportSource, file: String?) {
    let summary = source.trace
    self.init(
      name: summary.programName, executable: summary.executable,
      command: summary.commandLine, pid: summary.pid, trace: file, ending: summary.ending,
      isChosen: false)
  }
}

extension CheckedProcess.Measures {
  init(_ result: ReplayResult) {
    memoryErrors = result.errorCounts.values.reduce(0, &+)
    unfreed.count = result.total.liveCount
    unfreed.bytes = result.total.liveBytes
    peakBytes = result.peak.bytes
    allocations = result.total.totalCount
  }

  /// Takes over what was mapped; nil where that was not recorded.
  mutating func add(_ sum: MappedSum?) {
    guard let sum else { return }
    var mapped = BlockSum()
    (mapped.count, mapped.bytes) = (sum.persistentCount, sum.usableBytes)
    self.mapped = mapped
    mappedPeakBytes = sum.peakBytes
  }
}

extension Glob {
  /// Whether one of the patterns fits a program, by its path where the pattern has a `/`.
  static func matchesAny(executable: String, _ patterns: [String]) -> Bool {
    let name = PathText.lastComponent(executable)
    return patterns.contains { matches($0.contains("/") ? executable : name, $0) }
  }
}

/// Paths as text.
enum PathText {
  /// What stands behind the last slash; the whole path where that would be nothing.
  static func lastComponent(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    let name = path[path.index(after: slash)...]
    return name.isEmpty ? path : String(name)
  }
}
