import Testing

@testable import Reports

@Suite struct FilterValueTests {
  @Test(arguments: [
    ("1.5s", 1_500_000_000), ("200ms", 200_000_000), ("300us", 300_000), ("7ns", 7),
    ("754.3 µs", 754_300), ("34.179 s", 34_179_000_000),
    ("2", 2_000_000_000),
    ("2m", 120_000_000_000), ("00:01.500", 1_500_000_000), ("1:01", 61_000_000_000),
    ("00:01.500.250", 1_500_250_000), (".5s", 500_000_000), ("0.1s", 100_000_000),
  ])
  func timesAreRead(text: String, nanoseconds: UInt64) {
    #expect(TimePoint(text) == .nanoseconds(nanoseconds))
  }

  @Test func percentsAreOfTheWholeRecording() {
    #expect(TimePoint("40%")?.nanoseconds(ofRecording: 1000) == 400)
    #expect(TimePoint("12.5%")?.nanoseconds(ofRecording: 1000) == 125)
    #expect(TimePoint("100%")?.nanoseconds(ofRecording: UInt64.max) == UInt64.max)
  }

  @Test(arguments: [
    "", ".", "s", "abc", "-1s", "1.2.3s", "101%", "00:61", "1:", ":1.", "99999999999999999999s",
    "18446744073709551615s", "1:2:3",
  ])
  func whatIsNotATimeIsRefused(text: String) {
    #expect(TimePoint(text) == nil)
  }

  @Test(arguments: [
    ("1k-8k", 1024, 8192), ("1024", 1024, 1024), ("50k+", 51200, UInt64.max), ("-1024", 0, 1024),
    ("1.5KiB-2MB", 1536, 2_097_152), ("10-", 10, UInt64.max), ("0", 0, 0),
    ("1PiB", 1 << 50, 1 << 50),
  ])
  func sizesAreRead(text: String, low: UInt64, high: UInt64) {
    #expect(ByteRange(text)?.bytes == low...high)
  }

  @Test(arguments: ["", "-", "8k-1k", "k", "1.5", "1x", "1-2-3", "99999999999999999999", "+"])
  func whatIsNotASizeIsRefused(text: String) {
    #expect(ByteRange(text) == nil)
  }

  @Test(arguments: [
    ("makeBeta(_:)", true), ("makeBeta(_:) [merged]", true), ("makeB*", true), ("*Beta(_:)", true),
    ("makeAlpha(_:)", false), ("makeBeta", false),
  ])
  func mergedFunctionsAreFoundWithAndWithoutTheirMark(pattern: String, isFound: Bool) {
    #expect(Glob.matches(function: "makeBeta(_:) [merged]", pattern) == isFound)
    #expect(Glob.contains("makeBeta(_:) [merged]", pattern) == (isFound || pattern == "makeBeta"))
  }

  @Test func mistypedNamesFindTheirNeighbours() {
    let names = ["Malloc-16", "Malloc-32", "Malloc-1.50 KiB"]
    #expect(
      NearMatches.message("category", "maloc-16", in: names)
        == "no category \"maloc-16\" in this trace; near: Malloc-16")
    #expect(
      NearMatches.message("category", "1.50", in: names)
        == "no category \"1.50\" in this trace; near: Malloc-1.50 KiB")
    // Where none is near, a few are told.
    #expect(
      NearMatches.message("category", "zzz", in: names)
        == "no category \"zzz\" in this trace; there are Malloc-16, Malloc-32, Malloc-1.50 KiB")
    #expect(
      NearMatches.message("thread", "zzz", in: ["a", "a"])
        == "no thread \"zzz\" in this trace; there is a")
    #expect(
      NearMatches.message("category", "zzz", in: (1...6).map { "Malloc-\($0)" })
        == "no category \"zzz\" in this trace")
    #expect(
      NearMatches.message("mark", "zzz", in: [], ofPart: true)
        == "no mark \"zzz\" in this part of the trace, which has none")
  }
}
