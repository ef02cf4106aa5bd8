import Testing
import TraceTestSupport

@testable import TraceReader

/// Live blocks are kept small, and come back as they were.
@Suite struct LiveBlocksTests {
  private func block(_ address: UInt64, time: UInt64, site: Int, thread: UInt32 = 1) -> LiveBlock {
    LiveBlock(
      address: Address(address), size: address / 16, alignment: 64, operation: .malloc,
      stack: StackID(UInt32(site) + 7), thread: ThreadIndex(thread), time: EventTime(time),
      site: site)
  }

  @Test func blocksComeBackAsTheyWere() {
    let blocks = [
      block(0x1000, time: 5, site: 3), block(0x400, time: 5, site: 0, thread: 2),
      block(0x2000, time: 4, site: 3), block(0x400, time: 9, site: 3, thread: 2),
    ]
    let kept = LiveBlocks(blocks)
    #expect(Array(kept) == blocks)
    #expect(kept == LiveBlocks(blocks) && kept != LiveBlocks(blocks.dropLast()))
    #expect(Array(kept.filtered { $0.site == 3 }) == [blocks[0], blocks[2], blocks[3]])
    #expect(kept.filtered { _ in false }.isEmpty && LiveBlocks().isEmpty)
  }

  /// Two blocks have the same time.
  private func time(of index: UInt64) -> UInt64 { (index &* 7919) % 10_000 / 2 }

  @Test func aTableHandsOverItsEntriesInOrder() {
    var table = LiveTable()
    for index in UInt64(0)..<10_000 {
      _ = table.insert(
        LiveEntry(
          address: index << 4, size: index, alignment: 0, time: time(of: index),
          site: UInt32(index % 3), serial: 0))
    }
    for index in UInt64(0)..<5_000 { _ = table.remove(index << 4) }
    let taken = table.takeEntries { entry in
      defer { entry.site += 10 }
      return entry.site != 1
    }
    var expected = (UInt64(5_000)..<10_000).filter { $0 % 3 != 1 }
    expected.sort { left, right in
      let (first, second) = (time(of: left), time(of: right))
      return first == second ? left < right : first < second
    }
    #expect(taken.entries.map(\.size) == expected)
    #expect(taken.entries.map(\.address) == expected.map { $0 << 4 })
    #expect(taken.entries.allSatisfy { $0.site == 10 || $0.site == 12 })

    // The table goes on, empty.
    #expect(table.count == 0)
    #expect(table.remove(6_000 << 4) == nil)
    _ = table.insert(
      LiveEntry(address: 16, size: 1, alignment: 0, time: 0, site: 0, serial: 0))
    #expect(table.remove(16)?.size == 1)
  }
}
