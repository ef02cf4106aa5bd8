import Reports
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import LeakGate

@Suite struct ComparisonTests {
  private func profile(_ bytes: UInt64, peak: UInt64) -> RunProfile {
    RunProfile(
      measures: [.peak: Amount(bytes: peak), .allocations: Amount(count: bytes / 16)],
      rows: [
        "app.Node": Amount(count: bytes / 16, bytes: bytes),
        "Malloc-32": Amount(count: 2, bytes: 64),
      ])
  }

  private func text(width: Int?) -> String {
    let report = ComparisonReport(
      base: [profile(10 << 20, peak: 12_345_678)], head: [profile(30 << 20, peak: 23_456_789)],
      names: ("base.mtrace", "head.mtrace"), grouping: .category, blocks: .unfreed)
    var page = TextPage(style: TextStyle(width: width))
    report.write(to: &page)
    return page.text
  }

  @Test func tablesHaveAllColumnsWhereThereIsRoom() {
    #expect(
      text(width: nil) == """
        base.mtrace → head.mtrace: unfreed at end, by category

        Whole process     Before      After                 Change
        peak           11.77 MiB  22.37 MiB   +10.60 MiB (+90.0 %)
        allocations      655,360  1,966,080  +1,310,720 (+200.0 %)

        Change  Category      Bytes  More Bytes          #      More #
        grew    app.Node  30.00 MiB  +20.00 MiB  1,966,080  +1,310,720
                Total     30.00 MiB  +20.00 MiB  1,966,082  +1,310,720
        1 row is unchanged.

        """)
  }

  /// A percentage of seven digits says nothing.
  @Test(arguments: [
    (1099, "+999.0 %"), (1100, "+1000.0 %"), (1149, "11 times"), (6_779_700, "67,797 times"),
  ])
  func whatIsManyTimesAsMuchHasNoPercentage(peak: UInt64, change: String) {
    let report = ComparisonReport(
      base: [profile(16, peak: 100)], head: [profile(16, peak: peak)], names: ("a", "b"),
      grouping: .category, blocks: .unfreed)
    var page = TextPage()
    report.write(to: &page)
    #expect(page.text.contains("(\(change))\n"))
  }

  @Test func whereMoreIsLeftTheNextStepIsToAskWhose() {
    let sides = [48, 64].map { bytes in
      [RunProfile(measures: [.unfreed: Amount(count: 3, bytes: bytes)], rows: [:])]
    }
    let next =
      "Next: memtrace diff 'a b.mtrace' c.mtrace --blocks unfreed --group-by function "
      + "shows whose blocks are left"
    for (base, head, blocks, isExpected) in [
      (0, 1, ComparedBlocks.total, true), (1, 0, .total, false), (0, 0, .total, false),
      (0, 1, .unfreed, false),
    ] {
      let report = ComparisonReport(
        base: sides[base], head: sides[head], names: ("a b.mtrace", "c.mtrace"),
        grouping: .category, blocks: blocks)
      var page = TextPage(style: TextStyle())
      report.write(to: &page)
      #expect(page.text.split(separator: "\n").contains { $0 == next } == isExpected)
    }
  }

  /// A sample of 1000 blocks of 16 bytes and one of 1 MiB, or some more; with margins of 20
  /// blocks.
  private func sampled(more: UInt64) -> RunProfile {
    let margins = AmountVariance(count: 100, bytes: 1e10)
    return RunProfile(
      measures: [
        .allocations: Amount(count: 1001 + more),
        .unfreed: Amount(count: 1001 + more, bytes: 1 << 20 + more * 16),
      ],
      rows: [
        "Malloc-16": Amount(count: 1000 + more, bytes: (1000 + more) * 16),
        "Malloc-1.00 MiB": Amount(count: 1, bytes: 1 << 20),
      ],
      measureVariances: [.allocations: margins, .unfreed: margins],
      rowVariances: ["Malloc-16": AmountVariance(count: 100, bytes: 256e2)])
  }

  @Test func whatSamplesExplainIsMarked() {
    func text(_ more: UInt64) -> String {
      let report = ComparisonReport(
        base: [sampled(more: 0)], head: [sampled(more: more)], names: ("a.mtrace", "b.mtrace"),
        grouping: .category, blocks: .total)
      #expect(report.isEstimate)
      var page = TextPage(style: TextStyle())
      report.write(to: &page)
      return page.text
    }
    // 1.96 standard deviations of a difference of two are 27.7 blocks.
    #expect(
      text(27) == """
        a.mtrace → b.mtrace: all allocations, by category
        Estimated from samples; ~ marks what lies within their margins (95 %).

        Whole process    Before     After             Change
        unfreed        1.00 MiB  1.00 MiB  +432 B (+0.0 %) ~
        allocations       1,001     1,028     +27 (+2.7 %) ~

        Change  Category       Bytes  More Bytes      #  More #
        grew ~  Malloc-16  16.05 KiB      +432 B  1,027     +27
                Total       1.02 MiB      +432 B  1,028     +27
        1 row is unchanged.

        """)
    #expect(text(28).contains("\nallocations       1,001     1,029       +28 (+2.8 %)\n"))
    #expect(text(28).contains("\ngrew    Malloc-16  "))
  }

  /// Margins of 27 blocks and 277,185 bytes: 1.96 standard deviations of a difference of two.
  @Test(arguments: [
    ("allocations>+10", 20, false, true), ("allocations>+10", 37, false, true),
    ("allocations>+10", 38, true, false), ("allocations>+40", 0, false, false),
    ("allocations>+27", 0, false, true), ("allocations>+28", 0, false, false),
    // Nothing is subtracted that could be off: 19 for the head alone.
    ("allocations>1000", 20, true, false), ("allocations>1000", 18, false, true),
    // Of a base that counts twice, the margin is 1.96 times the root of 100 + 400.
    ("allocations>+100%", 1044, false, true), ("allocations>+100%", 1045, true, false),
    ("unfreed>+1KiB", 40, false, true), ("memory-errors>0", 0, false, false),
  ])
  func limitsWithinTheMarginsOfSamplesAreUndecided(
    text: String, more: UInt64, fails: Bool, isUndecided: Bool
  ) throws {
    let report = ComparisonReport(
      base: [sampled(more: 0)], head: [sampled(more: more)], names: ("a.mtrace", "b.mtrace"),
      grouping: .category, blocks: .total, limits: [try GateRule(text, sign: ">")])
    #expect(report.failures.map(\.rule) == (fails ? [text] : []))
    #expect(report.undecided.map(\.rule) == (isUndecided ? [text] : []))
  }

  @Test func whatALimitOfASampleIsWorthIsSaid() throws {
    let report = ComparisonReport(
      base: [sampled(more: 0)], head: [sampled(more: 38)], names: ("a.mtrace", "b.mtrace"),
      grouping: .category, blocks: .total,
      limits: try ["allocations>+10", "unfreed>+1KiB"].map { try GateRule($0, sign: ">") })
    var page = TextPage(style: TextStyle())
    report.write(to: &page)
    let lines = page.text.split(separator: "\n").suffix(2)
    #expect(
      lines == [
        "Failed: allocations>+10: 1039, at most 1011 allowed (±27)",
        "Undecided: unfreed>+1KiB: 1,049,184, at most 1,049,600 allowed (±270.7 KiB); the samples do "
          + "not tell whether it is exceeded, smaller intervals do",
      ])
  }

  @Test func figuresOfASampleMayBeOff() throws {
    let sampled = try recorded { $0.header.sampleInterval = 512 << 10 }
    let variance = try #require(Sampling(interval: 512 << 10)).countVariance(ofSize: 16)
    let expected = AmountVariance(count: variance, bytes: variance * 256)
    #expect(sampled.rowVariances == ["Malloc-16": expected])
    #expect(sampled.measureVariances[.allocations] == expected)
    #expect(sampled.measureVariances[.unfreed] == expected)
    #expect(sampled.measureVariances[.peak]?.bytes == expected.bytes)
    let exact = try recorded { _ in }
    #expect(exact.rowVariances.isEmpty && exact.measureVariances.isEmpty)
  }

  @Test func tablesFitANarrowTerminal() {
    #expect(
      text(width: 40) == """
        base.mtrace → head.mtrace: unfreed at end, by category

        Whole
        process      After                Change
        peak     22.37 MiB  +10.60 MiB (+90.0 %)
        allo…ons 1,966,080 +1,310,720 (+200.0 %)

        Change  Category      Bytes  More Bytes
        grew    app.Node  30.00 MiB  +20.00 MiB
                Total     30.00 MiB  +20.00 MiB
        1 row is unchanged.

        """)
  }

  /// The profile of a recording of one block.
  private func recorded(_ change: (inout TraceBuilder) -> Void) throws -> RunProfile {
    var builder = TraceBuilder()
    change(&builder)
    builder.allocate(0x1000, 16, stack: builder.stack([0x10]), time: 2_050_000)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    return RunProfile(
      try trace.replay(ReplayRequest()),
      source: ReportSource(trace, file: nil, symbolicator: FakeSymbolicator()),
      grouping: .category, blocks: .unfreed)
  }

  @Test func whatASideDoesNotHoldIsSaid() throws {
    let paused = try recorded { builder in
      builder.header.flags.insert(.pausable)
      builder.pause(false, time: 1_000_000)
    }
    let sampled = try recorded { $0.header.sampleInterval = 512 << 10 }
    #expect(try recorded { _ in }.warnings == [])
    let report = ComparisonReport(
      base: [paused], head: [sampled, sampled], names: ("base.mtrace", "head/"),
      grouping: .category, blocks: .unfreed)
    #expect(
      report.warnings == [
        "base.mtrace: Recorded for 1.0 ms of 2.0 ms; blocks allocated while recording was paused "
          + "are not known.",
        "base.mtrace: recording could be paused: double and invalid frees cannot be seen, and other "
          + "errors only on blocks that were allocated while it was not",
        "head/: the figures are estimates from a sample of 1 in 512 KiB",
        "head/: only a sample of the allocations was recorded: double frees, invalid frees and "
          + "temporary allocations cannot be seen in it, and other errors only on blocks that are in it",
      ])
    var page = TextPage()
    report.write(to: &page)
    #expect(page.text.contains("\n\nWarning: base.mtrace: Recorded for 1.0 ms of 2.0 ms; "))
  }

  @Test func warningsOfManyRunsAreCounted() {
    let runs = (0..<20).map { run in
      RunProfile(measures: [:], rows: [:], warnings: ["the same", "\(run) events are lost"])
    }
    let report = ComparisonReport(
      base: [], head: runs, names: ("a", "b"), grouping: .category, blocks: .unfreed)
    #expect(report.warnings.count == 9)
    #expect(report.warnings.first == "b: the same")
    #expect(report.warnings.last == "b: 13 more warnings")
  }
}
