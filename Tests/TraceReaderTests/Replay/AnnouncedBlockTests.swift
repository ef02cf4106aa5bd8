import Testing
import TraceReader
import TraceTestSupport

/// Blocks of the program's own allocators, in the memory of `malloc` and elsewhere.
@Suite struct AnnouncedBlockTests {
  private static let pool: UInt64 = 0x10_0000

  /// A pool of 4096 bytes, allocated by stack 2; blocks are announced by stack 3.
  private func pool() -> TraceBuilder {
    var trace = TraceBuilder()
    trace.allocate(Self.pool, 4096, stack: StackID(2))
    return trace
  }

  private func liveBytes(_ result: ReplayResult, of stack: UInt32) -> UInt64? {
    let sites = result.sites.filter { $0.stack == StackID(stack) }
    return sites.isEmpty ? nil : sites.reduce(0) { $0 + $1.tally.liveBytes }
  }

  private func live(_ result: ReplayResult) -> [UInt64] {
    result.liveBlocks.map(\.address.rawValue)
  }

  private var keepingBlocks: ReplayOptions {
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    return options
  }

  @Test func bytesOfAPoolCountForWhoGetsThem() throws {
    var trace = pool()
    trace.announce(Self.pool, 100, stack: StackID(3))
    trace.announce(Self.pool + 128, 200, stack: StackID(3))
    var result = try trace.replay(keepingBlocks)
    #expect(result.total.liveBytes == 4096)
    #expect(result.total.liveCount == 3)
    #expect(result.total.totalBytes == 4396)
    #expect(liveBytes(result, of: 2) == 3796)
    #expect(liveBytes(result, of: 3) == 300)
    #expect(live(result) == [Self.pool, Self.pool, Self.pool + 128])
    #expect(result.liveBlocks.map(\.size) == [4096, 100, 200])
    #expect(result.liveBlocks.map(\.ownBytes) == [3796, 100, 200])
    #expect(result.peak.bytes == 4096)

    trace.announceEnd(Self.pool)
    result = try trace.replay(keepingBlocks)
    #expect(liveBytes(result, of: 2) == 3896)
    #expect(liveBytes(result, of: 3) == 200)
    #expect(result.total.liveBytes == 4096)
    #expect(result.errors.isEmpty)
  }

  @Test func blocksOutsideOfMallocCountByThemselves() throws {
    var trace = pool()
    trace.announce(0x7f00_0000_0000, 1000, stack: StackID(3))
    let result = try trace.replay()
    #expect(result.total.liveBytes == 5096)
    #expect(result.peak.bytes == 5096)
    #expect(liveBytes(result, of: 2) == 4096)
  }

  @Test func blocksEndWithTheirPool() throws {
    var trace = pool()
    trace.announce(Self.pool, 100, stack: StackID(3))
    trace.announce(Self.pool + 128, 200, stack: StackID(3))
    trace.free(Self.pool)
    trace.allocate(Self.pool, 64, stack: StackID(4))
    let result = try trace.replay(keepingBlocks)
    #expect(live(result) == [Self.pool])
    #expect(result.liveBlocks.map(\.operation) == [.malloc])
    #expect(result.total.liveBytes == 64)
    #expect(result.total.freedCount == 3)
    #expect(result.coverage.implicitlyFreed == 0)
    #expect(result.errors.isEmpty)
  }

  @Test func aBlockTakesThePlaceOfThoseItOverlaps() throws {
    var trace = pool()
    trace.announce(Self.pool, 100, stack: StackID(3))
    trace.announce(Self.pool + 128, 200, stack: StackID(3))
    // The pool was reset without a word.
    trace.announce(Self.pool + 64, 128, stack: StackID(5))
    let result = try trace.replay(keepingBlocks)
    #expect(live(result) == [Self.pool, Self.pool + 64])
    #expect(liveBytes(result, of: 2) == 3968)
    #expect(result.total.liveBytes == 4096)
  }

