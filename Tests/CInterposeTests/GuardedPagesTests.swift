import CInterpose
import Foundation
import Synchronization
import Testing

/// Blocks in pages of their own, with both ways to close pages.
@Suite(.serialized) struct GuardedPagesTests {
  private static let page = Int(MT_PAGE_SIZE)

  /// The recorder's, whose memory stays mapped.
  private final class Pages: @unchecked Sendable {
    private let pages = UnsafeMutablePointer<mt_guarded_pages>.allocate(capacity: 1)

    init(_ count: Int, mostLive: Int = 1000, mayGuard: Bool) throws {
      try #require(
        mt_guarded_pages_begin(
          pages, UInt64(count * GuardedPagesTests.page), UInt32(mostLive), mayGuard))
    }

    deinit { pages.deallocate() }

    var start: UInt { pages.pointee.range.start }

    func allocate(_ size: Int, alignment: Int = 16) -> UInt? {
      mt_guarded_pages_allocate(pages, size, alignment, nil).map { UInt(bitPattern: $0) }
    }

    func take(_ address: UInt) -> mt_guarded_block? {
      var block = mt_guarded_block()
      return mt_guarded_pages_take(pages, address, &block) ? block : nil
    }

    @discardableResult func free(_ address: UInt) -> Bool {
      guard var block = take(address) else { return false }
      mt_guarded_pages_close(pages, &block)
      return true
    }

    func takeLock() -> Bool { mt_lock_try(&pages.pointee.lock) }

    func releaseLock() { mt_lock_release(&pages.pointee.lock) }

    func find(_ address: UInt) -> mt_guarded_block? {
      var block = mt_guarded_block()
      return mt_guarded_pages_find(pages, address, &block) ? block : nil
    }

    func nearest(_ address: UInt) -> mt_guarded_block? {
      var block = mt_guarded_block()
      return mt_guarded_pages_nearest(pages, address, &block) ? block : nil
    }

