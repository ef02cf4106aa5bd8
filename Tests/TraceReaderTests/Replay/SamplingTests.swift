import Foundation
import Testing
import TraceReader
import TraceTestSupport

/// What a sampled trace stands for.
@Suite struct SamplingTests {
  /// With an interval of 1000 bytes.
  private static let probabilityOf99 = 1 - exp(-0.1)

  private func sampled(_ interval: UInt64 = 1000) -> TraceBuilder {
    var trace = TraceBuilder()
    trace.header.flags.insert(.sampled)
    trace.header.sampleInterval = interval
    return trace
  }

  @Test func anAllocationStandsForTheInverseOfItsProbability() throws {
    var trace = sampled()
    for index in UInt64(0)..<10 { trace.allocate(0x1000 + index * 0x100, 99) }
    for index in UInt64(0)..<4 { trace.free(0x1000 + index * 0x100) }
    let result = try trace.replay()

    // 1 / (1 - exp(-0.1)) = 10.508
    #expect(result.sampling?.interval == 1000)
    #expect(result.total.totalCount == 105)
    #expect(result.total.totalBytes == 10403)
    #expect(result.total.freedCount == 42)
    #expect(result.total.liveBytes == 10403 - 4161)
    #expect(result.peak.count == 105)
    #expect(result.peak.bytes == 10403)
    #expect(result.timeline.liveBytes.max() == 10403)
  }

  @Test func theVarianceIsThatOfHorvitzAndThompson() throws {
    var trace = sampled()
    for index in UInt64(0)..<10 { trace.allocate(0x1000 + index * 0x100, 99) }
    for index in UInt64(0)..<4 { trace.free(0x1000 + index * 0x100) }
    let result = try trace.replay()

    let p = Self.probabilityOf99
    let one = (1 - p) / (p * p)
    let variance = try #require(result.sites.first?.variance)
    #expect(abs(variance.totalCount - 10 * one) < 1e-6)
    #expect(abs(variance.liveCount - 6 * one) < 1e-6)
    #expect(abs(variance.freedCount - 4 * one) < 1e-6)
    #expect(abs(variance.totalBytes - 10 * one * 99 * 99) < 1e-3)
    #expect(abs(variance.liveBytes - 6 * one * 99 * 99) < 1e-3)
    #expect(abs(result.peak.bytesVariance - 10 * one * 99 * 99) < 1e-3)
  }

  @Test func largeBlocksStandForThemselves() throws {
    var trace = sampled()
    trace.allocate(0x1000, 1_000_000)
    let result = try trace.replay()
    #expect(result.total.totalCount == 1)
    #expect(result.total.totalBytes == 1_000_000)
    #expect(TallyVariance.margin(result.peak.bytesVariance) < 1)
  }

  @Test func blocksOfNoBytesCountAsBlocks() throws {
    var trace = sampled()
    trace.allocate(0x1000, 0)
    let total = try trace.replay().total
    #expect(total.totalCount == 1001)  // 1 / (1 - exp(-0.001)) = 1000.5
    #expect(total.totalBytes == 0)
  }

  @Test func nothingIsLeftWhenAllIsFreed() throws {
    var trace = sampled(100_000)
    for index in UInt64(0)..<1000 { trace.allocate(0x1_0000 + index * 0x1000, index) }
    for index in UInt64(0)..<1000 { trace.free(0x1_0000 + index * 0x1000) }
    let result = try trace.replay()
    #expect(result.total.liveCount == 0)
    #expect(result.total.liveBytes == 0)
    #expect(Set(result.sites.map(\.variance?.liveBytes)) == [0])
  }

  @Test func aReallocMayLeaveTheSample() throws {
    var trace = sampled()
    trace.allocate(0x1000, 99)
    trace.add(.reallocBegin, address: 0x1000)
    trace.add(.reallocLeft)
    trace.allocate(0x1000, 9999)
    let result = try trace.replay()
    #expect(result.total.freedBytes == 1040)
    #expect(result.total.liveBytes == 9999)
    #expect(result.coverage.implicitlyFreed == 0)

    let history = try trace.open { try $0.history(of: Address(0x1000)) }
    #expect(history.map(\.event.operation) == [.malloc, .reallocBegin, .malloc])
  }

  @Test func aFailedReallocChangesNothing() throws {
    var trace = sampled()
    trace.allocate(0x1000, 99)
    let before = try trace.replay()
    trace.add(.reallocBegin, address: 0x1000)
    trace.add(.reallocFail, size: 1 << 40)
    let after = try trace.replay()
    #expect(after.total == before.total)
    let (old, new) = (before.sites[0].variance, after.sites[0].variance)
    #expect(abs((old?.totalBytes ?? 0) - (new?.totalBytes ?? 1)) < 1e-6)
  }

  @Test func freesOfUnknownBlocksAreNoErrors() throws {
    var trace = sampled()
    trace.allocate(0x1000, 99)
    trace.free(0x1000)
    trace.free(0x1000)
    trace.free(0x2000)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.unknownFrees == 2)
    #expect(result.coverage.sampleInterval == 1000)
  }

  @Test func freesInAForkedChildAreOfInheritedBlocks() throws {
    var trace = sampled()
    trace.header.flags.insert(.forked)
    trace.free(0x2000)
    let coverage = try trace.replay().coverage
    #expect(coverage.inheritedFrees == 1)
    #expect(coverage.unknownFrees == 0)
  }

  @Test func mismatchedFreesOfSamplesAreErrors() throws {
    var trace = sampled()
    trace.allocate(0x1000, 99, .init(rawValue: 14))
    trace.free(0x1000)
    #expect(try trace.replay().errors.map(\.kind) == [.mismatched])
  }

  @Test func temporaryAllocationsAreNotToldApart() throws {
    var trace = sampled()
    trace.allocate(0x1000, 99)
    trace.free(0x1000)
    #expect(try trace.replay().total.temporaryCount == 0)
  }

  @Test func filteredBlocksDoNotCount() throws {
    var trace = sampled()
    trace.allocate(0x1000, 99)
    trace.allocate(0x2000, 5000)
    var options = ReplayOptions()
    options.sizes = 0...100
    let result = try trace.replay(options)
    #expect(result.total.totalBytes == 1040)
    #expect(result.sites.count == 1)
  }

  @Test(arguments: [1, 1 << 40, .max] as [UInt64])
  func anyIntervalIsBounded(_ interval: UInt64) throws {
    var trace = sampled(interval)
    trace.allocate(0x1000, 0)
    trace.allocate(0x2000, .max)
    trace.free(0x1000)
    trace.free(0x2000)
    let total = try trace.replay().total
    #expect(total.liveCount == 0)
    #expect(total.liveBytes == 0)
  }
}
