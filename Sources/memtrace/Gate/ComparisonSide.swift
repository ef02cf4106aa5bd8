import LeakGate
import Reports
import Symbolication
import SystemPackage

/// One side of a comparison: a trace, or the runs in a folder.
struct ComparisonSide {
  /// The traces, one for each run.
  let traces: [String]

  /// - Throws: ``CommandFailure`` when a folder has no trace.
  init(_ name: String) throws(CommandFailure) {
    guard let found = try TraceFolder.traces(in: name) else {
      traces = [name]
      return
    }
    // Of the processes of a run the one that was launched: it has the first place in its session.
    var first: [String: (path: String, start: UInt64)] = [:]
    for trace in found {
      guard let header = trace.header else { continue }
      let start = header.fields.start_mono_ns
      if let known = first[header.sessionID.description], known.start <= start { continue }
      first[header.sessionID.description] = (trace.path, start)
    }
    // Reading says what is wrong with those that cannot be read.
    let unreadable = found.filter { $0.header == nil }
    traces = (first.values.map(\.path) + unreadable.map(\.path)).sorted()
  }

  /// Reads the traces.
  ///
  /// - Parameters:
  ///   - grouping: What a row is.
  ///   - blocks: Which blocks count.
  ///   - symbols: How addresses become names.
  ///   - files: Files with symbols that both sides need.
  ///   - needsMappings: Whether mapped memory is asked for.
  /// - Returns: What was recorded, one for each run.
  /// - Throws: ``CommandFailure`` where a trace cannot be read, or lacks what is asked for.
  func profiles(
    _ grouping: ComparisonGrouping, _ blocks: ComparedBlocks, symbols: SymbolOptions,
    sharing files: SymbolFiles, needsMappings: Bool
  ) throws -> [RunProfile] {
    var profiles: [RunProfile] = []
    for trace in traces {
      try ReportSession.run(trace: trace, symbols: symbols, sharing: files) {
        session in
        let hasMappings = session.trace.recordsMappings
        guard hasMappings || !needsMappings else {
          throw CommandFailure(
            "\(trace): \(MappedSum.notRecordedText)", exitStatus: ExitStatus.usage)
        }
        let result = try session.trace.replay(blocks.request, progress: session.progress)
        profiles.append(
          RunProfile(
            result, mappings: hasMappings ? session.trace.mappings() : nil,
            source: session.source, grouping: grouping, blocks: blocks))
        session.progress(0, 0)
      }
    }
    return profiles
  }
}
