import Testing
import TraceReader
import TraceTestSupport

/// The example of the specification: five blocks of 1000 bytes and fifteen of 12 bytes, of which
/// four and ten are freed.
@Suite struct WorkedExampleTests {
  private let result: ReplayResult
  private let large: Tally
  private let small: Tally

  init() throws {
    var trace = TraceBuilder()
    let (largeStack, smallStack) = (trace.stack([0x1010, 0x1000]), trace.stack([0x1020, 0x1000]))
    for index in UInt64(0)..<5 { trace.allocate(0x10000 + index * 1008, 1000, stack: largeStack) }
    for index in UInt64(0)..<15 { trace.allocate(0x20000 + index * 16, 12, stack: smallStack) }
    for index in UInt64(0)..<4 { trace.free(0x10000 + index * 1008) }
    for index in UInt64(0)..<10 { trace.free(0x20000 + index * 16) }
    let file = try trace.write()
    result = try Trace(path: file.path).replay()
    large = try #require(result.sites.first { $0.sizeClass.name == "Malloc-1008" }).tally
    small = try #require(result.sites.first { $0.sizeClass.name == "Malloc-16" }).tally
  }

  @Test func largeBlocksAreExact() {
    #expect(large.totalCount == 5)
    #expect(large.totalBytes == 5000)
    #expect(large.freedCount == 4)
    #expect(large.freedBytes == 4000)
    #expect(large.liveCount == 1)
    #expect(large.liveBytes == 1000)
    #expect(large.events == 9)
  }

  @Test func smallBlocksAreExact() {
    #expect(small.totalCount == 15)
    #expect(small.totalBytes == 180)
    #expect(small.freedCount == 10)
    #expect(small.freedBytes == 120)
    #expect(small.liveCount == 5)
    #expect(small.liveBytes == 60)
    #expect(small.events == 25)
  }

  @Test func totalIsTheSumOfTheSites() {
    #expect(result.total == large + small)
    #expect(result.sites.count == 2)
    #expect(result.eventCount == 34)
  }

  @Test func peakIsWhenAllAreLive() {
    #expect(result.peak.bytes == 5180)
    #expect(result.peak.count == 20)
    #expect(result.peak.eventIndex == 20)
    #expect(large.peakBytes == 5000)
    #expect(small.peakCount == 15)
    #expect(result.total.peakBytes == result.peak.bytes)
  }

  @Test func nothingIsWrong() {
    #expect(result.errors.isEmpty)
    #expect(result.coverage == Coverage())
  }
}
