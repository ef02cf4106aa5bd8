import CInterpose
import Testing

/// One suite, serialized: the arena is shared and never gives anything back.
@Suite(.serialized) struct ArenaTests {
  @Test func blocksAreAlignedZeroAndOwned() throws {
    for alignment in [1, 16, 64, 4096] {
      let block = try #require(mt_arena_allocate(100, alignment))
      #expect(Int(bitPattern: block) % max(alignment, 16) == 0)
      #expect(mt_arena_owns(block))
      #expect(mt_arena_size(block) == 100)
      let bytes = UnsafeRawBufferPointer(start: block, count: 100)
      #expect(bytes.allSatisfy { $0 == 0 })
    }
  }

  @Test func otherMemoryIsNotOwned() {
    var local = 0
    #expect(!mt_arena_owns(&local))
    #expect(!mt_arena_owns(nil))
  }

  @Test func overflowAndExhaustionGiveNothing() {
    #expect(mt_arena_allocate_zeroed(.max, 2) == nil)
    #expect(mt_arena_allocate(.max, 16) == nil)
    #expect(mt_arena_allocate(1 << 20, 16) == nil)
    #expect(mt_arena_allocate(16, 1 << 30) == nil)
  }

  @Test func blocksDoNotOverlap() throws {
    let first = try #require(mt_arena_allocate(24, 16))
    let second = try #require(mt_arena_allocate(24, 16))
    #expect(second - first >= 24)
  }

  @Test func usageIsCounted() throws {
    var blocks: UInt64 = 0
    var bytes: UInt64 = 0
    mt_arena_usage(&blocks, &bytes)
    _ = try #require(mt_arena_allocate(33, 16))
    var laterBlocks: UInt64 = 0
    var laterBytes: UInt64 = 0
    mt_arena_usage(&laterBlocks, &laterBytes)
    #expect(laterBlocks == blocks + 1)
    #expect(laterBytes == bytes + 33)
  }
}
