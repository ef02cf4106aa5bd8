import TraceReader

/// The misuse of the allocator that a process ended with which wrote no end.
///
/// glibc prints `free(): double free detected` and ends the process, by an `abort` of its own that
/// the recorder does not see. Who started the process is told of the signal, but of children nobody
/// tells the recording.
enum LastError {
  /// What was wrong with the last call that was recorded.
  ///
  /// - Parameters:
  ///   - trace: The trace.
  ///   - errors: Its misuses.
  /// - Returns: The misuse; nil where the process wrote an end, or the call was right.
  /// - Throws: `TraceError` when the file cannot be read.
  static func find(in trace: Trace, _ errors: [MemoryError]) throws -> MemoryError.Kind? {
    let fatal = errors.filter { isFatal($0.kind) }
    guard trace.ending == .unknown, !fatal.isEmpty, let last = try trace.lastEvent() else {
      return nil
    }
    return fatal.first { $0.offending == last }?.kind
  }

  private static func isFatal(_ kind: MemoryError.Kind) -> Bool {
    switch kind {
    case .doubleFree, .freeOfUnknown, .freeOfInterior, .reallocOfFreed: true
    default: false
    }
  }
}
