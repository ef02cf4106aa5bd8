import ArgumentParser
import Reports
import SystemPackage
import TraceReader

/// `memtrace info`: what a trace is.
struct InfoCommand: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show what a trace is: process, threads, images, snapshots, coverage and end.",
    usage: "memtrace info [TRACE | -- COMMAND …] [options]",
    discussion: """
      Coverage says what the trace does not hold: events that were dropped, stacks that were cut, \
      calls that went past the recorder. The other traces of the same recording are looked for in \
      the trace's folder. What was live at each heap snapshot is counted, and the events are looked \
      at for damage, where that takes at most some seconds, and with --all.

      Examples:
        memtrace info server.mtrace
        memtrace info server.mtrace --all
        memtrace info server.mtrace --format json
      """)

  @OptionGroup var input: TraceInputOptions
  @OptionGroup(title: "View") var view: InfoViewOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Recording a command") var recording: RecordingOptions

  func run() throws {
    try ReportSession.run(input.input(), recording: recording, output: output) { session in
      var report = InfoReport(
        session.trace, source: session.source, relatives: relatives(of: session),
        live: try live(in: session), coverage: try coverage(of: session), listsAll: view.all)
      report.coverage.warnings += Recordability.gaps(of: session.trace)
      try session.write(report, to: output)
    }
  }

  /// More bytes of events than this are read for a table only if everything is to be listed: about
  /// two seconds.
  private static let quickEventBytes: UInt64 = 64 << 20

  /// What was live at each snapshot; nil where counting would take long.
  private func live(in session: ReportSession) throws -> [LiveTotal]? {
    let trace = session.trace
    guard !trace.snapshots.isEmpty, readsEvents(of: trace) else { return nil }
    return try trace.liveTotals(at: trace.snapshots.map(\.time), progress: session.progress)
  }

  /// What is missing, damaged events included; nil where looking at all of them would take long.
  private func coverage(of session: ReportSession) throws -> Coverage? {
    guard readsEvents(of: session.trace) else { return nil }
    return try session.trace.eventCoverage(progress: session.progress)
  }

  private func readsEvents(of trace: Trace) -> Bool {
    view.all || trace.eventBytes <= Self.quickEventBytes
  }

  /// The other traces of the recording, known by the IDs in their headers.
  private func relatives(of session: ReportSession) -> [InfoReport.Relative] {
    guard let file = session.file, let own = TraceFileHeader(readingFrom: file) else { return [] }
    let directory = file.removingLastComponent()
    let traces = RecordedRun.traces(
      of: own.sessionID, root: own.pid, near: directory.isEmpty ? FilePath("./\(file)") : file)
    let family = TraceFamily([own] + traces.map(\.header))
    var known: Set<[UInt8]> = [own.traceID]
    return traces.compactMap { other in
      // A trace may be there twice, packed and not.
      guard known.insert(other.header.traceID).inserted, let name = other.path.lastComponent else {
        return nil
      }
      return InfoReport.Relative(
        file: directory.appending(name).string, pid: UInt32(bitPattern: other.header.pid),
        relation: family.relation(of: other.header, to: own))
    }
  }
}
