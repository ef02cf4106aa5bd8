import TraceReader
import TraceTestSupport

extension TraceBuilder {
  /// The errors of the trace's events, and those that show beside them.
  func noticedErrors() throws -> [MemoryError] {
    let file = try write()
    return try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      var result = try trace.replay()
      trace.addNoticedErrors(to: &result)
      return result.errors
    }
  }
}
