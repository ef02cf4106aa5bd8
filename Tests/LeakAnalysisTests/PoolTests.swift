import LeakAnalysis
import Testing
import TraceReader
import TraceTestSupport

@Suite("Announced blocks and what they lie in")
struct PoolTests {
  /// A heap with a pool of 1024 bytes.
  private func pool(held isHeld: Bool) -> (heap: SampleHeap, pool: UInt64) {
    var heap = SampleHeap()
    let pool = heap.block(1024)
    if isHeld { heap.set(SampleHeap.globals, pool) }
    return (heap, pool)
  }

  private func names(_ analysis: LeakAnalysis) -> [String] {
    (0..<analysis.leaks.count).map { node in
      let block = analysis.leaks.block(of: node)
      let kind = analysis.heap.blocks.isAnnounced(block) ? "announced" : "malloc"
      return "\(kind) \(analysis.heap.blocks.size(of: block)) \(analysis.leaks.role(of: node))"
    }
  }

  @Test("A block that nothing points to is leaked though its pool is not")
  func leakInLivePool() throws {
    var (heap, pool) = pool(held: true)
    heap.trace.announce(pool, 32)
    heap.trace.announce(pool + 64, 48)
    heap.trace.announce(pool + 128, 56)
    // The pointer to the pool's own beginning is one to its first block.
    heap.set(pool + 8, pool + 128)
    let analysis = try heap.analysis()
    #expect(names(analysis) == ["announced 48 rootLeak"])
    #expect(analysis.leaked == [pool + 64])
  }

  @Test(
    "Words of a block hold; those of the pool between blocks, too; a freed block holds by nothing else"
  )
  func whoseWords() throws {
    var (heap, pool) = pool(held: true)
    heap.trace.announce(pool + 64, 32)
    heap.trace.announce(pool + 128, 32)
    heap.trace.announce(pool + 192, 32)
    heap.trace.announceEnd(pool + 192)
    let other = heap.block()
    // The pool's header leads to the first, that to a block of malloc; the second is lost with what it holds.
    let lost = heap.block()
    heap.set(pool + 16, pool + 64)
    heap.set(pool + 72, other)
    heap.set(pool + 136, lost)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [lost, pool + 128])
    #expect(analysis.state(at: other) == .reached)
    #expect(names(analysis) == ["malloc 32 draggedAlong", "announced 32 rootLeak"])
  }

  @Test("A free list in blocks that were taken back holds no block")
  func freeList() throws {
    var (heap, pool) = pool(held: true)
    for offset in UInt64(0)..<4 { heap.trace.announce(pool + offset * 64, 64) }
    heap.trace.announceEnd(pool + 64)
    heap.trace.announceEnd(pool + 128)
    heap.set(SampleHeap.globals, pool)
    // The list: 128, then 64.
    heap.set(SampleHeap.globals + 8, pool + 128)
    heap.set(pool + 128, pool + 64)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [pool + 192])
  }

  @Test("Who has a block has its pool, which nothing else leads to")
  func poolIsHeldByItsBlocks() throws {
    var (heap, pool) = pool(held: false)
    heap.trace.announce(pool + 64, 32)
    heap.trace.announce(pool + 128, 32)
    let other = heap.block()
    heap.set(pool + 8, other)
    heap.set(SampleHeap.globals, pool + 64)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [pool + 128])
    #expect(analysis.state(at: pool) == .reached)
    #expect(analysis.state(at: other) == .reached)
  }

  @Test("A lost pool drags along what lies in it, and counts for the rest of its bytes")
  func lostPool() throws {
    var (heap, pool) = pool(held: false)
    heap.trace.announce(pool, 100)
    heap.trace.announce(pool + 128, 200)
    let analysis = try heap.analysis()
    #expect(
      names(analysis) == [
        "malloc 1024 rootLeak", "announced 100 draggedAlong", "announced 200 draggedAlong",
      ])
    #expect(analysis.leaks.subtreeBytes(of: 0) == 1024)
    #expect(analysis.leaks.subtreeCount(of: 0) == 3)
    #expect(analysis.leaks.edges(of: 0).map(\.offset) == [0, 128])
  }

  @Test("A cycle of announced blocks is one")
  func cycle() throws {
    var (heap, pool) = pool(held: true)
    heap.trace.announce(pool + 64, 32)
    heap.trace.announce(pool + 128, 32)
    heap.set(pool + 72, pool + 128)
    heap.set(pool + 136, pool + 64)
    let analysis = try heap.analysis()
    #expect(names(analysis) == ["announced 32 rootCycle", "announced 32 rootCycle"])
  }

  @Test("In a mapping the words of blocks are no roots, all others are")
  func mapping() throws {
    var heap = SampleHeap()
    let (first, second, third) = (heap.block(), heap.block(), heap.block())
    let start = SampleHeap.mapping
    heap.trace.announce(start + 64, 32)
    heap.trace.announce(start + 128, 32)
    heap.set(start + 8, first)
    heap.set(start + 72, second)
    heap.set(start + 136, third)
    heap.set(start + 16, start + 64)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [third, start + 128])
    #expect(analysis.rootKind(at: start + 64) == .mapping(path: nil))
    #expect(analysis.rootKind(at: second) == .mapping(path: nil))
    #expect(names(analysis) == ["malloc 32 draggedAlong", "announced 32 rootLeak"])
  }

  @Test("A pointer into the middle may hold, as that into any block")
  func interior() throws {
    var (heap, pool) = pool(held: true)
    heap.trace.announce(pool + 64, 32)
    heap.set(SampleHeap.globals + 8, pool + 80)
    let analysis = try heap.analysis()
    #expect(analysis.state(at: pool + 64) == .possible)
    #expect(analysis.leaked == [])
  }

  @Test("A pool in a pool: the innermost block is meant")
  func nested() throws {
    var (heap, pool) = pool(held: true)
    heap.trace.announce(pool + 64, 512)
    heap.trace.announce(pool + 128, 32)
    heap.trace.announce(pool + 192, 32)
    let other = heap.block()
    heap.set(SampleHeap.globals + 8, pool + 192)
    // A word of the pool in the pool, behind its blocks.
    heap.set(pool + 400, other)
    let analysis = try heap.analysis()
    #expect(analysis.leaked == [pool + 128])
    #expect(analysis.state(at: pool + 64) == .reached)
    #expect(analysis.state(at: other) == .reached)
  }

  @Test("An ignored block is none to report, nor what only it holds")
  func ignored() throws {
    var (heap, pool) = pool(held: true)
    heap.trace.announce(pool, 32)
    heap.trace.announce(pool + 64, 32)
    let (kept, held, lost) = (heap.block(), heap.block(), heap.block())
    heap.set(kept + 8, held)
    heap.set(SampleHeap.globals + 8, pool)
    heap.trace.ignored(kept + 4)
    heap.trace.ignored(pool + 64)
    var analysis = try heap.analysis()
    #expect(analysis.leaked == [lost])
    #expect(analysis.rootKind(at: kept) == .ignored)
    #expect(analysis.rootKind(at: held) == .ignored)
    #expect(analysis.rootKind(at: pool + 64) == .ignored)
    // What has been allocated since is another block.
    heap.trace.announceEnd(pool + 64)
    heap.trace.announce(pool + 64, 32)
    heap.trace.free(lost)
    analysis = try heap.analysis()
    #expect(analysis.leaked == [pool + 64])
  }
}
