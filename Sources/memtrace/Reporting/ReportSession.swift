import ArgumentParser
import Reports
import Symbolication
import Synchronization
import SystemPackage
import TraceReader

/// An opened trace and what goes with it while a report is made.
struct ReportSession {
  var trace: Trace
  var source: ReportSource
  /// The file as the user knows it; nil for a temporary recording.
  var file: FilePath?
  /// Shows how far the reading is, for anything over a second.
  var progress: @Sendable (UInt64, UInt64) -> Void

  /// Opens the trace, or records the command first, and makes a report.
  ///
  /// With a command, memtrace ends with the command's own exit status.
  ///
  /// - Parameters:
  ///   - input: The trace or the command.
  ///   - recording: How to record the command.
  ///   - symbols: How addresses become names; nil for reports without stacks.
  ///   - output: Where the report will go, which is looked at first: nobody waits for a command, or
  ///     the reading of a long trace, in vain.
  ///   - body: Makes the report.
  /// - Throws: ``CommandFailure`` when the trace cannot be read or the report not be made.
  static func run(
    _ input: TraceInput, recording: RecordingOptions, symbols: SymbolOptions? = nil,
    output: (any OutputTarget)? = nil, _ body: (ReportSession) throws -> Void
  ) throws {
    try ReportOutput.checkCanBeWritten(output?.output)
    switch input {
    case .file(let name):
      try recording.checkNone(for: name)
      try run(trace: name, symbols: symbols, body)
    case .command(let words):
      let status = try RecordingSession.withTemporaryRecording(of: words, options: recording) {
        run in
        try report(on: Self.mainTrace(of: run), shownAs: nil, symbols: symbols, body)
        noteOthers(run)
        return run.exitStatus
      }
      if status != 0 { throw ExitCode(status) }
    }
  }

  /// Opens a trace and makes a report.
  ///
  /// - Parameters:
  ///   - name: The trace, as the user typed it.
  ///   - symbols: How addresses become names; nil for reports without stacks.
  ///   - files: Files that traces before this one needed; nil for a single trace.
  ///   - body: Makes the report.
  /// - Returns: What the body does.
  /// - Throws: ``CommandFailure`` when the trace cannot be read or the report not be made.
  static func run<Content>(
    trace name: String, symbols: SymbolOptions?, sharing files: SymbolFiles? = nil,
    _ body: (ReportSession) throws -> Content
  ) throws -> Content {
    try report(on: FilePath(argument: name), shownAs: name, symbols: symbols, sharing: files, body)
  }

  /// The program that the launched process was last: `sh -c prog` replaces itself by `prog`.
  private static func mainTrace(of run: RecordedRun) throws -> FilePath {
    guard let own = run.last ?? run.traces.first else {
      throw RecordingSummary.nothingRecorded(run)
    }
    return own.path
  }

  private static func noteOthers(_ run: RecordedRun) {
    let others = run.traces.filter { $0.header.pid != run.pid }.count
    guard others > 0 else { return }
    let processes = others == 1 ? "1 more process was" : "\(others) more processes were"
    Diagnostics.write("\(processes) recorded; memtrace record keeps the traces of all of them")
  }

  private static func report<Content>(
    on path: FilePath, shownAs name: String?, symbols: SymbolOptions?,
    sharing files: SymbolFiles? = nil, _ body: (ReportSession) throws -> Content
  ) throws -> Content {
    let progress = ReportProgress("Reading \(name ?? "the recording")")
    defer { progress.finish() }
    do {
      let trace = try Trace(path: path)
      let source = try ReportSource(
        trace, file: name,
        symbolicator: (symbols?.debugFiles.search ?? DebugFileSearch())
          .symbolicator(for: trace, sharing: files),
        fullNames: symbols?.fullNames ?? false)
      let session = ReportSession(
        trace: trace, source: source, file: name.map { FilePath(argument: $0) },
        progress: { progress.update($0, of: $1) })
      return try body(session)
    } catch let error as TraceError {
      throw CommandFailure(error)
    } catch let error as ReportError {
      throw CommandFailure(error.description, exitStatus: ExitStatus.usage)
    }
  }

  /// Writes a report where the options say.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written.
  func write(_ report: some Report, to options: some OutputChoice) throws {
    progress(0, 0)
    try ReportOutput.write(report, to: options)
    if !(report is OverviewReport) { noteMissingNames() }
  }

  /// Says on standard error why a report has no names for some of the code, if it does not do so itself.
  func noteMissingNames() {
    let missing = source.names.missing
    missing.lines.forEach(Diagnostics.write)
    if let advice = missing.advice { Diagnostics.write(advice) }
  }
}

extension ReportOutput {
  /// Writes a report where the options say.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written.
  static func write(_ report: some Report, to options: some OutputChoice) throws {
    let writer = ReportWriter(format: options.format, style: options.style)
    let parts = try writer.parts(of: report)
    try withOutput(options.output) { output in
      try parts.forEach { _ = try output.write($0) }
    }
  }
}

/// A progress line that the reader's callback can reach.
final class ReportProgress: Sendable {
  private let line: Mutex<ProgressLine>

  init(_ label: String) {
    line = Mutex(ProgressLine(label))
  }

  /// Notes how far the work is; a total of 0 erases the line, because output follows.
  func update(_ done: UInt64, of total: UInt64) {
    line.withLock { line in
      if total == 0 { line.finish() } else { line.update(done, of: total) }
    }
  }

  func finish() {
    line.withLock { $0.finish() }
  }
}
