import Testing
import TraceReader

@testable import Reports

@Suite struct CountTextTests {
  @Test(arguments: [
    (UInt64(1), "the file was cut: 1 byte is missing at its end"),
    (2000, "the file was cut: 2,000 bytes are missing at its end"),
  ])
  func aSingleThingIsNoneOfMany(count: UInt64, sentence: String) {
    var coverage = Coverage()
    coverage.missingBytes = count
    #expect(CoverageSummary(coverage).warnings == [sentence])
  }

  @Test func verbsFollowTheirNouns() {
    #expect(CountText.of(1, "event", .was) == "1 event was")
    #expect(CountText.of(1, "event", .has) == "1 event has")
    #expect(CountText.of(0, "event", .was) == "0 events were")
    #expect(CountText.of(1234, "event", .has) == "1,234 events have")
  }

  @Test func whatIsLeftOutIsCounted() {
    #expect(CountText.more(1, "row") == "… 1 more row")
    #expect(CountText.more(1234, "row") == "… 1,234 more rows")
    #expect(CountText.more(2, "category", "categories") == "… 2 more categories")
  }
}
