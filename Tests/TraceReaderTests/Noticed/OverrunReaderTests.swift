import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Writes past the ends of blocks in traces made by hand.
@Suite struct OverrunReaderTests {
  private func overrun(
    _ block: UInt64, size: UInt64, time: UInt64, found: BlockOverrun.Discovery = .free
  ) -> BlockOverrun {
    BlockOverrun(
      block: Address(block), size: size, offset: Int64(size) + 1, length: 2, found: found,
      thread: ThreadIndex(2), time: EventTime(time))
  }

  @Test func anOverrunComesBackAsItWasWritten() throws {
    var builder = TraceBuilder()
    let overruns = [
      overrun(0x8000, size: 16, time: 2000),
      overrun(0x9000, size: 1 << 40, time: 3000, found: .end),
      overrun(0xa000, size: 0, time: 4000, found: .mark),
    ]
    for overrun in overruns { builder.overrun(overrun) }
    let file = try builder.write()
    #expect(try Trace(path: file.path).overruns == overruns)
  }

  @Test func aFreedBlockIsTheOneBeforeAndALiveOneTheLast() throws {
    var builder = TraceBuilder()
    let stacks = (1...3).map { builder.stack([0x1000 + $0 * 0x100]) }
    builder.allocate(0x8000, 16, stack: stacks[0], time: 2000)
    builder.free(0x8000, stack: stacks[1], time: 2010)
    builder.overrun(overrun(0x8000, size: 16, time: 2015))
    builder.allocate(0x8000, 32, stack: stacks[2], time: 2030)
    builder.overrun(overrun(0x8000, size: 32, time: 2050, found: .end))
    let found = try builder.noticedErrors()
    #expect(
      found.map(\.kind) == [
        .heapOverflow(offset: 17, length: 2, found: .free),
        .heapOverflow(offset: 33, length: 2, found: .end),
      ])
    #expect(found.map(\.block?.allocation.stack) == [stacks[0], stacks[2]])
    #expect(found.map(\.firstFree?.stack) == [stacks[1], nil])
    #expect(found.map(\.offending.thread.rawValue) == [2, 2])
  }

  @Test func whereTheRedzoneEndsMoreMayHaveBeenWritten() throws {
    var builder = TraceBuilder()
    builder.note(kind: UInt32(MT_NOTE_REDZONES.rawValue), text: "blocks have redzones", value: 3)
    builder.allocate(0x8000, 16, time: 2000)
    builder.overrun(overrun(0x8000, size: 16, time: 2020))
    #expect(
      try builder.noticedErrors().map(\.kind) == [
        .heapOverflow(offset: 17, length: 2, isAtLeast: true, found: .free)
      ])
  }

  /// Times of events are up to 20 µs early: the next block there may seem to come before.
  @Test func theSizeTellsBlocksApart() throws {
    var builder = TraceBuilder()
    builder.allocate(0x8000, 16, time: 2000)
    builder.free(0x8000, time: 2010)
    builder.allocate(0x8000, 32, time: 2011)
    builder.free(0x8000, time: 2012)
    builder.allocate(0x8000, 48, time: 2013)
    builder.overrun(overrun(0x8000, size: 32, time: 2020))
    builder.overrun(overrun(0x8000, size: 48, time: 2020))
    #expect(try builder.noticedErrors().map(\.block?.size) == [32, 48])
  }

  /// A free that was not recorded, as of a thread that was just beginning.
  @Test func aBlockWhoseFreeIsMissingIsLive() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1100])
    builder.allocate(0x8000, 16, stack: stack, time: 2000)
    builder.overrun(overrun(0x8000, size: 16, time: 2020))
    let found = try builder.noticedErrors()
    #expect(found.map(\.block?.allocation.stack) == [stack])
    #expect(found.first.map { $0.firstFree == nil } == true)
  }

  /// As in a forked child, and of `pvalloc`, which gives more than it was asked for.
  @Test func blocksAreNamedAsFarAsTheyAreKnown() throws {
    var builder = TraceBuilder()
    builder.allocate(0x9000, 10, time: 2000)
    builder.overrun(overrun(0x9000, size: 4096, time: 2010))
    builder.overrun(overrun(0xa000, size: 64, time: 2020))
    #expect(try builder.noticedErrors().map(\.block?.size) == [10, nil])
  }

  /// Not one of another thread, or of somebody outside, who looks at no blocks.
  @Test func aMarkIsThatOfTheThreadThatFoundIt() throws {
    var builder = TraceBuilder()
    for (block, time) in [(UInt64(0x8000), UInt64(2000)), (0x9000, 2001)] {
      builder.allocate(block, 16, stack: builder.stack([0x1000 + time]), time: time)
    }
    builder.mark("before", thread: 2, time: 2010)
    builder.overrun(overrun(0x8000, size: 16, time: 2020, found: .mark))
    builder.mark("outside", thread: 0, time: 2021)
    builder.mark("other", thread: 1, time: 2022)
    builder.mark("loaded", thread: 2, time: 2023)
    builder.mark("after", thread: 2, time: 2030)
    builder.overrun(overrun(0x9000, size: 16, time: 2040, found: .mark))
    #expect(try builder.noticedErrors().map(\.mark) == ["loaded", nil])
  }

  @Test func overrunsWithTheSameStacksAreOne() throws {
    var builder = TraceBuilder()
    let (make, drop) = (builder.stack([0x1100]), builder.stack([0x1200]))
    for number in UInt64(0)..<100 {
      builder.allocate(0x8000 + number * 32, 16, stack: make, time: 2000 + number)
      builder.free(0x8000 + number * 32, stack: drop, time: 3000 + number)
      builder.overrun(overrun(0x8000 + number * 32, size: 16, time: 4000 + number))
    }
    #expect(try builder.noticedErrors().map(\.count) == [100])
  }
}
