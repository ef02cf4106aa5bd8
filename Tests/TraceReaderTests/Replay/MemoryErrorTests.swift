import CTraceFormat
import Testing
import TraceReader
import TraceTestSupport

@Suite struct MemoryErrorTests {
  @Test func doubleFreeHasThreeStacks() throws {
    var trace = TraceBuilder()
    let stacks = [trace.stack([0x10]), trace.stack([0x20]), trace.stack([0x30])]
    trace.allocate(0x1000, 24, stack: stacks[0], thread: 1, time: 1010)
    trace.free(0x1000, stack: stacks[1], thread: 2, time: 1020)
    trace.free(0x1000, stack: stacks[2], thread: 3, time: 1030)
    let result = try trace.replay()
    let error = try #require(result.errors.first)
    #expect(error.kind == .doubleFree)
    #expect(error.address == Address(0x1000))
    #expect(error.block?.size == 24)
    #expect(
      error.block?.allocation
        == .init(
          operation: .malloc, stack: stacks[0], thread: ThreadIndex(1), time: EventTime(1010)))
    #expect(
      error.firstFree
        == .init(operation: .free, stack: stacks[1], thread: ThreadIndex(2), time: EventTime(1020)))
    #expect(
      error.offending
        == .init(operation: .free, stack: stacks[2], thread: ThreadIndex(3), time: EventTime(1030)))
    #expect(result.errorCounts == [.doubleFree: 1])
    #expect(result.total.freedCount == 1)
  }

  @Test func doubleFreeNamesTheLatestBlockAtTheAddress() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10)
    trace.free(0x1000)
    trace.allocate(0x1000, 20)
    trace.free(0x1000)
    trace.free(0x1000)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.block?.size == 20)
    #expect(error.firstFree?.time == EventTime(1004))
  }

  @Test func equalDoubleFreesAreGrouped() throws {
    var trace = TraceBuilder()
    for index in UInt64(1)...5 {
      trace.allocate(index << 12, 10, stack: StackID(2))
      trace.free(index << 12, stack: StackID(3))
      trace.free(index << 12, stack: StackID(4))
    }
    let result = try trace.replay()
    #expect(result.errors.map(\.count) == [5])
    #expect(result.errorCounts[.doubleFree] == 5)
  }

  /// Where blocks come from elsewhere, too, an address that was freed may be one of these.
  @Test func errorsAreDoubtfulWhereAllocationsBypassTheRecorder() throws {
    func replay(strangers: UInt64, note: UInt32?) throws -> ReplayResult {
      var trace = TraceBuilder()
      if let note { trace.note(kind: note, text: "malloc: firefox") }
      trace.allocate(0x1000, 10)
      trace.free(0x1000)
      trace.free(0x1000)
      for index in 0..<strangers { trace.free(0x9000 + index * 64) }
      return try trace.replay()
    }
    for note in [3, UInt32(MT_NOTE_BUNDLED.rawValue)] {
      let patchy = try replay(strangers: 2, note: note)
      #expect(patchy.errorCounts[.doubleFree] == nil)
      #expect(patchy.coverage.doubtfulErrors == 1)
      // As where `operator new` is the program's own, but calls malloc.
      for strangers in UInt64(0)...1 {
        let whole = try replay(strangers: strangers, note: note)
        #expect(whole.errorCounts[.doubleFree] == 1)
        #expect(whole.coverage.doubtfulErrors == 0)
      }
    }
    #expect(try replay(strangers: 2, note: nil).errorCounts[.doubleFree] == 1)
  }

  /// Where blocks are known to come from elsewhere and to be freed here, no second free proves anything.
  @Test(arguments: [false, true])
  func secondFreesAreDoubtfulWhereFreesOfBypassedBlocksAreSeen(isForked: Bool) throws {
    var trace = TraceBuilder()
    if isForked { trace.header.flags.insert(.forked) }
    trace.note(kind: UInt32(MT_NOTE_BYPASSED.rawValue), text: "malloc: app", value: 1)
    trace.allocate(0x1000, 10)
    trace.free(0x1000)
    trace.free(0x1000)
    trace.free(0x2000)
    trace.free(0x2000)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.doubtfulErrors == 1)
    #expect(result.coverage.unknownFrees == (isForked ? 0 : 2))
    #expect(result.coverage.inheritedFrees == (isForked ? 2 : 0))
  }

  @Test func freeOfUnknownAddress() throws {
    var trace = TraceBuilder()
    trace.free(0xdead0)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .freeOfUnknown)
    #expect(error.block == nil)
  }

  @Test func freeInsideALiveBlock() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.free(0x1010)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .freeOfInterior(offset: 16))
    #expect(error.block?.address == Address(0x1000))
    #expect(error.firstFree == nil)
  }

  @Test func freeInsideALargeBlock() throws {
    var trace = TraceBuilder()
    trace.allocate(0x10000, 1 << 30)
    trace.free(0x10000 + (1 << 29) + 1)
    #expect(
      try trace.replay().errors.map(\.kind) == [.freeOfInterior(offset: (1 << 29) + 1)])
  }

  @Test func freeBehindABlockIsUnknown() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.free(0x1040)
    #expect(try trace.replay().errors.map(\.kind) == [.freeOfUnknown])
  }

  /// Of two blocks the one that the address is behind: loops run over the end more often.
  @Test(
    arguments: [
      (0xff8, 0x1000), (0x1040, 0x1000), (0x1048, 0x1000), (0x1058, 0x1050), (0x1067, 0x1050),
      (0x1068, nil), (0x1fef, nil), (0x1ff0, 0x2000), (0x204f, 0x2000), (0x2050, nil),
      (0x3010, nil),
    ] as [(UInt64, UInt64?)], [false, true])
  func aFreeNextToABlockNamesIt(_ place: (UInt64, UInt64?), isReversed: Bool) throws {
    var trace = TraceBuilder()
    let blocks: [(UInt64, UInt64)] = [(0x1000, 64), (0x1050, 8), (0x2000, 64), (0x3000, 16)]
    for (address, size) in isReversed ? blocks.reversed() : blocks { trace.allocate(address, size) }
    trace.free(0x3000)
    trace.free(place.0)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .freeOfUnknown)
    #expect(error.block == nil)
    #expect(error.neighbour?.address.rawValue == place.1)
  }

  /// `delete[]` goes back to the number of elements; 35 is its code, 29 that of `delete`.
  @Test(
    arguments: [
      (35, .malloc, 0x1018, 0x1020), (35, Operation(rawValue: 10), 0x1018, 0x1020),
      (35, Operation(rawValue: 14), 0x1018, 0x1000), (35, .malloc, 0x1010, 0x1000),
      (29, .malloc, 0x1018, 0x1000),
    ] as [(UInt8, Operation, UInt64, UInt64)], [false, true])
  func anArrayDeleteIsOfTheBlockBehindItsNumberOfElements(
    _ call: (UInt8, Operation, UInt64, UInt64), isReversed: Bool
  ) throws {
    var trace = TraceBuilder()
    let blocks: [(UInt64, Operation)] = [(0x1000, .malloc), (0x1020, call.1)]
    for (address, operation) in isReversed ? blocks.reversed() : blocks {
      trace.allocate(address, 12, operation)
    }
    trace.free(call.2, Operation(rawValue: call.0))
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .freeOfUnknown)
    #expect(error.neighbour?.address.rawValue == call.3)
  }

  @Test(arguments: [(0, 0, 0x1000), (0, 5, 0x1020), (5, 0, 0x1000)] as [(UInt32, UInt32, UInt64)])
  func aNeighbourWithoutAStackIsOfLittleHelp(_ front: UInt32, _ back: UInt32, named: UInt64) throws
  {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 16, stack: StackID(front))
    trace.allocate(0x1020, 16, stack: StackID(back))
    trace.free(0x1018)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.neighbour?.address.rawValue == named)
  }

  /// The block behind the address takes the place of the one in front of it.
  @Test func aNeighbourThatWasFreedIsNone() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 16)
    trace.allocate(0x1020, 16)
    trace.free(0x1000)
    trace.free(0x1018)
    #expect(try trace.replay().errors.first?.neighbour?.address == Address(0x1020))
  }

  @Test func blocksAtTheEndsOfTheAddressSpaceHaveNoFurtherNeighbours() throws {
    var trace = TraceBuilder()
    trace.allocate(8, 8)
    trace.allocate(.max - 7, 64)
    trace.free(2, stack: StackID(1))
    trace.free(.max - 12, stack: StackID(2))
    #expect(
      try trace.replay().errors.map(\.neighbour?.address) == [Address(8), Address(.max - 7)])
  }

  @Test func reallocOfFreedBlock() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.free(0x1000)
    trace.reallocate(0x1000, to: 0x2000, 100)
    let result = try trace.replay()
    #expect(result.errors.map(\.kind) == [.reallocOfFreed])
    #expect(result.errors.first?.firstFree?.operation == .free)
  }

  @Test func freeAfterReallocMovedTheBlock() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.reallocate(0x1000, to: 0x2000, 100, stack: StackID(7))
    trace.free(0x1000)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .doubleFree)
    #expect(error.firstFree?.operation == .reallocBegin)
    #expect(error.firstFree?.stack == StackID(7))
  }

  @Test func freeAfterFailedReallocIsFine() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.add(.reallocBegin, address: 0x1000)
    trace.add(.reallocFail, size: 1 << 50)
    trace.free(0x1000)
    trace.free(0x1000)
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .doubleFree)
    #expect(error.firstFree?.operation == .free)
  }

  @Test func inheritedBlocksOfAForkAreNoErrors() throws {
    var trace = TraceBuilder()
    trace.header.flags = .forked
    trace.free(0x1000)
    trace.allocate(0x2000, 10)
    trace.free(0x2000)
    trace.free(0x2000)
    let result = try trace.replay()
    #expect(result.errors.map(\.kind) == [.doubleFree])
    #expect(result.coverage.inheritedFrees == 1)
    #expect(result.coverage.unknownFrees == 0)
  }

  /// Whatever a child inherits: between two frees of an address there is an allocation of it.
  @Test func aForkThatFreesAnInheritedBlockTwiceIsAnError() throws {
    var trace = TraceBuilder()
    trace.header.flags = .forked
    trace.free(0x1000, stack: StackID(3))
    trace.free(0x1000, stack: StackID(4))
    trace.reallocate(0x1000, to: 0x2000, 10)
    let result = try trace.replay()
    #expect(result.errors.map(\.kind) == [.doubleFree, .reallocOfFreed])
    #expect(result.errors.map(\.block) == [nil, nil])
    #expect(result.errors.first?.firstFree?.stack == StackID(3))
    #expect(result.errors.first?.offending.stack == StackID(4))
    #expect(result.coverage.inheritedFrees == 1)

    trace.header.counters[0] = 1
    #expect(try trace.replay().errors.isEmpty, "allocations may be missing")
  }

  @Test func aFailedReallocOfAnInheritedBlockFreesNothing() throws {
    var trace = TraceBuilder()
    trace.header.flags = .forked
    trace.add(.reallocBegin, address: 0x1000)
    trace.add(.reallocFail, size: 1 << 50)
    trace.free(0x1000)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.inheritedFrees == 2)
  }

  /// What a child inherits is not known, but no allocator hands out the program's own variables.
  @Test func aForkThatFreesAVariableIsAnError() throws {
    var trace = TraceBuilder()
    trace.header.flags = .forked
    trace.process(executable: "/opt/app", arguments: ["app"])
    for (index, path) in [(UInt32(0), "/opt/app"), (1, "/lib/other.so")] {
      let start = 0x40_0000 + UInt64(index) << 20
      trace.image(
        Image(
          index: index, path: path, loadBias: start, start: Address(start),
          end: Address(start + 0x5000), textStart: Address(start), textEnd: Address(start + 0x1000))
      )
    }
    trace.free(0x40_4010)
    trace.free(0x40_5000)
    trace.free(0x50_4010)
    let result = try trace.replay()
    #expect(result.errors.map(\.kind) == [.freeOfUnknown])
    #expect(result.errors.first?.address == Address(0x40_4010))
    #expect(result.coverage.inheritedFrees == 2)
  }

  @Test func unknownFreesAreNoErrorsWhereAllocationsMayBeMissing() throws {
    var trace = TraceBuilder()
    trace.header.flags = .late
    trace.free(0x1000)
    #expect(try trace.replay().errors.isEmpty)
    trace.header.flags = []
    trace.header.counters[0] = 1
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.unknownFrees == 1)
  }

  @Test func errorsAreListedUpToALimitAndAllCounted() throws {
    var trace = TraceBuilder()
    for index in UInt32(0)..<20 { trace.free(UInt64(index + 1) << 12, stack: StackID(index)) }
    var options = ReplayOptions()
    options.errorLimit = 5
    let result = try trace.replay(options)
    #expect(result.errors.count == 5)
    #expect(result.errorCounts[.freeOfUnknown] == 20)
  }

  @Test func lostFreeIsClosedImplicitly() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10)
    trace.allocate(0x1000, 30)
    let result = try trace.replay()
    #expect(result.coverage.implicitlyFreed == 1)
    #expect(result.total.freedBytes == 10)
    #expect(result.total.liveBytes == 30)
  }

  @Test func failedAllocationsAreGrouped() throws {
    var trace = TraceBuilder()
    for _ in 0..<3 {
      trace.add(.failed, size: 1 << 60, stack: StackID(4), function: Operation(rawValue: 2))
    }
    let result = try trace.replay()
    #expect(result.failedAllocationCount == 3)
    #expect(result.failedAllocations.map(\.count) == [3])
    #expect(result.failedAllocations.first?.function.name == "calloc")
    #expect(result.total == Tally())
  }
}
