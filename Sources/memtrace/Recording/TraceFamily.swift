/// How the traces of one recording belong together.
struct TraceFamily {
  private let known: Set<[UInt8]>
  /// How many traces a process has: one for each program that it was.
  private let programs: [Int32: Int]

  /// - Parameter headers: Of all traces of the recording that are at hand.
  init(_ headers: [TraceFileHeader]) {
    known = Set(headers.map(\.traceID))
    let recordings = Dictionary(headers.map { ($0.traceID, $0.pid) }, uniquingKeysWith: { $1 })
    programs = Dictionary(recordings.values.map { ($0, 1) }, uniquingKeysWith: +)
  }

  /// What another trace is to one: its `parent`, a `child` of it, or `related`.
  func relation(of other: TraceFileHeader, to own: TraceFileHeader) -> String {
    if isParent(other, of: own) { return "parent" }
    return isParent(own, of: other) ? "child" : "related"
  }

  /// Whether a process started the one of another trace, or was forked into one that has no trace and became it.
  ///
  /// A shell forks a process for `server &` that does nothing but execute `server`: that has not been recorded, and
  /// only its process ID tells whose child it is.
  private func isParent(_ parent: TraceFileHeader, of child: TraceFileHeader) -> Bool {
    if child.parentTraceID == parent.traceID { return true }
    return !known.contains(child.parentTraceID) && child.parentPID == parent.pid
      && programs[parent.pid] == 1 && child.pid != parent.pid
  }
}

extension TraceFileHeader {
  fileprivate var parentTraceID: [UInt8] {
    withUnsafeBytes(of: fields.parent_trace_id, Array.init)
  }

  fileprivate var parentPID: Int32 { Int32(truncatingIfNeeded: fields.ppid) }
}
