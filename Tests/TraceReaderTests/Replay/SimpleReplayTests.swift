import Testing
import TraceReader
import TraceTestSupport

/// The replay against one that is easy to believe.
@Suite struct SimpleReplayTests {
  /// Few addresses, so that blocks are freed, reused, lost, and freed twice; three threads and the
  /// recorder; all that a `realloc` can come to.
  private func trace(seed: UInt64) -> TraceBuilder {
    var random = SeededGenerator(seed: seed)
    var trace = TraceBuilder()
    var time: UInt64 = 1000
    let sizes: [UInt64] = [0, 1, 16, 17, 40, 1024, 1025, 1536, 40_000, 1 << 57]
    for _ in 0..<1500 {
      time += .random(in: 0..<4, using: &random)
      let address = 0x1_0000 + UInt64.random(in: 0..<200, using: &random) * 8
      let size = sizes[.random(in: 0..<sizes.count, using: &random)]
      let stack = StackID(.random(in: 0..<6, using: &random))
      let thread = UInt32.random(in: 0..<4, using: &random)
      let operation = Self.operations[.random(in: 0..<Self.operations.count, using: &random)]
      trace.add(
        operation, address: address, size: size, alignment: 64, stack: stack, thread: thread,
        time: time)
    }
    return trace
  }

  private static let operations: [Operation] =
    Array(repeating: .malloc, count: 8) + Array(repeating: .free, count: 6)
    + [.reallocBegin, .reallocBegin, .reallocEnd, .reallocEnd, .reallocFail, .reallocLeft, .failed]
    + blockOperations.filter { !$0.isOfAnnounced }

  private func compare(_ builder: TraceBuilder, _ options: ReplayOptions) throws {
    try builder.open { trace in
      let (result, simple) = (try trace.replay(options), try SimpleReplay(trace, options))
      #expect(result.eventCount == simple.eventCount)
      #expect(result.lastTime == simple.lastTime)
      #expect(result.coverage.implicitlyFreed == simple.implicitlyFreed)
      #expect(result.peak.bytes == simple.peak.bytes)
      #expect(result.peak.count == simple.peak.count)
      #expect(result.peak.time == simple.peak.time)
      #expect(result.peak.eventIndex == simple.peak.eventIndex)
      let keys = result.sites.map {
        SimpleReplay.Key(
          stack: $0.stack, thread: $0.thread, operation: $0.operation, sizeClass: $0.sizeClass)
      }
      let sites = Dictionary(uniqueKeysWithValues: zip(keys, result.sites.map(\.tally)))
      #expect(sites == simple.sites.filter { $0.value.totalCount > 0 })
      #expect(Set(result.liveBlocks.map(\.address)) == Set(simple.live.keys))
      for block in result.liveBlocks { #expect(block.size == simple.live[block.address]?.size) }
      let buckets = simple.buckets(like: result.timeline)
      #expect(result.timeline.liveBytes == buckets.bytes)
      #expect(result.timeline.liveCounts == buckets.counts)
    }
  }

  private func options(seed: UInt64, _ times: ClosedRange<UInt64>) -> ReplayOptions {
    var random = SeededGenerator(seed: seed &+ 1000)
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    options.timelineBuckets = .random(in: 2...40, using: &random)
    options.temporaryDistance = .random(in: 0...3, using: &random)
    if Bool.random(using: &random) { options.sizes = 17...1025 }
    if Bool.random(using: &random) {
      options.liveAt = EventTime(.random(in: times, using: &random))
    }
    return options
  }

  @Test(arguments: UInt64(0)..<60)
  func figuresAreTheSame(seed: UInt64) throws {
    try compare(trace(seed: seed), options(seed: seed, 1000...3500))
  }

  @Test(arguments: UInt64(0)..<20)
  func figuresOfTracesInAllEncodingsAreTheSame(seed: UInt64) throws {
    let operations = blockOperations.filter { !$0.isOfAnnounced }
    try compare(SampleTraces.random(seed: seed, operations), options(seed: seed, 1000...5000))
    try compare(SampleTraces.predicted(seed: seed, operations), options(seed: seed, 1000...5000))
  }

  /// Enough blocks for lookups to be announced, and more of them than are remembered.
  @Test func figuresOfManyBlocksAreTheSame() throws {
    var random = SeededGenerator(seed: 7)
    var trace = TraceBuilder()
    var live: [UInt64] = []
    // The only peak: `SimpleReplay` takes long for each.
    trace.allocate(0x1000, 1 << 40)
    trace.free(0x1000)
    for number in UInt64(0)..<120_000 {
      let address = 0x10_0000 + number * 48
      trace.allocate(
        address, .random(in: 1..<2000, using: &random),
        stack: StackID(.random(in: 0..<40, using: &random)), thread: number % 700 < 600 ? 1 : 2)
      live.append(address)
      guard number % 3 == 0 else { continue }
      let position = Int.random(in: 0..<live.count, using: &random)
      trace.free(live[position], thread: number % 900 < 500 ? 1 : 2)
      live.swapAt(position, live.count - 1)
      live.removeLast()
    }
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    try compare(trace, options)
  }
}
