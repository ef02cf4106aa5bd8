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
