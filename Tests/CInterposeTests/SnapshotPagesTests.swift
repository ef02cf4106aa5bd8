import CInterpose
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Which pages of a region a snapshot reads.
@Suite struct SnapshotPagesTests {
  private static let pageSize = Int(MT_PAGE_SIZE)

  /// Private memory, of which some pages were written to.
  private final class Memory {
    let start: UnsafeMutableRawPointer
    let pages: Int

    init(pages: Int, touched: [Int]) throws {
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
      let mapped = mmap(nil, pages * pageSize, PROT_READ | PROT_WRITE, flags, -1, 0)
      start = try #require(mapped == MAP_FAILED ? nil : mapped)
      self.pages = pages
      for page in touched { start.storeBytes(of: 1, toByteOffset: page * pageSize, as: Int.self) }
    }

    deinit { munmap(start, pages * pageSize) }

    /// Forbids or advises something for some pages; false where the system cannot.
    func change(_ range: Range<Int>, _ call: (UnsafeMutableRawPointer, Int) -> Int32) -> Bool {
      call(start + range.lowerBound * pageSize, range.count * pageSize) == 0
    }

    /// The pages that are visited; nil where none may be read.
    func visited(scans: Bool = true, source: mt_page_source = MT_PAGES_PRIVATE) -> [Int]? {
      var region = mt_region()
      region.start = UInt64(UInt(bitPattern: start))
      region.end = region.start + UInt64(pages * pageSize)
      region.source = source.rawValue
      let walker = UnsafeMutablePointer<mt_page_walker>.allocate(capacity: 1)
      defer { walker.deallocate() }
      mt_pages_open(walker)
      defer { mt_pages_close(walker) }
      if !scans { walker.pointee.can_scan = false }
      var found = [UInt64]()
      let isRead = withUnsafeMutablePointer(to: &found) { found in
        mt_pages_visit(
          walker, &region,
          { page, context in
            context?.assumingMemoryBound(to: [UInt64].self).pointee.append(page)
          }, found)
      }
      return isRead ? found.map { Int($0 - region.start) / pageSize } : nil
    }
  }

  @Test(arguments: [true, false])
  func onlyTouchedPagesAreVisited(scans: Bool) throws {
    let batch = Int(MT_PAGE_BATCH)
    // Around the batches, and at both ends of a region that is long enough to be searched.
    let pages = (2 << 30) / Self.pageSize
    let touched = [0, 1, batch - 1, batch, 5 * batch + 7, pages - batch - 1, pages - 1]
    let memory = try Memory(pages: pages, touched: touched)
    #expect(memory.visited(scans: scans) == touched)
  }

  @Test func aLongRegionWithoutTouchedPagesHasNoVisit() throws {
    #expect(try Memory(pages: (2 << 30) / Self.pageSize, touched: []).visited() == [])
  }

  /// Here every page would be read that the kernel calls swapped out.
  @Test func guardsAreNotVisited() throws {
    let adviceToGuard: Int32 = 102  // MADV_GUARD_INSTALL, Linux 6.13
    let memory = try Memory(pages: 8, touched: Array(0..<8))
    let isGuarded = memory.change(2..<5) { madvise($0, $1, adviceToGuard) }
    #expect(memory.visited() == (isGuarded ? [0, 1, 5, 6, 7] : Array(0..<8)))
  }

  /// As a protection key would have it.
  @Test(arguments: [MT_PAGES_PRIVATE, MT_PAGES_WRITTEN])
  func aRegionThatMayNotBeReadIsLeftAlone(source: mt_page_source) throws {
    let memory = try Memory(pages: 8, touched: [3, 4])
    #expect(memory.visited(source: source) == [3, 4])
    #expect(memory.change(0..<8) { mprotect($0, $1, PROT_NONE) })
    #expect(memory.visited(source: source) == nil)
  }
}
