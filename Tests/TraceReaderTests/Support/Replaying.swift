import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

extension TraceBuilder {
  /// Writes, opens and replays the trace.
  func replay(_ options: ReplayOptions = ReplayOptions()) throws -> ReplayResult {
    try open { try $0.replay(options) }
  }

  /// Writes and opens the trace.
  func open<Value>(_ body: (Trace) throws -> Value) throws -> Value {
    let file = try write()
    return try withExtendedLifetime(file) { try body(try Trace(path: file.path)) }
  }

  /// All events as they are read back.
  func events() throws -> [Event] {
    try open { trace in
      var events: [Event] = []
      try trace.forEachEvent { _, event in
        events.append(event)
        return true
      }
      return events
    }
  }
}

/// The error that opening these bytes as a trace throws; nil when they open.
func openingError(_ bytes: [UInt8]) throws -> TraceError? {
  let file = try TemporaryFile(bytes)
  return withExtendedLifetime(file) {
    do throws(TraceError) {
      _ = try Trace(path: file.path)
      return nil
    } catch {
      return error
    }
  }
}

/// Every operation that begins or ends the life of a block.
let blockOperations = (UInt8(0)..<64).map { Operation(rawValue: $0) }
  .filter { $0.kind == .allocation || $0.kind == .deallocation }
