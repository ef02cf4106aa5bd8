import TraceReader

/// The snapshot that a gate judges by: the one at the end of the process.
enum EndSnapshot {
  /// Its position; nil when there is none that is complete, or the trace is a sample.
  static func index(in trace: Trace) -> Int? {
    guard trace.header.sampleInterval == 0 else { return nil }
    return trace.snapshots.last { $0.isComplete && isEnd($0.reason) }?.index
  }

  private static func isEnd(_ reason: SnapshotReason) -> Bool {
    switch reason {
    case .exit, .underscoreExit, .quickExit, .abort, .signal: true
    default: false
    }
  }

  /// Why there is none, in a sentence.
  ///
  /// - Parameters:
  ///   - trace: The trace.
  ///   - lastError: What was wrong with the last thing that its process did, see ``LastError``.
  /// - Returns: The sentence.
  static func whyNone(in trace: Trace, after lastError: MemoryError.Kind? = nil) -> String {
    if trace.header.sampleInterval != 0 {
      return "leaks cannot be told in a sample; record without --sample"
    }
    let why = trace.whyNoEndSnapshot.map { " (\($0))" } ?? ""
    if trace.snapshots.contains(where: { isEnd($0.reason) }) {
      return "the heap snapshot at the end was cut off\(why): leaks cannot be told"
    }
    switch trace.ending {
    case .signal(let number):
      return "killed by signal \(number), without a heap snapshot: leaks cannot be told"
    case .unknown where lastError != nil:
      let error = lastError == .doubleFree ? "a double free" : "an invalid free"
      return
        "did nothing after \(error), for which the C library ends a process: there is no heap "
        + "snapshot to tell leaks by"
    case .unknown:
      return
        "wrote no end (killed, still running, or a program of Go: docs/ci.md): there is no heap "
        + "snapshot to tell leaks by"
    case .underscoreExit where why.isEmpty:
      return
        "no heap snapshot was taken at the end, as of programs that make system calls themselves "
        + "(Go: docs/ci.md): leaks cannot be told"
    default:
      return "no heap snapshot was taken at the end\(why): leaks cannot be told"
    }
  }
}
