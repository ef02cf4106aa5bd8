import LeakAnalysis
import Testing
import TraceReader

@Suite("Blocks that begin with words of their allocator")
struct HeaderBlockTests {
  /// Five blocks in a chain, by pointers to one place behind their beginnings.
  private func possible(
    place: UInt64 = 8, stacks: [UInt32] = [1, 2, 1, 2, 1], count: Int = 5,
    operation: Operation = .malloc, layouts: [UInt64: ObjectLayout] = [:],
    distance: UInt64 = 1 << 16, callers: [UInt32: [UInt64]] = [:],
    _ change: (inout SampleHeap, [UInt64]) -> Void = { _, _ in }
  ) throws -> Int {
    var heap = SampleHeap()
    let blocks = (0..<count).map {
      heap.block(64, stack: StackID(rawValue: stacks[$0]), operation: operation)
    }
    heap.set(SampleHeap.globals, blocks[0] + place)
    for (block, next) in zip(blocks, blocks.dropFirst()) { heap.set(block + 56, next + place) }
    change(&heap, blocks)
    // The first two stacks come from one call, each other one from its own.
    return try heap.analysis(
      layouts: layouts,
      allocatingCall: { 1 << 32 + (UInt64(max($0.rawValue, 2)) - 2) * distance },
      callers: { callers[$0.rawValue] ?? [] }
    ).reachability.count(of: .possible)
  }

