import CInterpose
import Testing

/// Blocks as bits: exact, for neighbours too, and for threads at the same time.
@Suite(.serialized) struct BlockBitsTests {
  private static let hasBegun = mt_block_bits_begin()

  init() throws { try #require(Self.hasBegun) }

  private func block(_ address: UInt) -> UnsafeRawPointer? { UnsafeRawPointer(bitPattern: address) }

  @Test func blocksAreToldFromTheirNeighbours() {
    let base: UInt = 0x5555_0000_0000
    #expect(!mt_block_bits_test(block(base)))
    #expect(!mt_block_bits_clear(block(base)))
    for index: UInt in 0..<1000 where index % 3 == 0 {
      #expect(mt_block_bits_set(block(base + index * 8)))
    }
    for index: UInt in 0..<1000 {
      #expect(mt_block_bits_test(block(base + index * 8)) == (index % 3 == 0))
    }
    for index: UInt in 0..<1000 where index % 3 == 0 {
      #expect(mt_block_bits_clear(block(base + index * 8)))
      #expect(!mt_block_bits_clear(block(base + index * 8)))
    }
  }

  /// Leaves cover 256 MiB.
  @Test(
    arguments: [
      8, (1 << 28) - 8, 1 << 28, (1 << 47) - 8, 1 << 47, (1 << 48) - 8,
    ] as [UInt])
  func everyAddressHasItsBit(address: UInt) {
    #expect(mt_block_bits_can_hold(block(address)))
    #expect(mt_block_bits_set(block(address)))
    #expect(mt_block_bits_test(block(address)))
    #expect(!mt_block_bits_test(block(address ^ 1 << 28)))
    #expect(mt_block_bits_clear(block(address)))
    #expect(!mt_block_bits_test(block(address)))
  }

  @Test func otherAddressesHaveNone() {
    for address in [0x5555_0004, 0x5555_0001, 1 << 48] as [UInt] {
      #expect(!mt_block_bits_can_hold(block(address)))
    }
  }

  /// Threads have every fourth bit of the same words.
  @Test func threadsDoNotLoseEachOthersBlocks() async {
    let set = BlockSetCalls(
      insert: mt_block_bits_set, holds: mt_block_bits_test, remove: mt_block_bits_clear)
    let misses = await set.misses(rounds: 50, blocks: 1000) { thread, _, index in
      0x7777_0000_0000 + (index * 4 + thread) * 8
    }
    #expect(misses == 0)
  }
}
