import Testing
import TraceReader
import TraceTestSupport

@Suite struct AnalysisTests {
  /// Two threads, two stacks, two functions, three size classes.
  private func result() throws -> ReplayResult {
    var trace = TraceBuilder()
    let (first, second) = (trace.stack([0x10]), trace.stack([0x20]))
    trace.allocate(0x1000, 10, stack: first, thread: 1)
    trace.allocate(0x2000, 20, stack: first, thread: 2)
    trace.allocate(0x3000, 20, Operation(rawValue: 2), stack: second, thread: 2)
    trace.allocate(0x4000, 950, stack: second, thread: 1)
    trace.free(0x4000, thread: 1)
    trace.free(0x1000, thread: 2)
    return try trace.replay()
  }

  @Test(arguments: SiteGrouping.allCases)
  func eachGroupingAddsUpToTheTotal(_ grouping: SiteGrouping) throws {
    let result = try result()
    let groups = result.sites.grouped(by: grouping)
    #expect(groups.map(\.tally).reduce(Tally(), +) == result.total)
    #expect(groups.flatMap(\.sites).sorted() == Array(result.sites.indices))
  }

  @Test func groupsByCategory() throws {
    let groups = try result().sites.grouped(by: .sizeClass)
    #expect(
      groups.map(\.key) == [16, 32, 960].map { .sizeClass(SizeClass(bytes: $0)) })
    #expect(groups.map(\.tally.totalCount) == [1, 2, 1])
    #expect(groups.map(\.tally.liveBytes) == [0, 40, 0])
  }

  @Test func groupsByThreadAndFunction() throws {
    let sites = try result().sites
    #expect(
      sites.grouped(by: .thread).map(\.key) == [.thread(ThreadIndex(1)), .thread(ThreadIndex(2))])
    #expect(sites.grouped(by: .operation).map(\.tally.totalCount) == [3, 1])
  }

  @Test func unfreedBlocksAreGroupedByStack() throws {
    let analysis = UnfreedAnalysis(try result())
    #expect(analysis.count == 2)
    #expect(analysis.bytes == 40)
    #expect(analysis.groups.map(\.bytes) == [20, 20])
    #expect(analysis.groups.map(\.stack) == [StackID(2), StackID(3)])
    #expect(analysis.groups[0].threads == [ThreadIndex(2)])
    #expect(analysis.groups[1].operations.map(\.name) == ["calloc"])
  }

  @Test func temporaryHotspots() throws {
    let analysis = TemporaryAnalysis(try result())
    #expect(analysis.count == 1)
    #expect(analysis.hotspots.map(\.stack) == [StackID(3)])
    #expect(analysis.hotspots.first?.share == 0.5)
  }

  @Test func hogHoldsAQuarterOfThePeak() throws {
    let analysis = MemoryHogAnalysis(try result(), limits: MemoryLimits(header: TraceHeader()))
    #expect(analysis.categories.map(\.group.key) == [.sizeClass(SizeClass(bytes: 960))])
    #expect(analysis.categories.first?.shareOfPeak == 0.95)
    #expect(analysis.categories.first?.shareOfAvailable == nil)
    #expect(analysis.stacks.map(\.group.key) == [.stack(StackID(3))])
    #expect(analysis.stacks.first?.bytes == 970)
  }

  @Test func hogHoldsAQuarterOfTheMemory() throws {
    var header = TraceHeader()
    header.cgroupLimitBytes = 80
    let analysis = MemoryHogAnalysis(try result(), limits: MemoryLimits(header: header))
    // 40 of 80 bytes are a threat, 10 are not.
    #expect(analysis.categories.filter { $0.isThreat() }.map(\.bytes) == [950, 40])
  }

  @Test func nothingHasNoHogs() throws {
    let analysis = MemoryHogAnalysis(
      try TraceBuilder().replay(), limits: MemoryLimits(header: TraceHeader()))
    #expect(analysis.categories.isEmpty)
  }
}
