import Testing

@testable import Reports
@testable import TraceReader

@Suite struct TimelineCaptionTests {
  /// The caption lines of a timeline of 60 parts, the greatest of which is at `peak`.
  private func caption(peakAt peak: Int, width: Int?) -> [String] {
    var result = ReplayResult()
    result.timeline.liveBytes = (0..<60).map { $0 == peak ? 2048 : 1 }
    result.timeline.bucketNanoseconds = 1
    result.timeline.bucketTicks = 1
    result.peak.bytes = 2048
    result.peak.count = 1168
    let timeline = TimelineSummary(result, clock: SampleTrace().source.clock)
    var page = TextPage(style: TextStyle(width: width))
    timeline.write(to: &page)
    return page.text.split(separator: "\n").dropFirst().map(String.init)
  }

  private let text = "peak 2.00 KiB in 1,168 blocks at 00:00.000.000"

  private func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

  @Test func theCaptionStandsWhereThereIsRoom() {
    #expect(caption(peakAt: 3, width: 80) == [blanks(15) + "▲ " + text])
    #expect(caption(peakAt: 47, width: 80) == [blanks(12) + text + " ▲"])
    #expect(caption(peakAt: 46, width: nil) == [blanks(58) + "▲ " + text])
    #expect(caption(peakAt: 46, width: 80) == [blanks(11) + text + " ▲"])
    #expect(caption(peakAt: 30, width: 80) == [blanks(42) + "▲", blanks(12) + text])
  }
}
