import TraceReader

/// Live bytes over time and their peak.
public struct TimelineSummary: Sendable, Hashable, Encodable {
  /// When the live bytes were greatest.
  public struct Peak: Sendable, Hashable, Encodable {
    /// Nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// Live bytes then.
    public var bytes: UInt64
    /// Live blocks then.
    public var count: UInt64
  }

  /// The peak of the whole process, whatever is filtered.
  public var peak: Peak
  /// Where the first bucket begins, nanoseconds since the recording began.
  public var startNanoseconds: UInt64
  /// The length of a bucket.
  public var bucketNanoseconds: UInt64
  /// The greatest live bytes in each bucket.
  public var liveBytes: [UInt64]

  /// Takes over the timeline of a replay.
  public init(_ result: ReplayResult, clock: TraceClock) {
    peak = Peak(
      timeNanoseconds: clock.nanoseconds(result.peak.time), bytes: result.peak.bytes,
      count: result.peak.count)
    startNanoseconds = clock.nanoseconds(result.timeline.start)
    bucketNanoseconds = result.timeline.bucketNanoseconds
    liveBytes = result.timeline.liveBytes
  }

  /// Writes the sparkline with its peak marked; nothing without a peak.
  func write(to page: inout TextPage) {
    guard peak.bytes > 0, !liveBytes.isEmpty else { return }
    let title = "Live bytes  "
    let room = min(60, (page.style.width ?? 80) - title.count)
    let line = Sparkline(liveBytes, width: max(8, room))
    page.line(Span(title), Span(line.text, .emphasis))
    let blocks = peak.count == 1 ? "1 block" : "\(peak.count.grouped) blocks"
    let text =
      "peak \(page.bytes(peak.bytes)) in \(blocks) at \(TimeText.timestamp(peak.timeNanoseconds))"
    let column = line.peakColumn ?? 0
    // The caption stands on whichever side of the mark has room for it.
    if column > text.count {
      let margin = String(repeating: " ", count: title.count + column - text.count - 1)
      page.line(Span(margin + text + " "), Span("▲", .emphasis))
    } else {
      let margin = String(repeating: " ", count: title.count + column)
      page.line(Span(margin), Span("▲", .emphasis), Span(" " + text))
    }
  }
}
