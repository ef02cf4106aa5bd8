import Testing

@testable import Reports

/// The track of leaked bytes.
@Suite struct LeakTimelineTests {
  /// Snapshots at these times with these leaked bytes; new ones where the bytes grew.
  private func discoveries(_ values: [(time: UInt64, bytes: UInt64)]) -> [LeakDiscovery] {
    var last: UInt64 = 0
    return values.enumerated().map { index, value in
      var (leaked, new) = (BlockSum(), BlockSum())
      (leaked.count, leaked.bytes) = (value.bytes / 8, value.bytes)
      if value.bytes > last { (new.count, new.bytes) = (1, value.bytes - last) }
      last = value.bytes
      return LeakDiscovery(
        snapshot: index, timeNanoseconds: value.time, leaked: leaked, new: new)
    }
  }

  private func text(_ values: [(UInt64, UInt64)], width: Int, isASCII: Bool = false) -> [Substring]
  {
    var page = TextPage(style: TextStyle(width: width, isASCII: isASCII))
    LeakTimeline.write(discoveries(values), to: &page)
    return page.text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func leakedBytesRiseWhereTheyWereDiscovered() {
    let values: [(UInt64, UInt64)] = [
      (0, 0), (10_000_000, 16), (20_000_000, 16), (30_000_000, 64), (40_000_000, 32),
    ]
    #expect(
      text(values, width: 49) == [
        "            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂██████████▄  64 B",
        "  ✓         ✗         ✓         ✗         ✓",
        "  00:00.000.000               00:00.040.000",
        "",
      ])
  }

  @Test func snapshotsOfOneColumnShareItsMark() {
    let line = LeakTimeline(
      discoveries([(1, 0), (2, 8), (3, 8), (1_000_000, 8)]), width: 10)
    #expect(line.marks.map(\.column) == [0, 9])
    #expect(line.marks.map(\.isNew) == [true, false])
    #expect(line.curve == "██████████")
  }

  @Test func everyWidthIsKept() {
    let values = (0..<500).map { (UInt64($0) * 7_000_000, UInt64($0 / 3) * 16) }
    for width in [40, 60, 80, 200] {
      #expect(text(values, width: width).allSatisfy { $0.displayWidth <= width })
    }
  }

  @Test func asciiIsEnough() {
    let lines = text([(10_000_000, 16), (40_000_000, 64)], width: 49, isASCII: true)
    #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    #expect(lines[0] == "            ..............................#  64 B")
    #expect(lines[1] == "            x                             x")
  }

  @Test func namesOfTheProgramStayAsTheyAreInASCII() {
    var page = TextPage(style: TextStyle(isASCII: true))
    page.line("größe … ●")
    #expect(page.text == "größe . *\n")
  }
}