    func visit() -> [UInt] {
      final class Found { var blocks: [UInt] = [] }
      let found = Found()
      mt_guarded_pages_visit(
        pages,
        { block, context in
          guard let block, let context else { return }
          Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().blocks
            .append(block.pointee.address)
        }, Unmanaged.passUnretained(found).toOpaque())
      return found.blocks
    }
  }

  /// What a thread of its own has got.
  private final class Allocation: Sendable {
    private let thread = Atomic(0), block = Atomic<UInt>(0), hasEnded = Atomic(false)

    init(in pages: Pages) {
      Thread.detachNewThread {
        self.thread.store(mt_os_tid(), ordering: .releasing)
        self.block.store(pages.allocate(64) ?? 0, ordering: .relaxed)
        self.hasEnded.store(true, ordering: .releasing)
      }
    }

    private var isWaiting: Bool {
      let path = "/proc/self/task/\(thread.load(ordering: .acquiring))/syscall"
      return (try? String(contentsOfFile: path, encoding: .utf8))?.hasPrefix("\(SYS_futex) ")
        ?? false
    }

    func awaitWait() {
      while !isWaiting && !hasEnded.load(ordering: .acquiring) { sched_yield() }
    }

    func awaitBlock() -> UInt {
      while !hasEnded.load(ordering: .acquiring) { sched_yield() }
      return block.load(ordering: .relaxed)
    }
  }

  private static func isReadable(_ address: UInt) -> Bool { mt_os_is_readable(address & ~7) }

  @Test(arguments: [true, false], [1, 15, 16, 17, 40, 4095, 4096, 4097, 70_000])
  func aBlockEndsWhereItsGuardBegins(mayGuard: Bool, size: Int) throws {
    let pages = try Pages(256 * 16, mayGuard: mayGuard)
    for alignment in [1, 8, 16, 64, 4096] {
      let block = try #require(pages.allocate(size, alignment: alignment))
      let end = block + UInt(size)
      let guardPage = (end + UInt(Self.page) - 1) & ~UInt(Self.page - 1)
      #expect(block % UInt(alignment) == 0)
      #expect(guardPage - end < alignment)
      #expect(!Self.isReadable(guardPage))
      let bytes = try #require(UnsafeMutablePointer<UInt8>(bitPattern: block))
      #expect((0..<size).allSatisfy { bytes[$0] == 0 })
      bytes.update(repeating: 0xff, count: size)
      #expect(pages.free(block))
      #expect(!Self.isReadable(block))
      #expect(!Self.isReadable(end - 1))
    }
  }

  @Test(arguments: [true, false]) func aBlockOfNoBytesHasAnAddress(mayGuard: Bool) throws {
    let pages = try Pages(64, mayGuard: mayGuard)
    let (one, other) = (try #require(pages.allocate(0)), try #require(pages.allocate(0)))
    #expect(one != other)
    #expect(pages.find(one)?.size == 0)
    #expect(pages.free(one))
    #expect(pages.free(other))
  }

  @Test(arguments: [true, false]) func aBlockIsTakenOnce(mayGuard: Bool) throws {
    let pages = try Pages(64, mayGuard: mayGuard)
    let block = try #require(pages.allocate(24))
    #expect(pages.find(block)?.is_live == true)
    #expect(pages.take(block + 1) == nil)
    #expect(pages.take(block - 16) == nil)
    #expect(pages.free(block))
    #expect(pages.take(block) == nil)
    #expect(pages.find(block)?.is_live == false)
    #expect(pages.find(block)?.size == 24)
  }

  /// Whoever goes too far meets a guard, and the nearer block is meant.
  @Test(arguments: [true, false]) func theBlockBesideAnAddressIsKnown(mayGuard: Bool) throws {
    let pages = try Pages(64, mayGuard: mayGuard)
    let first = try #require(pages.allocate(Self.page))
    let second = try #require(pages.allocate(Self.page))
    #expect(second == first + 2 * UInt(Self.page))
    #expect(pages.nearest(first - 1)?.address == first)
    #expect(pages.nearest(first + 100)?.address == first)
    #expect(pages.nearest(first + UInt(Self.page))?.address == first)
    #expect(pages.nearest(second - 1)?.address == second)
    #expect(pages.nearest(second + UInt(Self.page) + 9)?.address == second)
    #expect(pages.nearest(second + 10 * UInt(Self.page)) == nil)
    for stranger in [
      first - UInt(Self.page) - 1, 0, 8, first + 64 * UInt(Self.page), 1 << 47, .max,
    ] {
      #expect(pages.nearest(stranger) == nil)
    }
    pages.free(first)
    #expect(pages.nearest(first + 8)?.is_live == false)
  }

  /// What was freed longest ago is used again first, and what lies among live blocks is passed over.
  @Test(arguments: [true, false]) func addressesAreUsedRoundAndRound(mayGuard: Bool) throws {
    let pages = try Pages(16, mayGuard: mayGuard)
    let blocks = try (0..<8).map { _ in try #require(pages.allocate(8)) }
    #expect(Set(blocks).count == 8)
    #expect(pages.allocate(8) == nil)
    for number in [1, 3, 5] { pages.free(blocks[number]) }
    #expect(try #require(pages.allocate(8)) == blocks[1])
    #expect(try #require(pages.allocate(8)) == blocks[3])
    pages.free(blocks[0])
    #expect(try #require(pages.allocate(8)) == blocks[5])
    #expect(try #require(pages.allocate(8)) == blocks[0])
    #expect(pages.visit() == blocks)
    #expect(pages.find(blocks[1])?.is_live == true)
  }

  @Test(arguments: [true, false]) func aLongRunTakesThePlaceOfShortOnes(mayGuard: Bool) throws {
    let pages = try Pages(64, mayGuard: mayGuard)
    let blocks = try (0..<32).map { _ in try #require(pages.allocate(100)) }
    for block in blocks.dropLast() { pages.free(block) }
    let long = try #require(pages.allocate(3 * Self.page))
    #expect(long == pages.start)
    #expect(pages.find(blocks[0]) == nil)
    #expect(pages.find(blocks[1]) == nil)
    #expect(pages.nearest(blocks[1])?.address == long)
    #expect(pages.nearest(blocks[2])?.address == blocks[2])
    #expect(pages.free(long))
    #expect(!Self.isReadable(long + UInt(2 * Self.page)))
  }

  @Test(arguments: [true, false]) func thereIsALimit(mayGuard: Bool) throws {
    let pages = try Pages(256, mostLive: 3, mayGuard: mayGuard)
    let blocks = try (0..<3).map { _ in try #require(pages.allocate(8)) }
    #expect(pages.allocate(8) == nil)
    pages.free(blocks[1])
    #expect(pages.allocate(17 * Self.page) == nil)
    #expect(pages.allocate(8, alignment: 2 * Self.page) == nil)
    #expect(pages.allocate(Int.max) == nil)
    #expect(pages.allocate(15 * Self.page) != nil)
    #expect(pages.visit().count == 3)
  }

  /// Each thread has its blocks to itself, whoever looks at all of them meanwhile.
  @Test(arguments: [true, false]) func threadsDoNotMeet(mayGuard: Bool) throws {
    let pages = try Pages(1024, mayGuard: mayGuard)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      guard thread > 0 else {
        for _ in 0..<50 { _ = pages.visit() }
        return
      }
      for turn in 0..<2000 {
        guard let block = pages.allocate(64) else {
          Issue.record("a block of turn \(turn) has no guard")
          return
        }
        let words = UnsafeMutablePointer<UInt>(bitPattern: block)
        words?.pointee = UInt(turn * 4 + thread)
        #expect(words?.pointee == UInt(turn * 4 + thread))
        #expect(pages.free(block))
      }
    }
    #expect(pages.visit().isEmpty)
  }

  /// Who has the lock may be waiting for a processor, longer than others yield theirs.
  @Test func whoWaitsForTheLockSleepsUntilItIsFree() throws {
    let pages = try Pages(256, mayGuard: true)
    #expect(pages.takeLock())
    let allocation = Allocation(in: pages)
    allocation.awaitWait()
    pages.releaseLock()
    #expect(allocation.awaitBlock() != 0)
  }
}
