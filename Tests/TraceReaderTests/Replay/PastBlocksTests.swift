import Testing
import TraceTestSupport

@testable import TraceReader

/// The last block that covered an address, and who allocated and freed it.
@Suite struct PastBlocksTests {
  private func past(
    _ builder: TraceBuilder, _ addresses: [UInt64], upTo time: EventTime = .distantFuture,
    extent: BlockExtent = .glibc
  ) throws -> PastBlocks {
    let file = try builder.write()
    return try Trace(path: file.path).pastBlocks(covering: addresses, upTo: time, extent: extent)
  }

  @Test func theLastOfTwoBlocks() throws {
    var trace = TraceBuilder()
    let (first, second) = (trace.stack([0x40_1000]), trace.stack([0x40_2000]))
    let end = trace.stack([0x40_3000])
    trace.allocate(0x5000, 32, stack: first, time: 10)
    trace.free(0x5000, time: 20)
    trace.allocate(0x5000, 24, stack: second, thread: 2, time: 30)
    trace.free(0x5000, stack: end, time: 40)
    let past = try past(trace, [0x5008, 0x5000, 0x5008, 0x6000])
    #expect(past.addresses == [0x5000, 0x5008, 0x6000])
    #expect(past.isComplete)
    for address in [UInt64(0x5000), 0x5008] {
      let block = past.block(covering: address)
      #expect((block.address, block.size) == (0x5000, 24))
      #expect((block.begin, block.end, block.firstBegin) == (2, 3, 0))
      #expect(block.isFreed && !block.isFirst)
      #expect((block.allocation.stack, block.deallocation.stack) == (second, end))
      #expect(block.allocation.thread == ThreadIndex(2))
      #expect(block.deallocation.time == EventTime(40))
    }
    #expect(!past.block(covering: 0x6000).isKnown)
    #expect(!past.block(covering: 0x7000).isKnown)
  }

  @Test func eventsBehindTheMomentDoNotCount() throws {
    var trace = TraceBuilder()
    trace.allocate(0x5000, 32, time: 10)
    trace.free(0x5000, time: 20)
    #expect(try !past(trace, [0x5000], upTo: EventTime(19)).block(covering: 0x5000).isFreed)
    #expect(try past(trace, [0x5000], upTo: EventTime(20)).block(covering: 0x5000).isFreed)
  }

  @Test func whatTheAllocatorAddsBelongsToTheBlock() throws {
    var trace = TraceBuilder()
    trace.allocate(0x5000, 100)
    trace.free(0x5000)
    trace.allocate(0x5000, 20)
    trace.free(0x5000)
    let known = try past(trace, [0x5014, 0x5018, 0x5020])
    #expect(known.block(covering: 0x5014).size == 20)
    // What is in front of the next block.
    #expect(known.block(covering: 0x5018).size == 20)
    #expect(known.block(covering: 0x5020).size == 100)
    #expect(try past(trace, [0x5018], extent: .unknown).block(covering: 0x5018).size == 100)
  }

  @Test func aReallocEndsTheOldBlock() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x40_1000])
    trace.allocate(0x5000, 32)
    trace.reallocate(0x5000, to: 0x6000, 64, stack: stack)
    let past = try past(trace, [0x5000, 0x6020])
    #expect(past.block(covering: 0x5000).deallocation.operation == .reallocBegin)
    #expect(past.block(covering: 0x5000).deallocation.stack == stack)
    #expect(past.block(covering: 0x6020).allocation.operation == .realloc)
    #expect(past.block(covering: 0x6020).allocation.stack == stack)
    #expect(!past.block(covering: 0x6020).isFreed)
  }

  @Test func aReallocThatFailsOrHasNoEndLeavesTheBlock() throws {
    var trace = TraceBuilder()
    trace.allocate(0x5000, 32)
    trace.allocate(0x6000, 32)
    trace.add(.reallocBegin, address: 0x5000)
    trace.add(.reallocFail)
    trace.add(.reallocBegin, address: 0x6000)
    let past = try past(trace, [0x5008, 0x6008])
    #expect(!past.block(covering: 0x5008).isFreed)
    #expect(!past.block(covering: 0x6008).isFreed)
  }

  /// Many addresses in each page, or few, and blocks of many pages.
  @Test(arguments: [(40, 9000), (9000, 400_000), (200_000, 2_000_000)] as [(UInt64, UInt64)])
  func likeALookAtEachAddress(distance: UInt64, greatest: UInt64) throws {
    var random = SeededGenerator(seed: 7)
    var trace = TraceBuilder()
    var live: [UInt64: UInt64] = [:]
    var expected: [UInt64: (start: UInt64, isFreed: Bool)] = [:]
    let addresses = (0..<400).map { 0x10000 + $0 * distance }
    for _ in 0..<4000 {
      let start = 0x10000 + UInt64.random(in: 0..<200, using: &random) * 2 * (distance & ~15)
      if live[start] != nil {
        trace.free(start)
        live[start] = nil
        for address in addresses where expected[address]?.start == start {
          expected[address]?.isFreed = true
        }
      } else {
        // Blocks do not overlap.
        let end = live.keys.filter { $0 > start }.min() ?? .max
        let before = live.filter { $0.key < start }.map { $0.key + $0.value }.max() ?? 0
        let size = UInt64.random(in: 1...greatest, using: &random)
        guard start >= before + 16, start + size + 32 < end else { continue }
        trace.allocate(start, size)
        live[start] = size
        let reach = BlockExtent.glibc.reach(size)
        for address in addresses where address >= start && address < start + reach {
          expected[address] = (start, false)
        }
      }
    }
    let past = try past(trace, addresses.shuffled(using: &random))
    for address in addresses {
      let block = past.block(covering: address)
      #expect(block.isKnown == (expected[address] != nil))
      guard let wanted = expected[address] else { continue }
      #expect((block.address, block.isFreed) == (wanted.start, wanted.isFreed))
    }
  }
}
