import CTraceFormat
import SystemPackage

extension RunningRecording {
  /// Pauses the children, and theirs, that go on being recorded because this process was when it
  /// forked them.
  ///
  /// Nobody else pauses them: who ends the recording knows of this process. Those that somebody has
  /// switched since, or that cannot be added to, are left as they are. A child that has no trace yet
  /// asks for that of its parent when it makes one.
  ///
  /// - Returns: How many were paused.
  func pauseChildren() -> Int {
    guard let root = TraceFileHeader(readingFrom: path) else { return 0 }
    let others = RecordedRun.traces(of: root.sessionID, root: root.pid, near: path)
    var family: Set = [root.traceID]
    // A child may have begun before its parent, in whose trace nothing was to be written.
    var heirs: [SessionTrace] = []
    for _ in others {
      let found = others.filter {
        !family.contains($0.header.traceID) && family.contains($0.header.parentTraceID)
      }
      guard !found.isEmpty else { break }
      heirs += found.filter(\.header.goesOnAsForked)
      family.formUnion(found.map(\.header.traceID))
    }
    return heirs.count { child in
      Self.isWritten(child.path) && (try? LiveTrace(path: child.path).setPaused(true)) != nil
    }
  }
}

extension TraceFileHeader {
  fileprivate var parentTraceID: [UInt8] {
    withUnsafeBytes(of: fields.parent_trace_id, Array.init)
  }

  /// Whether the process was resumed when it was forked, and has not been paused since.
  fileprivate var goesOnAsForked: Bool {
    fields.flags & MT_HEADER_FORKED.rawValue != 0 && hasNoEnding && fields.paused == 0
      && fields.resumed == 1
  }
}
