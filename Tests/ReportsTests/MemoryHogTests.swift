import Testing

@testable import Reports
@testable import TraceReader

@Suite struct MemoryHogTests {
  private func hogs(_ sites: [Site], available: UInt64? = 1 << 40) -> [String] {
    var result = ReplayResult()
    result.sites = sites
    SampleTrace.complete(&result)
    var sample = SampleTrace()
    sample.availableBytes = available
    return MemoryHog.find(result, source: sample.source).map { $0.text(bytes: .human) }
  }

  @Test func aQuarterOfThePeakIsAHog() {
    #expect(
      hogs([
        SampleTrace.site(stack: 4, size: 16, count: 10, peak: 10),
        SampleTrace.site(stack: 5, size: 480, count: 1, peak: 1),
      ]) == [
        "Malloc-480 holds 75 % of the peak (640 B): 480 B in 1 block, all from emit  emit.c:30",
        "Malloc-16 holds 25 % of the peak (640 B): 160 B in 10 blocks, "
          + "all from make_node  node.c:5",
      ])
  }

  @Test func aQuarterOfTheAvailableMemoryCountsMore() {
    #expect(
      hogs([SampleTrace.site(stack: 4, size: 64 << 20, count: 1, peak: 1)], available: 105 << 20)
        == [
          "Malloc-64.00 MiB holds 61 % of the memory available (105.0 MiB): "
            + "64.00 MiB in 1 block, all from make_node  node.c:5"
        ])
  }

  @Test func aStackOfManySizesIsAHogOfItsOwn() {
    let sizes = (1...8).map { SampleTrace.site(stack: 4, size: 16 * $0, count: 1, peak: 1) }
    #expect(
      hogs(sizes).contains("make_node  node.c:5 holds 100 % of the peak (576 B): 576 B in 8 blocks")
    )
  }

  @Test func withoutAPeakThereIsNone() {
    #expect(hogs([SampleTrace.site(stack: 4, size: 16, count: 1, freed: 1)]).isEmpty)
  }
}