  @Test("are held by pointers to what is behind these", arguments: [UInt64(8), 16])
  func held(_ place: UInt64) throws { #expect(try possible(place: place) == 0) }

  @Test("are held behind more words as well, of the runtime of a language that allocates with them")
  func headersOfRuntimes() throws {
    // Half of the blocks are texts: three more words are in front of them.
    func possible(texts: Int, count: Int) throws -> Int {
      try self.possible(stacks: Array(repeating: 1, count: count), count: count) { heap, blocks in
        for block in 1...texts { heap.set(blocks[block - 1] + 56, blocks[block] + 32) }
      }
    }
    #expect(try possible(texts: 4, count: 8) == 0)
    // Not enough objects, and not enough texts.
    #expect(try possible(texts: 5, count: 8) == 8)
    #expect(try possible(texts: 3, count: 8) == 8)
  }

  @Test("may be few from a call beside another one, as of realloc beside malloc")
  func callsBeside() throws {
    func possible(
      _ place: UInt64 = 8, distance: UInt64 = 4095,
      _ change: @escaping (inout SampleHeap, [UInt64]) -> Void = { _, _ in }
    ) throws -> Int {
      try self.possible(
        place: place, stacks: [1, 2, 1, 2, 3], distance: distance, change)
    }
    #expect(try possible() == 0)
    #expect(try possible(16) == 0)
    #expect(try possible(distance: 4096) == 1)
    // Words with tags tell nothing of where memory is handed out.
    #expect(try possible(6) == 1)
    #expect(try possible { heap, blocks in heap.set(blocks[3] + 56, blocks[4] + 16) } == 1)
    #expect(try possible { heap, blocks in heap.set(blocks[1] + 48, blocks[4] + 16) } == 1)
  }

  @Test("may be few from each of several calls beside each other")
  func severalCallsBeside() throws {
    func possible(_ count: Int, distance: UInt64 = 4095) throws -> Int {
      try self.possible(stacks: [1, 1, 3, 3, 3], count: count, distance: distance)
    }
    #expect(try possible(5) == 0)
    #expect(try possible(4) == 0)
    #expect(try possible(3) == 3)
    #expect(try possible(5, distance: 4096) == 5)
    let mixed = try self.possible(stacks: [1, 1, 3, 3, 3], distance: 4095) { heap, blocks in
      heap.set(blocks[3] + 56, blocks[4] + 16)
    }
    #expect(mixed == 5)
  }

  @Test(
    "are told by who calls a function that allocates for others, too, whose blocks have beginnings")
  func callersOfWrappers() throws {
    func possible(depth: Int, known: Int) throws -> Int {
      let shared = (1..<depth).map { UInt64($0) << 40 }
      let callers = { (stack: UInt64) in Array((shared + [stack << 44]).prefix(known)) }
      return try self.possible(
        stacks: [1, 1, 1, 1, 1], callers: [1: callers(1), 2: callers(2)]
      ) { heap, _ in
        let other = heap.block(64, stack: StackID(rawValue: 2))
        heap.set(SampleHeap.globals + 64, other)
      }
    }
    #expect(try possible(depth: 1, known: 0) == 5)
    #expect(try possible(depth: 1, known: 1) == 0)
    #expect(try possible(depth: 2, known: 1) == 5)
    #expect(try possible(depth: 2, known: 2) == 0)
  }

  @Test("are none where a caller of such a function has blocks that are held by their beginnings")
  func callersOfBoth() throws {
    let possible = try possible(stacks: [1, 1, 1, 1, 1], callers: [1: [1 << 40]]) { heap, _ in
      heap.set(SampleHeap.globals + 64, heap.block(64, stack: StackID(rawValue: 1)))
    }
    #expect(possible == 5)
  }

  @Test(
    "are held where a pointer leads to the address that was handed out, as behind a page of SQLite")
  func addressesBehind() throws {
    func possible(_ word: UInt64, place: UInt64 = 8) throws -> Int {
      try self.possible(place: place) { heap, blocks in
        let page = heap.block(128, stack: StackID(rawValue: 1))
        heap.set(blocks[4] + 56, page + 104)
        heap.set(page + 104, page + word)
      }
    }
    #expect(try possible(8) == 0)
    #expect(try possible(16, place: 16) == 0)
    #expect(try possible(16) == 1)
    #expect(try possible(24) == 1)
  }

  @Test("are leaks where only they themselves have the address that was handed out")
  func lost() throws {
    var heap = SampleHeap()
    let stack = StackID(rawValue: 1)
    let held = (0..<4).map { _ in heap.block(64, stack: stack) }
    for (index, block) in held.enumerated() {
      heap.set(SampleHeap.globals + UInt64(index) * 8, block + 8)
    }
    let page = heap.block(128, stack: stack)
    let array = heap.block(128, stack: StackID(rawValue: 2))
    heap.set(page + 104, page + 8, array + 8)
    let leaked = try heap.analysis(allocatingCall: { 1 << 32 + UInt64($0.rawValue) }).leaked
    #expect(Set(leaked) == [page, array])
  }

  @Test("are held by pointers with tags, where all owners have these, whoever allocated them")
  func tags() throws {
    let new = Operation(rawValue: 10)
    try #require(new.family == .new)
    #expect(try possible(place: 2) == 0)
    #expect(try possible(place: 2, operation: new) == 0)
    #expect(try possible(place: 7, count: 3) == 3)
    #expect(try possible(place: 2) { heap, blocks in heap.set(blocks[1] + 40, blocks[4]) } == 5)
    // Allocators have words in front of what they hand out, `operator new` has none.
    #expect(try possible(place: 8, operation: new) == 5)
  }

  @Test("are only where there are enough of them, and at the places where allocators hand out")
  func evidence() throws {
    #expect(try possible(count: 4) == 0)
    #expect(try possible(count: 3) == 3)
    #expect(try possible(place: 24) == 5)
    #expect(try possible(place: 12) == 5)
    // From different calls.
    #expect(try possible(stacks: [1, 2, 3, 4, 5]) == 5)
  }

  @Test(
    "are none where something leads to the beginning of one, or elsewhere only"
  )
  func disproved() throws {
    #expect(try possible { heap, blocks in heap.set(blocks[1] + 40, blocks[4]) } == 5)
    #expect(try possible { heap, blocks in heap.set(blocks[3] + 56, blocks[4] + 16) } == 1)
  }

  @Test("are also where a word leads to the beginning of one in a hundred, in which it was left")
  func leftovers() throws {
    func possible(words: Int, count: Int) throws -> Int {
      try self.possible(stacks: Array(repeating: 1, count: count), count: count) { heap, blocks in
        for block in 0..<words { heap.set(blocks[block] + 40, blocks[count - 1 - block]) }
      }
    }
    #expect(try possible(words: 1, count: 100) == 0)
    #expect(try possible(words: 1, count: 99) > 0)
    #expect(try possible(words: 2, count: 199) > 0)
  }

  @Test("may have more pointers to them, also what is left of their allocation on a stack")
  func others() throws {
    #expect(try possible { heap, blocks in heap.set(blocks[1] + 40, blocks[4] + 48) } == 0)
    #expect(try possible { heap, blocks in heap.set(SampleHeap.stackPointer, blocks[4]) } == 0)
  }

  @Test("may have pointers to them in the frames of async functions, where anything is left")
  func asyncFrames() throws {
    func possible(isTask: Bool) throws -> Int {
      try self.possible { heap, blocks in
        let task = SampleHeap.constants + 0x500
        if isTask { heap.snapshot.addClass("", at: task, kind: 3) }
        let slab = heap.block(
          128, words: [task, 0, 32 << 32 | 96, 0, 0, blocks[4]], stack: StackID(rawValue: 9))
        heap.set(SampleHeap.globals + 8, slab)
      }
    }
    #expect(try possible(isTask: true) == 0)
    #expect(try possible(isTask: false) == 4)
  }

  @Test("may have pointers to them in arrays of bytes, behind those that are in use")
  func arraysOfBytes() throws {
    func possible(hasSmallElements: Bool) throws -> Int {
      let metadata = SampleHeap.constants + 0x200
      let layout = ObjectLayout(hasSmallElements: hasSmallElements)
      return try self.possible(layouts: [metadata: layout]) { heap, blocks in
        let array = heap.block(
          64, words: [metadata, 3, 0, 0, 0, blocks[4]], stack: StackID(rawValue: 9))
        heap.set(SampleHeap.globals + 8, array)
      }
    }
    #expect(try possible(hasSmallElements: true) == 0)
    #expect(try possible(hasSmallElements: false) == 4)
  }
}
