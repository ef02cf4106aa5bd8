import TraceReader

/// When allocations were recorded, of a recording that could be paused.
public struct WindowsSummary: Sendable, Hashable, Encodable {
  /// From a resume to the pause after it, in nanoseconds since the beginning.
  public struct Window: Sendable, Hashable, Encodable {
    /// When recording was resumed.
    public var startNanoseconds: UInt64
    /// When it was paused; nil when it went on to the end.
    public var endNanoseconds: UInt64?
  }

  /// For how long the process had run when it was attached to; nil when it was recorded from its
  /// start.
  public var attachedAfterNanoseconds: UInt64?
  /// In the order of time.
  public var windows: [Window]

  /// Takes over the windows of a trace; nil where recording could not be paused.
  init?(_ trace: Trace) {
    guard let windows = trace.windows else { return nil }
    attachedAfterNanoseconds = trace.notes.first { $0.kind == .attached }?.value
    self.windows = windows.map {
      Window(
        startNanoseconds: trace.clock.nanoseconds($0.start),
        endNanoseconds: $0.end.map(trace.clock.nanoseconds))
    }
  }

  /// How long they are together, when recording ended then.
  func nanoseconds(endingAt end: UInt64) -> UInt64 {
    windows.reduce(0) { sum, window in
      let end = window.endNanoseconds ?? end
      return sum &+ (end > window.startNanoseconds ? end - window.startNanoseconds : 0)
    }
  }

  /// The sentence under the headline of a report.
  func text(durationNanoseconds: UInt64) -> String {
    guard !windows.isEmpty else {
      return "Recording was paused all the time: nothing was recorded. "
        + "'memtrace resume PID' begins it."
    }
    if let attachedAfterNanoseconds {
      return attachedText(attachedAfterNanoseconds, durationNanoseconds: durationNanoseconds)
    }
    let length = TimeText.duration(nanoseconds(endingAt: durationNanoseconds))
    let parts = windows.count == 1 ? "" : ", in \(windows.count.grouped) parts"
    return "Recorded for \(length) of \(TimeText.duration(durationNanoseconds))\(parts); blocks "
      + "allocated while recording was paused are not known."
  }

  private func attachedText(_ age: UInt64, durationNanoseconds: UInt64) -> String {
    let length = TimeText.duration(nanoseconds(endingAt: durationNanoseconds))
    let parts = windows.count == 1 ? "" : " in \(windows.count.grouped) parts"
    return "Attached to after \(TimeText.duration(age)), recorded for \(length)\(parts); blocks "
      + "allocated at other times are not known."
  }
}

extension TraceSummary {
  /// Why figures are not those of all allocations, in sentences; empty when they are.
  package var figuresWarnings: [String] {
    let pauses = windows.map { $0.text(durationNanoseconds: durationNanoseconds) }
    let sample = sampling.map { "the figures are estimates from \($0.name)" }
    return [pauses, sample].compactMap(\.self)
  }
}

extension TextPage {
  /// Says what part of the program's allocations the figures are of, where that is not all.
  mutating func lines(about trace: TraceSummary) {
    lines(aboutPausesOf: trace)
    if let sampling = trace.sampling { line(Span(sampling.text, .warning)) }
  }

  /// Says what was recorded, where recording could be paused.
  mutating func lines(aboutPausesOf trace: TraceSummary) {
    guard let windows = trace.windows else { return }
    line(Span(windows.text(durationNanoseconds: trace.durationNanoseconds), .warning))
  }
}
