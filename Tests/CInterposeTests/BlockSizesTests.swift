import CInterpose
import Foundation
import Testing

/// Sizes of blocks beside the heap, and what shows that a redzone was written to.
@Suite struct BlockSizesTests {
  /// The recorder's, whose memory stays mapped.
  private final class BlockSizes: @unchecked Sendable {
    private let sizes = UnsafeMutablePointer<mt_block_sizes>.allocate(capacity: 1)

    init() throws { try #require(mt_block_sizes_begin(sizes)) }

    deinit { sizes.deallocate() }

    func put(_ address: UInt, _ size: Int) -> Bool { mt_block_size_put(sizes, address, size) }

    func find(_ address: UInt) -> Int? {
      var size = 0
      return mt_block_size_find(sizes, address, &size) ? size : nil
    }

    func take(_ address: UInt) -> Int? {
      var size = 0
      return mt_block_size_take(sizes, address, &size) ? size : nil
    }

    /// All addresses and sizes, in the order they are visited; those of `removed` are forgotten.
    func visit(removing removed: Set<UInt> = []) -> [(address: UInt, size: Int)] {
      final class Found {
        var blocks: [(address: UInt, size: Int)] = []
        let removed: Set<UInt>
        init(_ removed: Set<UInt>) { self.removed = removed }
      }
      let found = Found(removed)
      mt_block_sizes_visit(
        sizes,
        { address, size, context in
          guard let context else { return true }
          let found = Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
          found.blocks.append((address, size))
          return !found.removed.contains(address)
        }, Unmanaged.passUnretained(found).toOpaque())
      return found.blocks
    }
  }

  private static let start: UInt = 0x5555_0000_0000
  private static let largest = Int(UInt32.max) - 2

  @Test func aSizeComesBackOnce() throws {
    let sizes = try BlockSizes()
    #expect(sizes.put(Self.start, 24))
    #expect(sizes.find(Self.start) == 24)
    #expect(sizes.take(Self.start) == 24)
    #expect(sizes.take(Self.start) == nil)
    #expect(sizes.find(Self.start) == nil)
    #expect(sizes.put(Self.start, 0))
    #expect(sizes.find(Self.start) == 0)
  }

  @Test(arguments: [
    (start + 8, 24), (start + 1, 24), (1 << 48, 24), (UInt.max & ~15, 24), (start, largest + 1),
  ])
  func whatHasNoPlaceIsNotNoted(address: UInt, size: Int) throws {
    let sizes = try BlockSizes()
    #expect(!sizes.put(address, size))
    #expect(sizes.find(address) == nil)
    #expect(sizes.take(address) == nil)
    #expect(sizes.visit().isEmpty)
  }

  @Test func allAreVisitedInAscendingOrder() throws {
    let sizes = try BlockSizes()
    let blocks: [(UInt, Int)] = [
      (0x10_0000, 1), (0x10_0010, 0), (0x1ff_fff0, 17), (0x200_0000, 5), (Self.start, 100),
      (0x7fff_ffff_fff0, Self.largest), (0xffff_ffff_fff0, 3),
    ]
    for (address, size) in blocks.shuffled() { #expect(sizes.put(address, size)) }
    let found = sizes.visit()
    #expect(found.map(\.address) == blocks.map(\.0))
    #expect(found.map(\.size) == blocks.map(\.1))
  }

  @Test func aVisitForgetsWhatItIsToldTo() throws {
    let sizes = try BlockSizes()
    for number in UInt(0)..<100 { _ = sizes.put(Self.start + number * 48, Int(number)) }
    let removed = Set((0..<UInt(100)).filter { $0 % 3 == 0 }.map { Self.start + $0 * 48 })
    #expect(sizes.visit(removing: removed).count == 100)
    #expect(sizes.visit().map(\.size) == (0..<100).filter { $0 % 3 != 0 })
  }

  /// As at the end of a process whose other threads go on: each takes its blocks while one visits.
  @Test func aBlockIsTakenOnceWhileOthersVisit() throws {
    let sizes = try BlockSizes()
    let count = 20_000
    for number in 0..<count * 3 { _ = sizes.put(Self.start + UInt(number) * 32, number) }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      if thread == 0 {
        for _ in 0..<5 {
          let found = sizes.visit()
          #expect(found.allSatisfy { $0.address == Self.start + UInt($0.size) * 32 })
        }
      } else {
        for number in (thread - 1) * count..<thread * count {
          let address = Self.start + UInt(number) * 32
          #expect(sizes.take(address) == number)
        }
      }
    }
    #expect(sizes.visit().isEmpty)
  }

  @Test func damageIsToldToTheByte() {
    let zone = UnsafeMutablePointer<UInt8>.allocate(capacity: 19)
    defer { zone.deallocate() }
    let address = UInt(bitPattern: zone)
    mt_redzone_fill(address, 19)
    #expect(mt_redzone_compare(address, 19).length == 0)
    zone[18] = 0
    #expect(mt_redzone_compare(address, 19).offset == 18)
    #expect(mt_redzone_compare(address, 19).length == 1)
    #expect(mt_redzone_compare(address, 18).length == 0)
    zone[3] = 7
    #expect(mt_redzone_compare(address, 19).offset == 3)
    #expect(mt_redzone_compare(address, 19).length == 16)
  }

  /// Following what was read from behind a block is a fault.
  @Test func aWordOfARedzoneIsNoAddress() {
    let byte = UInt64(MT_REDZONE_BYTE)
    let word = (0..<8).reduce(0) { word, _ in word << 8 | byte }
    #expect(word >> 47 != 0 && word >> 47 != UInt64.max >> 47)
  }
}
