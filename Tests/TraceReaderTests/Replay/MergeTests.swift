import Testing
import TraceReader
import TraceTestSupport

@Suite struct MergeTests {
  @Test func eventsOfThreadsComeInTheOrderOfTheirTimes() throws {
    var trace = TraceBuilder()
    for index in UInt64(0)..<1000 {
      trace.allocate(index * 16, 1, thread: UInt32(index * 7 % 5) + 1)
    }
    let addresses = try trace.events().map(\.address.rawValue)
    #expect(addresses == (0..<1000).map { $0 * 16 })
  }

  @Test func deallocationComesBeforeAllocationAtTheSameTime() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10, thread: 1, time: 1001)
    trace.allocate(0x1000, 20, thread: 2, time: 1005)
    trace.free(0x1000, thread: 3, time: 1005)
    let result = try trace.replay()
    #expect(result.coverage.implicitlyFreed == 0)
    #expect(result.total.liveBytes == 20)
  }

  @Test func eventsOfOneThreadKeepTheirOrderAtEqualTimes() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10, thread: 1, time: 1001)
    trace.endChunk(of: 1)
    trace.free(0x1000, thread: 1, time: 1001)
    trace.endChunk(of: 1)
    trace.allocate(0x1000, 30, thread: 1, time: 1001)
    trace.endChunk(of: 1)
    trace.free(0x1000, thread: 1, time: 1001)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.total.freedCount == 2)
  }

  @Test func chunkHandedOnKeepsTheOrderOfItsNewThread() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10, thread: 1, time: 1001)
    trace.add(.thread, thread: 2, time: 1002, lane: 1)
    trace.add(.malloc, address: 0x2000, size: 10, thread: 2, time: 1003, lane: 1)
    trace.free(0x2000, thread: 2, time: 1003)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.sites.map(\.thread) == [ThreadIndex(1), ThreadIndex(2)])
  }

  /// A thread may also write into a chunk that others share and that goes on for long.
  @Test func sharedChunkDoesNotHoldUpTheThreadsInIt() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10, thread: 1, time: 1001)
    trace.add(.thread, thread: 1, time: 1002, lane: 9)
    trace.add(.malloc, address: 0x2000, size: 10, thread: 1, time: 1002, lane: 9)
    trace.endChunk(of: 1)
    trace.free(0x1000, thread: 1, time: 1002)
    trace.allocate(0x1000, 20, thread: 2, time: 1004)
    trace.add(.malloc, address: 0x3000, size: 10, thread: 1, time: 1009, lane: 9)
    let events = try trace.events()
    #expect(events.map(\.time.rawValue) == [1001, 1002, 1002, 1004, 1009])
    #expect(try trace.replay().coverage.implicitlyFreed == 0)
  }

  @Test func recordersOwnBlocksAreLeftOut() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10, thread: 0)
    trace.allocate(0x2000, 20, thread: 1)
    trace.free(0x1000, thread: 1)
    trace.free(0x3000, thread: 0)
    let result = try trace.replay()
    #expect(result.total.totalBytes == 20)
    #expect(result.peak.bytes == 20)
    #expect(result.errors.isEmpty)
  }

  @Test func manyOpenChunksAreMerged() throws {
    var trace = TraceBuilder()
    for thread in UInt32(1)...600 { trace.allocate(UInt64(thread) << 12, 1, thread: thread) }
    for thread in UInt32(1)...600 { trace.free(UInt64(thread) << 12, thread: thread) }
    let result = try trace.replay()
    #expect(result.total.freedCount == 600)
    #expect(result.errors.isEmpty)
    #expect(result.sites.count == 600)
  }

  /// Threads pass few addresses around, often at the same moment: no block has two owners.
  ///
  /// Each thread allocates what another has just freed.
  @Test(arguments: 1...20)
  func blocksPassedAmongThreadsNeverHaveTwoOwners(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var trace = TraceBuilder()
    let threads: UInt32 = 8
    var owners: [UInt64: Bool] = [:]
    var latest = [UInt64](repeating: 1000, count: Int(threads) + 1)
    var freedAt: [UInt64: UInt64] = [:]
    var allocations: UInt64 = 0
    for _ in 0..<5000 {
      let address = UInt64.random(in: 1...6, using: &random) << 8
      let thread = UInt32.random(in: 1...threads, using: &random)
      let isLive = owners[address] ?? false
      // A free comes after its allocation; an allocation may have the time of the free before it.
      let least = max(trace.time, latest[Int(thread)])
      let time = least + (isLive ? 1 : freedAt[address] == least ? 0 : 1)
      latest[Int(thread)] = time
      if isLive {
        trace.free(address, thread: thread, time: time)
        freedAt[address] = time
      } else {
        trace.allocate(address, 16, thread: thread, time: time)
        allocations += 1
      }
      owners[address] = !isLive
      if Int.random(in: 0..<50, using: &random) == 0 { trace.endChunk(of: thread) }
    }
    let result = try trace.replay()
    #expect(result.coverage.implicitlyFreed == 0)
    #expect(result.errors.isEmpty)
    #expect(result.total.totalCount == allocations)
    #expect(result.peak.count <= 6)
  }
}
