import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Accesses that guards have stopped, in traces made by hand.
@Suite struct GuardedAccessReaderTests {
  private func access(
    _ block: UInt64, size: UInt64, offset: Int64, kind: MemoryAccess.Kind = .write,
    isFreed: Bool = false, stack: StackID = .none, time: UInt64
  ) -> GuardedAccess {
    GuardedAccess(
      block: Address(block), size: size, isFreed: isFreed,
      access: MemoryAccess(kind: kind, offset: offset, signal: 11), thread: ThreadIndex(2),
      stack: stack, time: EventTime(time))
  }

  @Test func anAccessComesBackAsItWasWritten() throws {
    var builder = TraceBuilder()
    let accesses = [
      access(0x8ff0, size: 16, offset: 16, time: 2000),
      access(0x9000, size: 4096, offset: -1, kind: .read, time: 3000),
      access(0xaff0, size: 16, offset: 3, kind: .execute, isFreed: true, time: 4000),
      access(0xbff0, size: 0, offset: 0, kind: .unknown, stack: StackID(rawValue: 7), time: 5000),
    ]
    for access in accesses { builder.access(access) }
    let file = try builder.write()
    #expect(try Trace(path: file.path).guardedAccesses == accesses)
  }

  @Test func theBlockIsTheOneThatWasThereThen() throws {
    var builder = TraceBuilder()
    let stacks = (1...4).map { builder.stack([0x1000 + $0 * 0x100]) }
    builder.allocate(0x8ff0, 16, stack: stacks[0], time: 2000)
    builder.free(0x8ff0, stack: stacks[1], time: 2010)
    builder.access(
      access(0x8ff0, size: 16, offset: 8, isFreed: true, stack: stacks[3], time: 2020))
    builder.allocate(0x8ff0, 12, stack: stacks[2], time: 2030)
    builder.access(access(0x8ff0, size: 12, offset: 16, kind: .read, stack: stacks[3], time: 2040))
    let found = try builder.noticedErrors()
    #expect(
      found.map(\.kind) == [
        .accessAfterFree(MemoryAccess(kind: .write, offset: 8, signal: 11)),
        .outOfBounds(MemoryAccess(kind: .read, offset: 16, signal: 11)),
      ])
    #expect(found.map(\.kind.category) == [.useAfterFree, .outOfBounds])
    #expect(found.map(\.block?.size) == [16, 12])
    #expect(found.map { $0.block?.allocation.stack } == [stacks[0], stacks[2]])
    #expect(found.map { $0.firstFree?.stack } == [stacks[1], nil])
    #expect(found.allSatisfy { $0.offending.stack == stacks[3] })
    #expect(found.map(\.offending.operation) == [.useOfFreed, .outOfBounds])
  }

  /// The trace may have lost what allocated it.
  @Test func aBlockThatNobodyKnowsIsAnErrorAllTheSame() throws {
    var builder = TraceBuilder()
    builder.access(access(0x8ff0, size: 16, offset: 16, time: 2000))
    builder.access(access(0x9ff0, size: 16, offset: 2, isFreed: true, time: 3000))
    let found = try builder.noticedErrors()
    #expect(found.map(\.kind.category) == [.outOfBounds, .useAfterFree])
    #expect(found.allSatisfy { $0.block == nil && $0.firstFree == nil })
  }

  private func overrun(
    of block: UInt64, offset: Int64, length: UInt64, time: UInt64
  ) -> BlockOverrun {
    BlockOverrun(
      block: Address(block), size: 10, offset: offset, length: length, found: .end,
      thread: ThreadIndex(2), time: EventTime(time))
  }

  /// The bytes between the block and its guard were written on the way there.
  @Test func aWriteThatAGuardStopsIsOneError() throws {
    var builder = TraceBuilder()
    builder.allocate(0x8ff0, 10, time: 2000)
    builder.access(access(0x8ff0, size: 10, offset: 16, time: 2010))
    builder.overrun(overrun(of: 0x8ff0, offset: 10, length: 6, time: 2020))
    #expect(
      try builder.noticedErrors().map(\.kind) == [
        .outOfBounds(MemoryAccess(kind: .write, offset: 16, signal: 11))
      ])
  }

  /// Downwards, from the start of the block to that of its page.
  @Test func aWriteInFrontThatAGuardStopsIsOneError() throws {
    var builder = TraceBuilder()
    builder.allocate(0x8ff0, 10, time: 2000)
    builder.access(access(0x8ff0, size: 10, offset: -0xff1, time: 2010))
    builder.overrun(overrun(of: 0x8ff0, offset: -0xff0, length: 0xff0, time: 2020))
    #expect(
      try builder.noticedErrors().map(\.kind) == [
        .outOfBounds(MemoryAccess(kind: .write, offset: -0xff1, signal: 11))
      ])
  }

  @Test(arguments: [
    (block: UInt64(0x9ff0), offset: Int64(10), length: UInt64(6), kind: MemoryAccess.Kind.write),
    (0x8ff0, 10, 2, .write), (0x8ff0, 12, 4, .write), (0x8ff0, 10, 6, .read),
  ])
  func otherWritesAreErrorsOfTheirOwn(
    block: UInt64, offset: Int64, length: UInt64, kind: MemoryAccess.Kind
  ) throws {
    var builder = TraceBuilder()
    for address: UInt64 in [0x8ff0, 0x9ff0] { builder.allocate(address, 10, time: 2000) }
    builder.access(access(0x8ff0, size: 10, offset: 16, kind: kind, time: 2010))
    builder.overrun(overrun(of: block, offset: offset, length: length, time: 2020))
    #expect(
      try builder.noticedErrors().map(\.kind.category) == [.outOfBounds, .heapOverflow])
  }

  @Test(arguments: [(offset: Int64(-8), length: UInt64(8)), (-0xff0, 0xfe8)])
  func otherWritesInFrontAreErrorsOfTheirOwn(offset: Int64, length: UInt64) throws {
    var builder = TraceBuilder()
    builder.allocate(0x8ff0, 10, time: 2000)
    builder.access(access(0x8ff0, size: 10, offset: -0xff1, time: 2010))
    builder.overrun(overrun(of: 0x8ff0, offset: offset, length: length, time: 2020))
    #expect(
      try builder.noticedErrors().map(\.kind) == [
        .outOfBounds(MemoryAccess(kind: .write, offset: -0xff1, signal: 11)),
        .heapUnderflow(distance: offset.magnitude, length: length, found: .end),
      ])
  }

  @Test func aRecordThatIsTooShortIsLeftOut() throws {
    var builder = TraceBuilder()
    builder.appendRecord(
      type: UInt16(MT_RECORD_ACCESS.rawValue), content: Array(repeating: 1, count: 48))
    let file = try builder.write()
    #expect(try Trace(path: file.path).guardedAccesses.isEmpty)
  }
}
