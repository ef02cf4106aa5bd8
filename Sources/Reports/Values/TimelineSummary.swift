import TraceReader

/// Live bytes over time and their peak; or bytes of mapped memory.
public struct TimelineSummary: Sendable, Hashable, Encodable {
  /// When the live bytes were greatest.
  public struct Peak: Sendable, Hashable, Encodable {
    /// Nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// Live bytes then.
    public var bytes: UInt64
    /// Live blocks then, or mappings.
    public var count: UInt64
    /// How far the bytes may be off; nil when they are exact.
    public var bytesMargin: UInt64?
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
      count: result.peak.count,
      bytesMargin: result.sampling.map { _ in
        TallyVariance.wholeMargin(result.peak.bytesVariance)
      })
    startNanoseconds = clock.nanoseconds(result.timeline.start)
    bucketNanoseconds = result.timeline.bucketNanoseconds
    liveBytes = result.timeline.liveBytes
  }

  /// Takes over the timeline of mapped memory.
  public init(_ history: MappingHistory, clock: TraceClock) {
    peak = Peak(
      timeNanoseconds: clock.nanoseconds(history.peakTime), bytes: history.peakBytes,
      count: history.peakCount)
    startNanoseconds = clock.nanoseconds(history.timeline.start)
    bucketNanoseconds = history.timeline.bucketNanoseconds
    liveBytes = history.timeline.liveBytes
  }

  /// Writes the sparkline with its peak marked; nothing without a peak.
  ///
  /// - Parameters:
  ///   - page: Gets the lines.
  ///   - isOfMore: Whether it counts blocks as well that the report is not about.
  func write(to page: inout TextPage, isOfMore: Bool = false) {
    write(to: &page, called: isOfMore ? "All live bytes" : "Live bytes", of: "block")
  }

  /// Writes the sparkline with its peak marked; nothing without a peak.
  ///
  /// - Parameters:
  ///   - page: Gets the lines.
  ///   - name: What the bytes are.
  ///   - noun: What they are in, one of it.
  func write(to page: inout TextPage, called name: String, of noun: String) {
    guard peak.bytes > 0, !liveBytes.isEmpty else { return }
    let title = name + "  "
    let room = min(60, (page.style.width ?? 80) - title.count)
    let line = Sparkline(liveBytes, width: max(8, room))
    page.line(Span(title), Span(line.text, .emphasis))
    let amount = page.bytes(peak.bytes) + MarginText.suffix(peak.bytesMargin, of: peak.bytes)
    let text =
      "peak \(amount) in \(CountText.of(peak.count, noun)) at \(TimeText.timestamp(peak.timeNanoseconds))"
    writeCaption(text, at: title.count + (line.peakColumn ?? 0), from: title.count, to: &page)
  }

  /// Writes the caption on whichever side of the mark has room for it, else below the mark.
  private func writeCaption(
    _ text: String, at column: Int, from start: Int, to page: inout TextPage
  ) {
    func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
    let mark = Span("▲", .emphasis)
    let width = page.style.width ?? .max
    let fitsRight = column + 2 + text.count <= width
    if column - start > text.count || (!fitsRight && column > text.count) {
      page.line(Span(blanks(column - text.count - 1) + text + " "), mark)
    } else if fitsRight {
      page.line(Span(blanks(column)), mark, Span(" " + text))
    } else {
      page.line(Span(blanks(column)), mark)
      page.line(Span(blanks(min(start, width - text.count)) + text))
    }
  }
}
