import LeakAnalysis
import Testing
import TraceReader

/// Blocks of an allocator that stands in for libc's, such as jemalloc.
@Suite("What an allocator makes of requests")
struct BlockRoundingTests {
  private static let variables: UInt64 = 0x7e80_0000_0000
  private static let slab = SampleHeap.mapping + 0x1000

  /// A heap in a process whose libc has never been asked for memory, or has.
  private static func heap(libcIsUsed: Bool = false) -> SampleHeap {
    var heap = SampleHeap()
    let path = "/usr/lib/x86_64-linux-gnu/libc.so.6"
    heap.trace.image(
      Image(
        index: 1, path: path, loadBias: 0, start: Address(variables),
        end: Address(variables + 0x2000), textStart: Address(variables),
        textEnd: Address(variables)))
    heap.snapshot.region(variables..<variables + 0x2000, path: path)
    if libcIsUsed {
      for number in UInt64(0)..<127 {
        let head = variables + 0x200 + number * 16
        heap.set(head, head - 16, head - 16)
      }
    }
    return heap
  }

  @Test(
    "What lies right behind the requested bytes is another block, unless the allocator is libc's",
    arguments: [false, true])
  func neighbor(libcIsUsed: Bool) throws {
    var heap = Self.heap(libcIsUsed: libcIsUsed)
    heap.trace.header.flags.insert(.forked)
    let (block, unknown, held) = (Self.slab, Self.slab + 16, Self.slab + 0x100)
    heap.trace.allocate(block, 16)
    heap.trace.allocate(held, 16)
    heap.set(SampleHeap.globals, block)
    heap.set(unknown, held)
    #expect(try heap.analysis().leaked == (libcIsUsed ? [held] : []))
  }

  @Test(
    "What glibc leaves with a block that would be none by itself is used where no size stands",
    arguments: [false, true])
  func leftover(isUsed: Bool) throws {
    var heap = Self.heap(libcIsUsed: true)
    heap.trace.header.flags.insert(.usableSizes)
    let (held, kept, lost) = (heap.block(), heap.block(), heap.block())
    let block = Self.slab
    heap.trace.allocate(block, 40)
    heap.set(SampleHeap.globals, block)
    heap.set(block + 40, isUsed ? held : 0x31, kept, 0, lost)
    #expect(try heap.analysis().leaked == (isUsed ? [lost] : [held, kept, lost]))
    // Never beyond the beginning of the next block.
    heap.trace.allocate(block + 48, 16)
    let others = [kept, lost, block + 48]
    #expect(try heap.analysis().leaked == (isUsed ? others : [held] + others))
  }

  @Test(
    "Programs that ask for the usable size may use a size class, but not more of it than is there")
  func sizeClass() throws {
    var heap = Self.heap()
    heap.trace.header.flags.insert(.usableSizes)
    let lost = heap.block()
    let held = heap.block()
    let holder = Self.slab
    heap.trace.allocate(holder, 272)
    heap.set(SampleHeap.globals, holder)
    heap.set(holder + 312, held)
    heap.set(holder + 400, lost)
    #expect(try heap.analysis().leaked == [lost])
    // Greater blocks that are closer to each other tell more of the classes.
    for number in UInt64(0)..<2 { heap.trace.allocate(Self.slab + 0x1000 + number * 288, 280) }
    heap.set(SampleHeap.globals + 8, Self.slab + 0x1000, Self.slab + 0x1000 + 288)
    #expect(try heap.analysis().leaked == [lost, held])
  }
}
