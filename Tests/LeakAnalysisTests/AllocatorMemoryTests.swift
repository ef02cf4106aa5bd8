import LeakAnalysis
import Testing
import TraceReader

@Suite("What belongs to the allocator")
struct AllocatorMemoryTests {
  private static let arena: UInt64 = 0x7e00_0000_0000

  @Test("A page that the program mapped holds, even next to a block that malloc mapped")
  func mergedMapping() throws {
    var heap = SampleHeap()
    let held = heap.block()
    heap.set(SampleHeap.globals, heap.mappedBlock())
    heap.set(SampleHeap.mapping + 0x200, held)
    #expect(try heap.analysis().leaked == [])
  }

  @Test("A block that malloc mapped holds others only where something holds it")
  func mappedBlock() throws {
    var heap = SampleHeap()
    let child = heap.block()
    let block = heap.mappedBlock()
    heap.set(block, child, block)
    #expect(try heap.analysis().leaked == [child, block])
    #expect(try heap.analysis().roots == [block])
    heap.set(SampleHeap.globals, block)
    #expect(try heap.analysis().leaked == [])
  }

  @Test("A block that malloc mapped for the stack of a thread that runs on it holds others")
  func mappedStack() throws {
    var heap = SampleHeap()
    let held = heap.block()
    let stack = heap.mappedBlock()
    heap.snapshot.thread(1, tid: 4712, sp: stack + 0x7000)
    heap.set(stack + 0x7100, held)
    #expect(try heap.analysis().state(at: held) == .reached)
  }

  @Test("A block in two mappings, of which the program protects a part, is no root in either")
  func dividedBlock() throws {
    var heap = SampleHeap()
    let child = heap.block()
    let next = SampleHeap.mapping + 0x1_0000
    heap.snapshot.region(next..<next + 0x1_0000, protection: .read)
    let block = heap.mappedBlock(0x1_0000)
    heap.set(next + 0x100, child)
    #expect(try heap.analysis().leaked == [child, block])
  }

  @Test("Freed memory of a further arena holds nothing, but what is mapped behind it does")
  func arena() throws {
    var heap = SampleHeap()
    heap.snapshot.region(Self.arena..<Self.arena + 0x2_1000)
    heap.set(Self.arena, Self.arena + 0x30)
    let small = Self.arena + 0x900
    heap.trace.allocate(small, 48)
    heap.set(Self.arena + 0x1000, small)
    #expect(try heap.analysis().leaked == [small])
  }

  @Test("A further arena without any live block is known by its lists")
  func emptyArena() throws {
    var heap = SampleHeap()
    let stale = heap.block()
    let behind = heap.block()
    let next = Self.arena + 64 << 20
    heap.snapshot.region(Self.arena - 0x1000..<next + 0x1000)
    heap.setArena(Self.arena + 0x30)
    heap.set(Self.arena + 0x1000, stale)
    heap.set(next + 0x100, behind)
    #expect(try heap.analysis().leaked == [stale])
  }

  @Test("A further heap of an arena without any live block names the one before it")
  func emptyHeap() throws {
    var heap = SampleHeap()
    let stale = heap.block()
    let next = Self.arena + 64 << 20
    heap.snapshot.region(Self.arena..<Self.arena + 0x2_1000)
    heap.snapshot.region(next..<next + 0x2_1000)
    heap.setArena(Self.arena + 0x30)
    heap.set(next, Self.arena + 0x30, Self.arena)
    heap.set(next + 0x1000, stale)
    #expect(try heap.analysis().leaked == [stale])
    heap.set(next, Self.arena + 0x30, Self.arena + 0x1_0000)
    #expect(try heap.analysis().leaked == [])
  }

  @Test("What a program maps on a multiple of 64 MiB holds, though it begins as an arena does")
  func likeAnArena() throws {
    var heap = SampleHeap()
    let held = heap.block()
    heap.snapshot.region(Self.arena..<Self.arena + 0x2_1000)
    heap.set(Self.arena, Self.arena + 0x30)
    heap.set(Self.arena + 0x1000, held)
    #expect(try heap.analysis().leaked == [])
    var linked = heap
    heap.setArena(Self.arena + 0x30)
    #expect(try heap.analysis().leaked == [held])
    // The first heap of an arena has none before it; a list leads somewhere.
    heap.set(Self.arena + 8, Self.arena)
    #expect(try heap.analysis().leaked == [])
    linked.setArena(Self.arena + 0x30, firstList: 24)
    #expect(try linked.analysis().leaked == [])
  }

  @Test("Mappings as great as all memory, as only a damaged trace has them")
  func greatMapping() throws {
    var heap = SampleHeap()
    let held = heap.block()
    heap.snapshot.region(SampleHeap.stack + 0x10_0000..<0x7fff_ffff_ffff_f000)
    heap.set(0x7fff_ffff_ffff_e000, held)
    #expect(try heap.analysis().leaked == [])
  }

  @Test("Freed memory of another allocator holds nothing")
  func foreign() throws {
    var heap = SampleHeap()
    let block = SampleHeap.mapping + 0x80
    heap.trace.allocate(block, 48)
    heap.set(SampleHeap.mapping + 0x1000, block)
    #expect(try heap.analysis().leaked == [block])
  }

