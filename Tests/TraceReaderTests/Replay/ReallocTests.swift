import Testing
import TraceReader
import TraceTestSupport

@Suite struct ReallocTests {
  @Test func movedBlockIsFreedAndAllocated() throws {
    var trace = TraceBuilder()
    let (first, second) = (trace.stack([0x10]), trace.stack([0x20]))
    trace.allocate(0x1000, 100, stack: first)
    trace.reallocate(0x1000, to: 0x2000, 300, stack: second)
    let result = try trace.replay()
    #expect(result.total.totalCount == 2)
    #expect(result.total.freedCount == 1)
    #expect(result.total.liveBytes == 300)
    let new = try #require(result.sites.last)
    #expect(new.operation == .realloc)
    #expect(new.stack == second)
    #expect(result.errors.isEmpty)
  }

  @Test func blockThatGrowsInPlaceIsFreedAndAllocatedToo() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100)
    trace.reallocate(0x1000, to: 0x1000, 300)
    let result = try trace.replay()
    #expect(result.total.totalCount == 2)
    #expect(result.total.freedBytes == 100)
    #expect(result.total.liveBytes == 300)
    #expect(result.peak.bytes == 300)
    #expect(result.coverage.implicitlyFreed == 0)
  }

  @Test func failedReallocChangesNothing() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100)
    let before = try trace.replay()
    trace.add(.reallocBegin, address: 0x1000, stack: StackID(5))
    trace.add(.reallocFail, size: 1 << 40)
    let after = try trace.replay()
    #expect(after.total == before.total)
    #expect(after.sites == before.sites)
    #expect(after.failedAllocationCount == 1)
    #expect(after.failedAllocations.first?.function == .realloc)
    #expect(after.failedAllocations.first?.size == 1 << 40)
    #expect(after.failedAllocations.first?.stack == StackID(5))
    trace.free(0x1000)
    #expect(try trace.replay().errors.isEmpty)
  }

  @Test func blockIsLiveWhenTheTraceEndsInsideRealloc() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100)
    trace.add(.reallocBegin, address: 0x1000)
    let result = try trace.replay()
    #expect(result.total.liveBytes == 100)
    #expect(result.total.freedCount == 0)
  }

  @Test func addressMayGoToAnotherThreadMeanwhile() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100, thread: 1)
    trace.add(.reallocBegin, address: 0x1000, thread: 1)
    trace.allocate(0x1000, 50, thread: 2)
    trace.add(.reallocEnd, address: 0x2000, size: 200, thread: 1)
    let result = try trace.replay()
    #expect(result.coverage.implicitlyFreed == 0)
    #expect(result.total.liveBytes == 250)
  }

  @Test func halvesMayBeInDifferentChunks() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100)
    trace.add(.reallocBegin, address: 0x1000, stack: StackID(9))
    trace.endChunk(of: 1)
    trace.add(.reallocEnd, address: 0x2000, size: 200)
    let result = try trace.replay()
    #expect(result.total.liveBytes == 200)
    #expect(result.sites.last?.stack == StackID(9))
  }

  @Test func endWithoutBeginningIsAnAllocation() throws {
    var trace = TraceBuilder()
    trace.add(.reallocEnd, address: 0x2000, size: 200)
    let result = try trace.replay()
    #expect(result.total.liveBytes == 200)
    #expect(result.sites.first?.stack == StackID.none)
  }

  @Test func reallocOfAnUnknownBlockIsJudgedAsAFree() throws {
    var trace = TraceBuilder()
    trace.reallocate(0x1000, to: 0x2000, 10)
    let result = try trace.replay()
    #expect(result.errors.map(\.kind) == [.freeOfUnknown])
  }
}
