import CInterpose
import Foundation
import Testing
import TraceTestSupport

/// Which freed blocks are kept back, and what shows that they are used.
@Suite struct QuarantineTests {
  /// The recorder's, whose memory stays mapped.
  private final class Quarantine: @unchecked Sendable {
    private let quarantine = UnsafeMutablePointer<mt_quarantine>.allocate(capacity: 1)

    init(bytes: UInt64) throws {
      try #require(mt_quarantine_begin(quarantine, bytes))
    }

    deinit { quarantine.deallocate() }

    func holds(_ address: UInt) -> Bool { mt_quarantine_holds(quarantine, address) }

    /// The block that code with these words has come from; 0: none.
    func find(registers: [UInt64], stack: [UInt64]) -> UInt {
      registers.withUnsafeBufferPointer { registers in
        stack.withUnsafeBufferPointer { stack in
          var held = mt_held_words(
            registers: registers.baseAddress, stack: stack.baseAddress,
            register_count: UInt32(registers.count), stack_count: UInt32(stack.count))
          return mt_zombie_find(quarantine, &held)
        }
      }
    }

    /// Adds a block; then what had to leave for it, or nil when it was turned away.
    func add(_ address: UInt, _ size: Int) -> [mt_kept_block]? {
      var surplus = mt_kept_block()
      let block = mt_kept_block(address: address, size: size)
      guard mt_quarantine_add(quarantine, block, &surplus) else { return nil }
      var left = surplus.address == 0 ? [] : [surplus]
      while mt_quarantine_take_surplus(quarantine, &surplus) { left.append(surplus) }
      return left
    }

    /// What is here, oldest first.
    func contents() -> [mt_kept_block] {
      var blocks: [mt_kept_block] = []
      withUnsafeMutablePointer(to: &blocks) { list in
        mt_quarantine_visit(
          quarantine,
          { $1?.assumingMemoryBound(to: [mt_kept_block].self).pointee.append($0) }, list)
      }
      return blocks
    }
  }

