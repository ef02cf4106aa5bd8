import CInterpose
import Testing

/// Numbers as `MEMTRACE_GUARD` gives them.
@Suite struct NumberRangesTests {
  private func parse(_ text: String) -> mt_number_ranges? {
    var ranges = mt_number_ranges()
    return mt_number_ranges_parse(text, &ranges) ? ranges : nil
  }

  @Test(
    arguments: [
      ("24", [24], [0, 23, 25]), ("24,100-200", [24, 100, 150, 200], [99, 201]),
      ("4KiB-", [4096, 1 << 40, .max], [4095]), ("0-16", [0, 16], [17]), ("all", [0, 1, .max], []),
      ("", [], [0, 1]), ("0", [], [0, 1]),
    ] as [(String, [UInt64], [UInt64])])
  func sizesAreThoseThatAreNamed(text: String, inside: [UInt64], outside: [UInt64]) throws {
    var ranges = try #require(parse(text))
    for size in inside { #expect(mt_number_ranges_contain(&ranges, size)) }
    for size in outside { #expect(!mt_number_ranges_contain(&ranges, size)) }
  }

  @Test(
    arguments: [
      "24x", "-", "-5", "200-100", "24,", ",24", "24 25", "all,24", "1-2-3",
      String(repeating: "1", count: 40), (1...17).map { String($0) }.joined(separator: ","),
    ])
  func whatMakesNoSenseIsNone(text: String) {
    var ranges = mt_number_ranges()
    #expect(!mt_number_ranges_parse(text, &ranges))
    #expect(!mt_number_ranges_contain(&ranges, 24))
    #expect(ranges.count == 0)
  }

  @Test func thereIsRoomForSixteen() throws {
    var ranges = try #require(parse((1...16).map { String($0 * 10) }.joined(separator: ",")))
    #expect(mt_number_ranges_contain(&ranges, 160))
    #expect(!mt_number_ranges_contain(&ranges, 161))
  }
}
