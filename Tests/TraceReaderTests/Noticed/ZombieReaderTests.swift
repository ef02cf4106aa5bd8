import Testing
import TraceTestSupport

@testable import TraceReader

/// Uses of freed blocks in traces made by hand.
@Suite struct ZombieReaderTests {
  private func written(
    _ block: UInt64, time: UInt64, found: ZombieUse.Discovery = .release
  ) -> ZombieUse {
    ZombieUse(
      block: Address(block), evidence: .written(offset: 8, length: 16, when: found),
      thread: ThreadIndex(2), time: EventTime(time))
  }

  @Test func aUseComesBackAsItWasWritten() throws {
    let found: [ZombieUse.Discovery] = [.release, .end, .mark]
    let uses =
      found.map { written(0x8000, time: 2000, found: $0) } + [
        ZombieUse(
          block: Address(0x9000), evidence: .followed(signal: 11, stack: StackID(7)),
          thread: ThreadIndex(3), time: EventTime(3000))
      ]
    var builder = TraceBuilder()
    for use in uses { builder.zombie(use) }
    let file = try builder.write()
    #expect(try Trace(path: file.path).zombieUses == uses)
  }

  @Test func aUseIsOfTheBlockThatWasFreedLastBefore() throws {
    var builder = TraceBuilder()
    let stacks = (1...4).map { builder.stack([0x1000 + $0 * 0x100]) }
    builder.allocate(0x8000, 16, stack: stacks[0], time: 2000)
    builder.free(0x8000, stack: stacks[1], time: 2010)
    builder.zombie(written(0x8000, time: 2020))
    builder.allocate(0x8000, 32, stack: stacks[2], time: 2030)
    builder.free(0x8000, stack: stacks[3], time: 2040)
    builder.zombie(written(0x8000, time: 2050, found: .end))
    let found = try builder.noticedErrors()
    #expect(
      found.map(\.kind) == [
        .writeAfterFree(offset: 8, length: 16, found: .release),
        .writeAfterFree(offset: 8, length: 16, found: .end),
      ])
    #expect(found.map(\.block?.size) == [16, 32])
    #expect(found.map(\.block?.allocation.stack) == [stacks[0], stacks[2]])
    #expect(found.map(\.firstFree?.stack) == [stacks[1], stacks[3]])
    #expect(found.map(\.offending.time.rawValue) == [2020, 2050])
    #expect(found.map(\.offending.thread.rawValue) == [2, 2])
    #expect(found.map(\.offending.stack) == [.none, .none])
  }

  /// Times of events are up to 20 µs early: the next block there may seem to come before.
  @Test func aBlockThatLivesIsNotTheOne() throws {
    var builder = TraceBuilder()
    builder.allocate(0x8000, 16, time: 2000)
    builder.free(0x8000, time: 2010)
    builder.allocate(0x8000, 32, time: 2019)
    builder.zombie(written(0x8000, time: 2020))
    builder.free(0x8000, time: 2040)
    #expect(try builder.noticedErrors().map(\.block?.size) == [16])
  }

  @Test func aSecondFreeIsAnErrorOfItsOwn() throws {
    var builder = TraceBuilder()
    let (first, second) = (builder.stack([0x1100]), builder.stack([0x1200]))
    builder.allocate(0x8000, 16, time: 2000)
    builder.free(0x8000, stack: first, time: 2010)
    builder.free(0x8000, stack: second, time: 2020)
    builder.zombie(written(0x8000, time: 2030))
    let found = try builder.noticedErrors()
    #expect(found.map(\.kind.category) == [.doubleFree, .writeAfterFree])
    #expect(found.map(\.firstFree?.stack) == [first, first])
  }

  @Test func reallocEndsABlockAndBeginsOne() throws {
    var builder = TraceBuilder()
    let (make, grow) = (builder.stack([0x1100]), builder.stack([0x1200]))
    builder.allocate(0x8000, 16, stack: make)
    builder.reallocate(0x8000, to: 0x9000, 64, stack: grow)
    builder.free(0x9000)
    builder.zombie(written(0x8000, time: 1 << 40))
    builder.zombie(written(0x9000, time: 1 << 40))
    let found = try builder.noticedErrors().sorted { $0.address < $1.address }
    #expect(found.map(\.block?.size) == [16, 64])
    #expect(found.map(\.block?.allocation.stack) == [make, grow])
    #expect(found.first?.firstFree?.stack == grow)
  }

  @Test func aReallocThatFailsEndsNothing() throws {
    var builder = TraceBuilder()
    let (first, last) = (builder.stack([0x1100]), builder.stack([0x1200]))
    builder.allocate(0x8000, 16)
    builder.add(.reallocBegin, address: 0x8000, stack: first)
    builder.add(.reallocFail, size: 1 << 60)
    builder.free(0x8000, stack: last)
    builder.zombie(written(0x8000, time: 1 << 40))
    #expect(try builder.noticedErrors().map(\.firstFree?.stack) == [last])
  }

  /// As in a forked child.
  @Test func aBlockThatTheTraceDoesNotHaveIsAnErrorAllTheSame() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1100])
    builder.allocate(0x9000, 16, time: 2000)
    builder.zombie(
      ZombieUse(
        block: Address(0x8000), evidence: .followed(signal: 11, stack: stack),
        thread: ThreadIndex(1), time: EventTime(2020)))
    let found = try builder.noticedErrors()
    #expect(found.map(\.kind) == [.useAfterFree(signal: 11)])
    #expect(found.first?.block == nil && found.first?.firstFree == nil)
    #expect(found.first?.offending.stack == stack)
  }

  @Test func usesWithTheSameStacksAreOne() throws {
    var builder = TraceBuilder()
    let (make, drop) = (builder.stack([0x1100]), builder.stack([0x1200]))
    for number in UInt64(0)..<100 {
      builder.allocate(0x8000 + number * 32, 16, stack: make, time: 2000 + number)
      builder.free(0x8000 + number * 32, stack: drop, time: 3000 + number)
      builder.zombie(written(0x8000 + number * 32, time: 4000 + number))
    }
    #expect(try builder.noticedErrors().map(\.count) == [100])
  }
}
