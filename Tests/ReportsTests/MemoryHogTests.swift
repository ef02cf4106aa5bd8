import Symbolication
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
        SampleTrace.site(stack: 4, size: 16, count: 1024, peak: 1024),
        SampleTrace.site(stack: 5, size: 48 << 10, count: 1, peak: 1),
      ]) == [
        "Malloc-48.00 KiB holds 75 % of the peak (64.00 KiB): 48.00 KiB in 1 block, "
          + "all from emit  emit.c:30",
        "Malloc-16 holds 25 % of the peak (64.00 KiB): 16.00 KiB in 1,024 blocks, "
          + "all from make_node  node.c:5",
      ])
  }

  @Test func lessThan16KiBIsNoHogOfThePeak() {
    let size: UInt64 = 16 << 10
    #expect(hogs([SampleTrace.site(stack: 4, size: size - 1, count: 1, peak: 1)]).isEmpty)
    #expect(hogs([SampleTrace.site(stack: 4, size: size, count: 1, peak: 1)]).count == 1)
    #expect(
      hogs([SampleTrace.site(stack: 4, size: size - 1, count: 1, peak: 1)], available: 60_000)
        == [
          "Malloc-16.00 KiB holds 27 % of the memory available (58.59 KiB): 16.00 KiB in 1 block, "
            + "all from make_node  node.c:5"
        ])
  }

  @Test func blocksWithoutAStackAreNoHogOfThePeak() {
    let sizes = (0..<8).map { SampleTrace.site(stack: 0, size: 65536 << $0, count: 1, peak: 1) }
    #expect(hogs(sizes).isEmpty)
    // Of the available memory, the category is one; the lost stacks never are.
    #expect(
      hogs([SampleTrace.site(stack: 0, size: 64 << 20, count: 1, peak: 1)], available: 64 << 20)
        == [
          "Malloc-64.00 MiB holds 100 % of the memory available (64.00 MiB): 64.00 MiB in 1 block, "
            + "all from stacks that were not recorded"
        ])
  }

  @Test func whatASystemLibraryHoldsByItselfIsNoHogOfThePeak() {
    let sites = [SampleTrace.site(stack: 8, size: 72704, count: 1, peak: 1)]
    #expect(hogs(sites).isEmpty)
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
    let sizes = (1...8).map { SampleTrace.site(stack: 4, size: 4096 * $0, count: 1, peak: 1) }
    #expect(
      hogs(sizes).contains(
        "make_node  node.c:5 holds 100 % of the peak (144.0 KiB): 144.0 KiB in 8 blocks"))
  }

  @Test func aPlaceThatManyCallIsOneHog() {
    var sample = SampleTrace()
    sample.symbolicator = FakeSymbolicator()
    for address: UInt64 in [0x1004, 0x1007] {
      sample.symbolicator.add("make_node", at: address, file: "/src/node.c", line: 5)
    }
    var result = ReplayResult()
    result.sites = [
      SampleTrace.site(stack: 4, size: 4096, count: 6, peak: 6),
      SampleTrace.site(stack: 7, size: 4096, count: 4, peak: 4),
      SampleTrace.site(stack: 5, size: 4096, count: 2, peak: 2),
    ]
    SampleTrace.complete(&result)
    let hogs = MemoryHog.find(result, source: sample.source)
    #expect(
      hogs.map { $0.text(bytes: .human) } == [
        "Malloc-4.00 KiB holds 100 % of the peak (48.00 KiB): 48.00 KiB in 12 blocks, "
          + "83 % from make_node  node.c:5"
      ])
    #expect(hogs.map(\.responsibleBytes) == [40960])
    #expect(hogs.map(\.stack) == [4])
    #expect(hogs.map(\.stackBytes) == [24576])
  }

  @Test func withoutAPeakThereIsNone() {
    #expect(hogs([SampleTrace.site(stack: 4, size: 16, count: 1, freed: 1)]).isEmpty)
  }
}