  /// A value behind a lock.
  private final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
      lock.lock()
      defer { lock.unlock() }
      return body(&value)
    }
  }

  private static let start: UInt = 0x5555_0000_0000

  @Test func theOldestLeaveFirstWhenThereAreTooManyBytes() throws {
    let quarantine = try Quarantine(bytes: 1 << 20)
    var left: [mt_kept_block] = []
    for number in 0..<1100 {
      left += try #require(quarantine.add(Self.start + UInt(number) * 0x1000, 1024))
    }
    #expect(left.map(\.address) == (0..<76).map { Self.start + $0 * 0x1000 })
    #expect(left.allSatisfy { $0.size == 1024 })
    #expect(!quarantine.holds(Self.start + 75 * 0x1000))
    #expect(quarantine.holds(Self.start + 76 * 0x1000))
    #expect(!quarantine.holds(Self.start + 76 * 0x1000 + 8))
    #expect(!quarantine.holds(0))
  }

  @Test func theOldestLeaveFirstWhenThereAreTooManyBlocks() throws {
    let quarantine = try Quarantine(bytes: 1 << 20)  // 8192 blocks
    var left: [mt_kept_block] = []
    for number in 0..<20_000 {
      left += try #require(quarantine.add(Self.start + UInt(number) * 32, 24))
    }
    #expect(left.map(\.address) == (0..<UInt(20_000 - 8192)).map { Self.start + $0 * 32 })
  }

  @Test func addressesAndSizesComeBackAsTheyWere() throws {
    let quarantine = try Quarantine(bytes: 1 << 30)
    let blocks: [(UInt, Int)] = [
      (0x10_0008, 8), (0x7fff_ffff_fff8, 16), (0xffff_ffff_fff8, Int(MT_KEPT_SIZE_MAX)),
    ]
    for (address, size) in blocks { #expect(quarantine.add(address, size) != nil) }
    #expect(quarantine.contents().map(\.address) == blocks.map(\.0))
    #expect(quarantine.contents().map(\.size) == blocks.map(\.1))
  }

  /// Four threads: each block leaves once, or is here at the end.
  @Test func noBlockGetsLostOrLeavesTwice() throws {
    let quarantine = try Quarantine(bytes: 1 << 20)
    let left = Guarded<[UInt]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var mine: [UInt] = []
      for number in 0..<20_000 {
        let address = Self.start + UInt(thread * 20_000 + number) * 64
        mine += quarantine.add(address, 56)?.map(\.address) ?? [address]
      }
      left.withLock { $0 += mine }
    }
    let all = left.withLock { $0 } + quarantine.contents().map(\.address)
    #expect(all.count == 80_000 && Set(all).count == 80_000)
  }

  /// At the end of a process whose other threads go on.
  @Test func blocksThatAreVisitedDoNotLeaveMeanwhile() throws {
    let quarantine = try Quarantine(bytes: 1 << 20)
    let left = Guarded<[UInt]>([])
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      var mine: [UInt] = []
      for number in 0..<20_000 where thread > 0 {
        let address = Self.start + UInt(thread * 20_000 + number) * 64
        mine += quarantine.add(address, 56)?.map(\.address) ?? [address]
      }
      for _ in 0..<20 where thread == 0 {
        let here = quarantine.contents().map(\.address)
        #expect(Set(here).count == here.count)
      }
      left.withLock { $0 += mine }
    }
    let all = left.withLock { $0 } + quarantine.contents().map(\.address)
    #expect(Set(all).count == all.count)
    // Those whose place was taken while they were visited stay out of reach.
    let held = (20_000..<60_000).map { Self.start + $0 * 64 }.filter { quarantine.holds($0) }
    #expect(Set(all).union(held).count == 40_000)
  }

  @Test func changesShowFromTheFirstToTheLastByte() {
    let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 8)
    defer { words.deallocate() }
    let address = UInt(bitPattern: words)
    let damage = { (size: Int) -> [Int] in
      let damage = mt_zombie_compare(address, size)
      return [damage.offset, damage.length]
    }
    mt_zombie_fill(address, 64, mt_zombie_word(address))
    #expect(damage(64) == [0, 0])
    words[2] = ~words[2]
    #expect(damage(64) == [16, 8])
    words[7] ^= 1 << 63
    #expect(damage(64) == [16, 48])
    #expect(damage(56) == [16, 8])
    // One byte, the fourth of its word; then also the sixth of the next one.
    mt_zombie_fill(address, 64, mt_zombie_word(address))
    words[3] ^= 0x80 << 24
    #expect(damage(64) == [27, 1])
    words[4] ^= 1 << 40
    #expect(damage(64) == [27, 11])
  }

  @Test(arguments: [0x5555_0000_0010, 0x7fff_ffff_fff0, 0x10_0008] as [UInt])
  func aWordTellsItsBlock(address: UInt) {
    let word = mt_zombie_word(address)
    #expect(word >> 48 == 0xdfdf, "no address: following it is a fault")
    #expect(mt_zombie_address_in(word) == address)
    // As the Swift runtime does with the address of a side table.
    #expect(mt_zombie_address_in(word << 3) == address)
    #expect(mt_zombie_address_in(UInt64(address)) == 0)
    #expect(mt_zombie_address_in(0) == 0)
  }

  /// What interrupted code holds, and which of the blocks that are kept back it comes from.
  @Test(
    arguments: [
      // The word itself comes before anything else, wherever it is.
      ([0xdfdf_0000_0010_0040, 0xdfdf_0000_0010_1000], [], 0x10_1000),
      // Whatever is in reach: in front of an address, or a little behind it.
      ([1, 0xdfdf_0000_0010_1000 + 4096], [], 0x10_1000),
      ([1, 0xdfdf_0000_0010_1000 + 4104], [], 0),
      ([0xdfdf_0000_0010_1000 - 256], [], 0x10_1000),
      ([0xdfdf_0000_0010_1000 - 264], [], 0),
      ([0xdfdf_0000_0010_1000 + 13], [], 0x10_1000),
      // The nearest one, but for one that a variable or a register points to.
      ([0xdfdf_0000_0010_8000 + 56], [], 0x10_8040),
      ([0xdfdf_0000_0010_8000 + 56], [7, 0x10_8000], 0x10_8000),
      ([0xdfdf_0000_0010_8000 + 56, 0x10_8000], [], 0x10_8000),
      // No zombie's word.
      ([0x10_1008, 0xdfde_0000_0010_1008], [0x10_1000], 0),
    ] as [([UInt64], [UInt64], UInt)])
  func whatIsHeldTellsTheBlock(registers: [UInt64], stack: [UInt64], block: UInt) throws {
    let quarantine = try Quarantine(bytes: 1 << 20)
    for address: UInt in [0x10_1000, 0x10_8000, 0x10_8040] {
      #expect(quarantine.add(address, 64)?.count == 0)
    }
    #expect(quarantine.find(registers: registers, stack: stack) == block)
  }
}
