import LeakGate
import Reports
import Symbolication
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// A run of the gate: processes measured one after the other, then judged together.
struct GateRun {
  private let setup: GateSetup
  /// Never with full names: scopes, the baseline and its fingerprints hold whatever is printed.
  private let symbols: SymbolOptions
  private let printsFullNames: Bool
  private let files = SymbolFiles()
  private var input: GateInput

  init(setup: GateSetup, symbols: SymbolOptions) {
    self.setup = setup
    printsFullNames = symbols.fullNames
    var symbols = symbols
    symbols.fullNames = false
    self.symbols = symbols
    input = GateInput(today: .today)
    input.rules = setup.rules
    input.baseline = setup.baseline
    if let file = setup.configuration.baseline { input.baselineName = file }
    input.suppressions = setup.suppressions
    input.failsOnStale = setup.configuration.failsOnStale
    input.failsOnUnmeasured = setup.configuration.failsOnUnmeasured
    input.toolVersion = Version.current
  }

  /// The verdict on what was measured so far, with the names that are to be printed.
  var result: GateResult {
    let result = GateResult(judging: input)
    return printsFullNames ? result.withFullNames : result
  }

  /// Measures the processes of traces that were recorded before.
  ///
  /// A recording counts once, whatever copies of it are among them: a trace may lie beside the packed
  /// form of itself.
  ///
  /// - Parameter names: Their paths, as typed, or those of folders that they are in.
  /// - Throws: What is not about the traces, and ``CommandFailure`` for a folder without any.
  mutating func add(traces names: some Sequence<String>) throws {
    let traces = try names.flatMap { name in
      try TraceFolder.traces(in: name)?.map(\.path) ?? [name]
    }
    for copies in TraceCopies.grouped(traces) {
      try add { run in
        let (path, measured) = try copies.best(by: \.process.problems.count) { path in
          try run.measure(path)
        }
        run.input.warnings += copies.notes(choosing: path).map { $0 + ", which counts once" }
        return measured
      }
    }
  }

  /// What is known of a process.
  private typealias Measured = (
    process: CheckedProcess, findings: [Finding], suppressions: ReturnedText?
  )

  /// Adds a process.
  ///
  /// A trace that cannot be read is something that could not be measured, not the end of the run.
  ///
  /// - Parameter measured: Measures it.
  /// - Throws: What is not about the trace.
  private mutating func add(_ measured: (inout GateRun) throws -> Measured) throws {
    do {
      let (process, findings, suppressions) = try measured(&self)
      input.add(process, findings, suppressions: suppressions)
    } catch let failure as CommandFailure {
      input.problems.append(failure.description)
    }
  }

  /// Measures the process of a trace.
  ///
  /// - Parameters:
  ///   - trace: Its path, as typed.
  ///   - isKept: Whether the file is there when the verdict is read.
  ///   - skipsTools: Whether a compiler, `make` and their like are only listed.
  /// - Returns: What is known of it.
  /// - Throws: ``CommandFailure`` when it cannot be read.
  private func measure(
    _ trace: String, isKept: Bool = true, skipsTools: Bool = false
  ) throws -> Measured {
    try ReportSession.run(trace: trace, symbols: symbols, sharing: files) { session in
      var measurer = setup.measurer
      measurer.skipsTools = skipsTools
      return try measurer.measure(
        session.trace, source: session.source, file: isKept ? trace : nil,
        progress: session.progress)
    }
  }

  /// Records a command and measures all its processes.
  mutating func record(
    _ words: [String], options: RecordingOptions, keepingIn folder: String?, canary: Bool
  ) throws {
    input.commandName = FilePath(words[0]).lastComponent?.string
    var options = options
    if setup.needsMappings { options.events.mappings = true }
    guard let session = try recordable(words, options, canary: canary) else { return }
    session.warnings.forEach(Diagnostics.write)
    guard let folder else {
      let directory = try TemporaryDirectory(environment: session.environment)
      defer { directory.remove() }
      try record(session, words[0], in: directory.path, isKept: false)
      return
    }
    try record(session, words[0], in: try Self.folderToKeepIn(folder), isKept: true)
  }

