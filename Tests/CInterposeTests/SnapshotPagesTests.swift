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
      for page in touched {
        start.storeBytes(of: page + 1, toByteOffset: page * pageSize, as: Int.self)
      }
    }

    deinit { munmap(start, pages * pageSize) }

    /// Forbids or advises something for some pages; false where the system cannot.
    func change(_ range: Range<Int>, _ call: (UnsafeMutableRawPointer, Int) -> Int32) -> Bool {
      call(start + range.lowerBound * pageSize, range.count * pageSize) == 0
    }

    /// The pages that are visited, by what their first words hold, and whether that is all.
    func visited(
      source: mt_page_source = MT_PAGES_PRIVATE,
      as prepare: (inout mt_page_walker) -> Void = { _ in }
    ) -> (pages: [Int: UInt64], isWhole: Bool) {
      var region = mt_region()
      region.start = UInt64(UInt(bitPattern: start))
      region.end = region.start + UInt64(pages * pageSize)
      region.source = source.rawValue
      let walker = UnsafeMutablePointer<mt_page_walker>.allocate(capacity: 1)
      defer { walker.deallocate() }
      mt_pages_open(walker)
      defer { mt_pages_close(walker) }
      prepare(&walker.pointee)
      var found: [UInt64: UInt64] = [:]
      let isWhole = withUnsafeMutablePointer(to: &found) { found in
        mt_pages_visit(
          walker, &region,
          { page, words, context in
            let found = context?.assumingMemoryBound(to: [UInt64: UInt64].self)
            found?.pointee[page] = words?.pointee
          }, found)
      }
      let pages = found.map { (Int($0.key - region.start) / pageSize, $0.value) }
      return (Dictionary(uniqueKeysWithValues: pages), isWhole)
    }
  }

  private static func marks(_ pages: [Int]) -> [Int: UInt64] {
    Dictionary(uniqueKeysWithValues: pages.map { ($0, UInt64($0 + 1)) })
  }

  @Test(arguments: [true, false])
  func onlyTouchedPagesAreVisited(scans: Bool) throws {
    let batch = Int(MT_PAGE_BATCH)
    // Around the batches, and at both ends of a region that is long enough to be searched.
    let pages = (2 << 30) / Self.pageSize
    let touched = [0, 1, batch - 1, batch, 5 * batch + 7, pages - batch - 1, pages - 1]
    let memory = try Memory(pages: pages, touched: touched)
    let visited = memory.visited { if !scans { $0.can_scan = false } }
    #expect(visited == (Self.marks(touched), true))
  }

  @Test func aLongRegionWithoutTouchedPagesHasNoVisit() throws {
    #expect(try Memory(pages: (2 << 30) / Self.pageSize, touched: []).visited() == ([:], true))
  }

  /// Whoever reads one is killed, and older kernels call them swapped out.
  @Test func guardsAreNotVisited() throws {
    let adviceToGuard: Int32 = 102  // MADV_GUARD_INSTALL, Linux 6.13
    let memory = try Memory(pages: 8, touched: Array(0..<8))
    let isGuarded = memory.change(2..<5) { madvise($0, $1, adviceToGuard) }
    let open = isGuarded ? [0, 1, 5, 6, 7] : Array(0..<8)
    #expect(memory.visited() == (Self.marks(open), true))
  }

  /// Locked by a protection key, which the list of mappings does not tell, or by one that it tells.
  @Test(arguments: [MT_PAGES_PRIVATE, MT_PAGES_WRITTEN, MT_PAGES_PROTECTED])
  func whatMayNotBeReadIsCopied(source: mt_page_source) throws {
    let memory = try Memory(pages: 8, touched: [3, 4])
    #expect(memory.visited(source: source) == (Self.marks([3, 4]), true))
    #expect(memory.change(0..<8) { mprotect($0, $1, PROT_NONE) })
    #expect(memory.visited(source: source) == (Self.marks([3, 4]), true))
  }

  @Test func whatCannotBeCopiedEitherIsTold() throws {
    let memory = try Memory(pages: 8, touched: [3, 4])
    #expect(memory.change(0..<8) { mprotect($0, $1, PROT_NONE) })
    let visited = memory.visited {
      close($0.memory)
      $0.memory = -1
    }
    #expect(visited == ([:], false))
  }
}
