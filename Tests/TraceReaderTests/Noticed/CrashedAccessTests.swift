import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Processes that ended in an access to a block, in traces made by hand.
@Suite struct CrashedAccessTests {
  private var builder = TraceBuilder()
  private let stacks: [StackID]

  init() {
    builder.header.endKind = UInt32(MT_END_SIGNAL.rawValue)
    builder.header.endStatus = 11
    builder.header.pageSize = 4096
    var stacks: [StackID] = []
    for number in 1...3 as ClosedRange<UInt64> {
      stacks.append(builder.stack([0x1000 + number * 0x100]))
    }
    self.stacks = stacks
  }

  /// The errors where the process ended in a write to an address.
  private func errors(
    _ address: UInt64, code: Int32 = 1, stackPointer: UInt64 = 0, time: UInt64 = 9000
  ) throws -> [MemoryError] {
    var builder = builder
    builder.crash(
      Crash(
        access: .write, address: address, signal: 11, code: code, thread: ThreadIndex(1),
        stack: stacks[2], time: EventTime(time), stackPointer: stackPointer))
    return try builder.noticedErrors()
  }

  private static func isBeyond(_ error: MemoryError, offset: Int64) -> Bool {
    error.kind == .outOfBounds(MemoryAccess(kind: .write, offset: offset, signal: 11))
  }

  @Test mutating func aBlockThatWasFreedIsGone() throws {
    builder.allocate(0x70_0010, 1_000_000, stack: stacks[0], time: 1000)
    builder.free(0x70_0010, stack: stacks[1], time: 2000)
    for offset in [0, 500_000, 999_999] as [Int64] {
      let found = try errors(0x70_0010 + UInt64(offset))
      #expect(
        found.map(\.kind) == [
          .accessAfterFree(MemoryAccess(kind: .write, offset: offset, signal: 11))
        ])
      #expect(found.map(\.block?.allocation.stack) == [stacks[0]])
      #expect(found.map(\.firstFree?.stack) == [stacks[1]])
      #expect(found.map(\.offending.stack) == [stacks[2]])
    }
    #expect(try errors(0x70_000f) == [])
    #expect(try errors(0x70_0010 + 1_000_000) == [])
    // What is mapped there is something else, and the block was not freed yet.
    #expect(try errors(0x70_0010, code: 2) == [])
    #expect(try errors(0x70_0010, time: 1500) == [])
  }

  @Test mutating func whatWasMappedThereSinceIsMeant() throws {
    builder.allocate(0x70_0010, 1_000_000, stack: stacks[0], time: 1000)
    builder.free(0x70_0010, stack: stacks[1], time: 2000)
    let library = Image(
      index: 0, path: "/lib/plugin.so", loadBias: 0x70_0000, start: Address(0x70_0000),
      end: Address(0x78_0000), textStart: Address(0x70_0000), textEnd: Address(0x78_0000),
      loadTime: EventTime(3000))
    builder.image(library)
    #expect(try errors(0x70_0100) == [])
    #expect(try errors(0x78_0100).count == 1)
  }

  @Test mutating func thePageBehindABlockIsBeyondIt() throws {
    // Ends 40 bytes before its page does.
    builder.allocate(0x70_0010, 0x1fc8, stack: stacks[0], time: 1000)
    let first = try errors(0x70_2000)
    #expect(first.count == 1 && first.allSatisfy { Self.isBeyond($0, offset: 0x1ff0) })
    #expect(first.map(\.block?.size) == [0x1fc8])
    let last = try errors(0x70_2fff, code: 2)
    #expect(last.count == 1 && last.allSatisfy { Self.isBeyond($0, offset: 0x2fef) })
    #expect(try errors(0x70_3000) == [])
    #expect(try errors(0x70_1fff) == [])
  }

  @Test mutating func theNearestBlockIsMeant() throws {
    builder.allocate(0x70_0f00, 16, stack: stacks[0], time: 1000)
    builder.allocate(0x70_0f80, 24, stack: stacks[1], time: 2000)
    #expect(try errors(0x70_1000).map(\.block?.size) == [24])
    // It is not known what was written to, if the nearest one was freed.
    builder.free(0x70_0f80, stack: stacks[1], time: 3000)
    #expect(try errors(0x70_1000) == [])
  }

  @Test mutating func theEndOfAStackIsNoBlock() throws {
    builder.allocate(0x70_0010, 0xff0, stack: stacks[0], time: 1000)
    #expect(try errors(0x70_1ff8).count == 1)
    #expect(try errors(0x70_1ff8, stackPointer: 0x70_2000) == [])
  }

  @Test(arguments: [0, 1, 4095, UInt32.max])
  mutating func aPageSizeThatIsNoneSaysNothing(size: UInt32) throws {
    builder.allocate(0x70_0ff0, 16, stack: stacks[0], time: 1000)
    #expect(try errors(0x70_1000).count == 1)
    builder.header.pageSize = size
    #expect(try errors(0x70_1000) == [])
  }

  @Test mutating func whatAGuardHasStoppedIsNotToldTwice() throws {
    builder.allocate(0x70_0ff0, 16, stack: stacks[0], time: 1000)
    builder.access(
      GuardedAccess(
        block: Address(0x70_0ff0), size: 16, isFreed: false,
        access: MemoryAccess(kind: .write, offset: 16, signal: 11), thread: ThreadIndex(1),
        stack: stacks[2], time: EventTime(8999)))
    #expect(try errors(0x70_1000).count == 1)
  }
}
