import Testing
import TraceReader
import TraceTestSupport

@Suite struct PeakTests {
  @Test func peakIsTheFirstOfEqualOnes() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100)
    trace.free(0x1000)
    trace.allocate(0x2000, 100, .init(rawValue: 2))
    let result = try trace.replay()
    #expect(result.peak.eventIndex == 1)
    #expect(result.peak.time == EventTime(1001))
    #expect(result.sites.map(\.tally.peakBytes) == [100, 0])
  }

  @Test func eventLimitStopsAtThePeak() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100)
    trace.allocate(0x2000, 50)
    trace.free(0x1000)
    trace.allocate(0x3000, 20)
    let peak = try trace.replay().peak
    var options = ReplayOptions()
    options.eventLimit = peak.eventIndex
    options.keepsLiveBlocks = true
    let result = try trace.replay(options)
    #expect(result.total.liveBytes == peak.bytes)
    #expect(result.liveBlocks.map(\.address.rawValue) == [0x1000, 0x2000])
  }

  /// Compares the lazily saved figures with those that a second replay up to the peak gives.
  @Test(arguments: 1...20)
  func figuresAtThePeakAreThoseOfAReplayUpToIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var trace = TraceBuilder()
    var live: [UInt64] = []
    var next: UInt64 = 0x1000
    for _ in 0..<500 {
      if Bool.random(using: &random), let address = live.randomElement(using: &random) {
        live.removeAll { $0 == address }
        if Int.random(in: 0..<4, using: &random) == 0 {
          trace.reallocate(address, to: next, .random(in: 0..<90, using: &random))
          live.append(next)
          next += 0x100
        } else {
          trace.free(address)
        }
      } else {
        let stack = StackID(UInt32.random(in: 2..<9, using: &random))
        trace.allocate(next, .random(in: 0..<90, using: &random), stack: stack)
        live.append(next)
        next += 0x100
      }
    }
    let whole = try trace.replay()
    var options = ReplayOptions()
    options.eventLimit = whole.peak.eventIndex
    let part = try trace.replay(options)
    #expect(part.total.liveBytes == whole.peak.bytes)
    #expect(part.total.liveCount == whole.peak.count)
    for (site, early) in zip(whole.sites, part.sites) {
      #expect(site.stack == early.stack)
      #expect(site.tally.peakBytes == early.tally.liveBytes)
      #expect(site.tally.peakCount == early.tally.liveCount)
    }
    for late in whole.sites.dropFirst(part.sites.count) { #expect(late.tally.peakCount == 0) }
  }
}
