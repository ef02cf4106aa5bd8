import Reports
import Testing

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
}