  @Test func poolsLieInPools() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 1024, stack: StackID(3))
    trace.announce(Self.pool + 128, 100, stack: StackID(4))
    var result = try trace.replay()
    #expect(liveBytes(result, of: 2) == 3072)
    #expect(liveBytes(result, of: 3) == 924)
    #expect(liveBytes(result, of: 4) == 100)
    trace.announceEnd(Self.pool + 64)
    result = try trace.replay()
    #expect(liveBytes(result, of: 2) == 4096)
    #expect(liveBytes(result, of: 3) == 0)
    #expect(liveBytes(result, of: 4) == 0)
    #expect(result.peak.bytes == 4096)
  }

  @Test func aPoolThatGrowsInPlaceKeepsWhatLiesInIt() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100, stack: StackID(3))
    trace.announce(Self.pool + 3000, 500, stack: StackID(3))
    trace.reallocate(Self.pool, to: Self.pool, 3100, stack: StackID(2))
    var result = try trace.replay(keepingBlocks)
    #expect(result.total.liveBytes == 3100)
    #expect(result.peak.bytes == 4096)
    #expect(live(result) == [Self.pool + 64, Self.pool])
    trace.add(.reallocBegin, address: Self.pool)
    trace.add(.reallocFail, size: 1 << 40)
    result = try trace.replay(keepingBlocks)
    #expect(result.total.liveBytes == 3100)
    #expect(result.peak.bytes == 4096)
    trace.announceEnd(Self.pool + 64)
    #expect(try trace.replay().total.liveBytes == 3100)
    trace.reallocate(Self.pool, to: Self.pool + 0x10000, 3200, stack: StackID(2))
    result = try trace.replay()
    #expect(result.total.liveBytes == 3200)
    #expect(result.errors.isEmpty)
  }

  @Test func aPoolThatMovesLeavesItsBlocksBehind() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100, stack: StackID(3))
    trace.reallocate(Self.pool, to: Self.pool + 0x10000, 8192, stack: StackID(2))
    let result = try trace.replay(keepingBlocks)
    #expect(live(result) == [Self.pool + 0x10000])
    #expect(result.total.liveBytes == 8192)
    #expect(result.peak.bytes == 8192)
  }

  /// In the time that this takes, not in that of a look at each for each.
  @Test func aPoolOfVeryManyBlocksGrowsAndMovesFast() throws {
    let count: UInt64 = 60_000
    var trace = TraceBuilder()
    trace.allocate(Self.pool, count * 64, stack: StackID(2))
    for index in 0..<count { trace.announce(Self.pool + index * 64, 48, stack: StackID(3)) }
    trace.reallocate(Self.pool, to: Self.pool, count * 128, stack: StackID(2))
    var result = try trace.replay()
    #expect(result.total.liveCount == count + 1)
    #expect(liveBytes(result, of: 2) == count * (128 - 48))
    trace.reallocate(Self.pool, to: Self.pool << 16, count * 64, stack: StackID(2))
    let time = try SpentResources.threadTime { result = try trace.replay() }
    #expect(result.total.liveCount == 1)
    #expect(result.total.liveBytes == count * 64)
    #expect(time < .seconds(15))
  }

  @Test func aSampleOfSizesLeavesOthersOut() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100, stack: StackID(3))
    var options = ReplayOptions()
    options.sizes = 1000...5000
    #expect(try trace.replay(options).total.liveBytes == 4096)
    options.sizes = 1...1000
    #expect(try trace.replay(options).total.liveBytes == 100)
  }

  // MARK: Errors

  @Test func doubleEnd() throws {
    var trace = pool()
    trace.announce(Self.pool, 100, stack: StackID(3))
    trace.announceEnd(Self.pool, stack: StackID(4))
    trace.announceEnd(Self.pool, stack: StackID(5))
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .doubleFree)
    #expect(error.address == Address(Self.pool))
    #expect(error.block?.size == 100)
    #expect(error.firstFree?.stack == StackID(4))
    #expect(error.offending.operation == .announcedEnd)
  }

  @Test func endAfterThatOfThePool() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100, stack: StackID(3))
    trace.free(Self.pool, stack: StackID(6))
    trace.announceEnd(Self.pool + 64, stack: StackID(5))
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .doubleFree)
    #expect(error.firstFree?.stack == StackID(6))
    #expect(error.firstFree?.operation == .free)
  }

  /// The free of the pool may be said to be up to 4096 units earlier than it was.
  @Test(arguments: [(2010, 0), (1004 + 4096, 0), (1004 + 4097, 1)] as [(UInt64, Int)])
  func endByAnotherThreadShortlyAfterThatOfThePool(time: UInt64, errors: Int) throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100, thread: 1, time: 1003)
    trace.free(Self.pool, thread: 2, time: 1004)
    trace.announceEnd(Self.pool + 64, thread: 1, time: time)
    #expect(try trace.replay().errors.count == errors)
  }

  @Test func endOfUnknown() throws {
    var trace = pool()
    trace.announce(Self.pool, 100)
    trace.announceEnd(Self.pool + 1024)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .freeOfUnknown)
    #expect(error.address == Address(Self.pool + 1024))
  }

  @Test func endInsideABlock() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100)
    trace.announceEnd(Self.pool + 80)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .freeOfInterior(offset: 16))
    #expect(error.address == Address(Self.pool + 80))
    #expect(error.block?.address == Address(Self.pool + 64))
  }

  @Test func freeOfAnAnnouncedBlock() throws {
    var trace = pool()
    trace.announce(Self.pool + 64, 100, stack: StackID(3))
    trace.free(Self.pool + 64)
    trace.announce(0x7f00_0000_0000, 100, stack: StackID(4))
    trace.free(0x7f00_0000_0000)
    let errors = try trace.replay().errors
    #expect(errors.map(\.kind) == [.mismatched, .mismatched])
    #expect(errors.map(\.block?.allocation.operation) == [.announced, .announced])
    #expect(errors.map(\.block?.size) == [100, 100])
  }

  @Test func endOfABlockOfMalloc() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 24, stack: StackID(2))
    trace.announceEnd(0x1000)
    let errors = try trace.replay().errors
    #expect(errors.map(\.kind) == [.mismatched])
    #expect(errors.first?.address == Address(0x1000))
    #expect(errors.first?.block?.allocation.operation == .malloc)
  }

  /// Only the latest block at an address is meant.
  @Test func secondEndOfTheFirstBlockOfAPool() throws {
    var trace = pool()
    trace.announce(Self.pool, 100)
    trace.announceEnd(Self.pool)
    trace.announceEnd(Self.pool)
    #expect(try trace.replay().errors.map(\.kind) == [.doubleFree])
    trace.free(Self.pool)
    trace.allocate(Self.pool, 24)
    trace.announceEnd(Self.pool)
    #expect(try trace.replay().errors.map(\.kind) == [.doubleFree, .mismatched])
  }

  @Test func blocksOfAParentAreNotKnown() throws {
    var trace = TraceBuilder()
    trace.header.flags.insert(.forked)
    trace.announceEnd(0x1000)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.inheritedFrees == 1)
  }

  // MARK: History

  @Test func historyHasBothKinds() throws {
    var trace = pool()
    trace.announce(Self.pool, 100)
    trace.announce(Self.pool + 128, 100)
    trace.announceEnd(Self.pool)
    trace.announce(Self.pool, 100)
    trace.free(Self.pool)
    let operations = try trace.open { try $0.history(of: Address(Self.pool + 8)) }.map(
      \.event.operation)
    #expect(operations == [.malloc, .announced, .announcedEnd, .announced, .free])
    let ends = try trace.open { try $0.history(of: Address(Self.pool + 130)) }
    #expect(ends.map(\.event.operation) == [.malloc, .announced, .free])
    #expect(ends.map(\.offset) == [130, 2, 130])
    #expect(ends.allSatisfy { !$0.isUnexpected })
  }

  // MARK: Format

  @Test func eventsComeBackWithTheirAddresses() throws {
    var trace = pool()
    trace.announce(Self.pool, 100)
    trace.announceEnd(Self.pool)
    let events = try trace.events()
    #expect(events.map(\.address.rawValue) == [Self.pool, Self.pool, Self.pool])
    #expect(try trace.open { "\($0.header.major).\($0.header.minor)" } == "2.2")
  }

  /// What is live is as many bytes as have any block, after every event.
  @Test(arguments: UInt64(0)..<10)
  func liveBytesAreThoseOfAllMemoryInUse(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var trace = TraceBuilder()
    var count = 0
    for _ in 0..<150 {
      let slot = UInt64.random(in: 0..<4, using: &random)
      let start = Self.pool + slot * 0x1000
      let offset = UInt64.random(in: 0..<60, using: &random) * 16
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1: trace.allocate(start, .random(in: 1000...2000, using: &random))
      case 2: trace.free(start)
      case 3:
        trace.reallocate(start, to: start, .random(in: 800...1000, using: &random))
        count += 1
      case 4, 5: trace.announceEnd(start + offset)
      default: trace.announce(start + offset, .random(in: 0...200, using: &random))
      }
      count += 1
    }
    try trace.open { trace in
      var greatest: UInt64 = 0
      for limit in 0...UInt64(count) {
        var options = keepingBlocks
        options.eventLimit = limit
        let result = try trace.replay(options)
        let bytes = Self.unionSize(of: result.liveBlocks)
        #expect(result.total.liveBytes == bytes)
        #expect(result.liveBlocks.reduce(0) { $0 + $1.ownBytes } == bytes)
        #expect(Set(result.sites.map(\.tally.liveBytes)).allSatisfy { $0 < 1 << 20 })
        greatest = max(greatest, bytes)
        #expect(result.peak.bytes == greatest)
        #expect(result.sites.reduce(0) { $0 + $1.tally.peakBytes } == greatest)
      }
    }
  }

  private static func unionSize(of blocks: LiveBlocks) -> UInt64 {
    var end: UInt64 = 0
    return blocks.map { ($0.address.rawValue, $0.address.rawValue + $0.size) }
      .sorted { $0 < $1 }
      .reduce(0) { sum, block in
        let added = block.1 > end ? block.1 - max(block.0, end) : 0
        end = max(end, block.1)
        return sum + added
      }
  }
}