  /// The folder that `--keep` names, made if it is not there.
  private static func folderToKeepIn(_ name: String) throws(CommandFailure) -> FilePath {
    let path = FilePath(argument: name).absolute
    _ = path.withPlatformString { mkdir($0, 0o777) }
    do throws(Errno) {
      try path.checkIsWritableFolder()
      return path
    } catch {
      throw CommandFailure(
        "cannot keep traces in \(name): \(error); give another folder to --keep",
        exitStatus: ExitStatus.cannotCreate)
    }
  }

  /// Prepares the recording; nil for a program that cannot be recorded (a static one, say), which is
  /// not run then, because nothing could be proved by that.
  private mutating func recordable(
    _ words: [String], _ options: RecordingOptions, canary: Bool
  ) throws(CommandFailure) -> RecordingSession? {
    var variables = canary ? ["MEMTRACE_CANARY": "1"] : [:]
    if skipsTools { variables["MEMTRACE_SKIP"] = ToolPrograms.namesForRecorder }
    do throws(CommandFailure) {
      return try RecordingSession(words: words, options: options, snapshots: variables)
    } catch {
      guard error.exitStatus == ExitStatus.cannotRecord else { throw error }
      input.problems.append(error.description)
      return nil
    }
  }

  private mutating func record(
    _ session: RecordingSession, _ command: String, in directory: FilePath, isKept: Bool
  ) throws {
    let name = try OutputNaming.defaultOutput(forCommand: command, in: directory)
    let run = try session.run(output: name, listsUnrecorded: true)
    input.hostStatus = run.exitStatus
    if run.traces.isEmpty {
      input.problems.append(RecordingSummary.nothingRecorded(run).description)
    }
    var measurer = setup.measurer
    measurer.skipsTools = skipsTools
    input.problems += run.unrecorded.compactMap {
      measurer.problem(ofRunning: $0.executable, pid: $0.pid)
    }
    let problems = input.problems
    for trace in run.traces {
      try add { run in
        try run.measure(trace.path.string, isKept: isKept, skipsTools: run.skipsTools)
      }
    }
    // Where nothing but tools ran, the command itself is what is meant, not what it started.
    guard skipsTools, !input.processes.contains(where: \.isChosen) else { return }
    (input.processes, input.problems) = ([], problems)
    for trace in run.traces {
      let isCommand = trace.header.pid == run.pid
      try add { run in
        try run.measure(trace.path.string, isKept: isKept, skipsTools: !isCommand)
      }
    }
  }

  /// Whether compilers and their like are left out: where no programs were chosen.
  private var skipsTools: Bool { setup.configuration.processes.isEmpty }

  /// Makes the baseline tolerate what was found, and writes it.
  mutating func updateBaseline() throws {
    guard let file = setup.configuration.baseline else { return }
    let old = setup.baseline ?? Baseline(), isWhole = input.isWhole
    let renewed = Baseline(
      renewing: old, findings: GateResult(judging: input).findings,
      processes: input.processes, isWhole: isWhole)
    try ReportOutput.withOutput(file) { output in _ = try output.write(renewed.yaml) }
    let count = CountText.plain(renewed.entries.count, "finding")
    Diagnostics.write("wrote \(count) into \(file)")
    if !isWhole, !old.entries.isEmpty {
      Diagnostics.write(
        "no entry was removed: the command failed, or not all of it could be measured")
    }
    input.baseline = renewed
  }
}

extension CalendarDay {
  /// Today, in universal time: a gate must not depend on where it runs.
  static var today: CalendarDay {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    let padded = { (number: Int32) in (number < 10 ? "0" : "") + String(number) }
    let text = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    return CalendarDay(text) ?? CalendarDay.first
  }
}