  @Test(
    "The lists of free memory in libc hold nothing, the variables around them do",
    arguments: [1, 120, 126] as [UInt64])
  func mainArena(usedLists: UInt64) throws {
    var heap = SampleHeap()
    let stale = heap.block()
    let before = heap.block()
    let behind = heap.block()
    let bins = SampleHeap.globals + 0x200
    // The first lists are not empty, all others are.
    for number in UInt64(0)..<127 {
      let list = bins + number * 16
      let chunk = number < usedLists ? SampleHeap.heap + 0x9000 : list - 16
      heap.set(list, chunk, chunk)
    }
    heap.set(bins - 8, stale)
    heap.set(bins - 112 - 8, before)
    heap.set(bins + 127 * 16 + 56, behind)
    #expect(try heap.analysis().leaked == [stale])
  }

  @Test("Fewer lists of the same form are not libc's: what is in front of them holds")
  func listsOfAnotherAllocator() throws {
    var heap = SampleHeap()
    let held = heap.block()
    let lists = SampleHeap.globals + 0xa00
    for number in UInt64(0)..<64 {
      let list = lists + number * 16
      heap.set(list, list - 16, list - 16)
    }
    heap.set(lists - 0x200, held)
    #expect(try heap.analysis().leaked == [])
  }

  @Test("Lists of free memory at the end of all addresses, as only a damaged trace has them")
  func mainArenaAtTheEnd() throws {
    var heap = SampleHeap()
    let stale = heap.block()
    let (start, end): (UInt64, UInt64) = (0xffff_ffff_ffff_0000, 0xffff_ffff_ffff_fff0)
    heap.trace.image(
      Image(
        index: 1, path: "/opt/app/last.so", loadBias: start, start: Address(start),
        end: Address(end), textStart: Address(start), textEnd: Address(start + 0x1000)))
    heap.snapshot.region(start..<end, path: "/opt/app/last.so")
    let last: UInt64 = 0xffff_ffff_ffff_ffc0
    for number in UInt64(0)..<126 {
      let list = last - number * 16
      heap.set(list, list - 16, list - 16)
    }
    heap.set(last - 126 * 16, stale, stale)
    #expect(try heap.analysis().leaked == [stale])
  }

  @Test("The stack of a thread that has ended holds nothing, that of a coroutine does")
  func endedThread() throws {
    var heap = SampleHeap()
    let byEnded = heap.block()
    let byCoroutine = heap.block()
    for start: UInt64 in [0x7d00_0000_0000, 0x7d01_0000_0000] {
      heap.snapshot.region(start - 0x1000..<start, protection: [], isKept: false)
      heap.snapshot.region(start..<start + 0x1_0000)
    }
    let control: UInt64 = 0x7d00_0000_f700
    heap.set(control, control, 0, control)
    heap.set(control - 0x100, byEnded)
    heap.set(0x7d01_0000_8000, byCoroutine)
    #expect(try heap.analysis().leaked == [byEnded])
  }

  @Test("What the program mapped right behind the stack of an ended thread holds")
  func mappingBehindEndedThread() throws {
    var heap = SampleHeap()
    let byEnded = heap.block()
    let byMapping = heap.block()
    heap.snapshot.region(0x7cff_ffff_f000..<0x7d00_0000_0000, protection: [], isKept: false)
    heap.snapshot.region(0x7d00_0000_0000..<0x7d00_0002_0000)
    let control: UInt64 = 0x7d00_0000_f700
    heap.set(control, control, 0, control)
    heap.set(control + 0x300, byEnded)
    heap.set(0x7d00_0001_0000, byMapping)
    #expect(try heap.analysis().leaked == [byEnded])
  }

  @Test("Below a stack pointer, a mapping without a guard may hold the stacks of others")
  func fibersSideBySide() throws {
    var heap = SampleHeap()
    let byOther = heap.block()
    heap.snapshot.region(0x7d00_0000_0000..<0x7d00_0002_0000)
    heap.snapshot.thread(2, tid: 4712, sp: 0x7d00_0001_8000, tlsBase: 0)
    heap.set(0x7d00_0000_4000, byOther)
    #expect(try heap.analysis().leaked == [])
    heap.snapshot.region(0x7cff_ffff_f000..<0x7d00_0000_0000, protection: [], isKept: false)
    #expect(try heap.analysis().leaked == [byOther])
  }
}

extension SampleHeap {
  /// Sets the words of an arena that lies in the heap it begins with, and has one list of free memory.
  fileprivate mutating func setArena(_ arena: UInt64, firstList: UInt64? = nil) {
    set(arena & ~0xffff, arena)
    let bins = arena + 112
    set(bins, firstList ?? arena + 0x1000, arena + 0x1000)
    for list in stride(from: bins + 16, to: bins + 127 * 16, by: 16) {
      set(list, list - 16, list - 16)
    }
  }

  /// Adds a block that its allocator mapped on its own, next to what the program mapped.
  ///
  /// - Returns: Its address.
  fileprivate mutating func mappedBlock(_ size: UInt64 = 0x8000) -> UInt64 {
    let block = Self.mapping + 0x4010
    trace.allocate(block, size)
    return block
  }
}
