import CTraceFormat
import LeakAnalysis
import Testing
import TraceReader

@Suite("Pointers into freed blocks")
struct DanglingTests {
  private typealias Confidence = DanglingPointer.Confidence

  private static let variable = SampleHeap.globals + 0x10

  @Test("A variable that points to the beginning of a freed block")
  func variable() throws {
    var heap = SampleHeap()
    let stack = heap.trace.stack([0x40_1100])
    let node = heap.block(16, stack: stack)
    heap.free(node)
    heap.set(Self.variable, node)
    let found = try heap.dangling()
    let pointer = try #require(found.first)
    #expect(found.count == 1)
    #expect(pointer.confidence == .likely)
    #expect(pointer.isStart)
    #expect(pointer.value == node)
    #expect((pointer.freed.address, pointer.freed.size) == (node, 16))
    #expect(pointer.freed.allocation.stack == stack)
    #expect(pointer.freed.deallocation.operation == .free)
    guard case .root(let slot) = pointer.holder else {
      Issue.record("not in a variable")
      return
    }
    #expect(slot.address == Self.variable)
    #expect(slot.root.kind == .global(image: 0))
  }

  @Test("An event will bring back a block that is freed")
  func kernel() throws {
    var heap = SampleHeap()
    let node = heap.block(16)
    heap.free(node)
    heap.snapshot.kernelWords = [(7, 1, 5), (node, 1, 5)]
    let pointer = try #require(try heap.dangling().first)
    #expect(pointer.confidence == .doubtful)
    #expect(pointer.value == node)
    guard case .root(let slot) = pointer.holder else {
      Issue.record("not in the kernel")
      return
    }
    #expect((slot.root.kind, slot.address) == (.kernel, 8))
  }

  @Test("Neither what points to a live block, nor to an end, nor to where never was one")
  func others() throws {
    var heap = SampleHeap()
    // 40 bytes are all of the allocator's piece: the end is where the header of the next begins.
    let array = heap.block(40)
    let behind = heap.block(24)
    let freed = heap.block(24)
    _ = heap.block()
    heap.free(behind)
    heap.free(freed)
    heap.set(
      Self.variable, array, array + 40, freed + 24, SampleHeap.heap + 0x8000,
      SampleHeap.mapping + 8)
    #expect(try heap.dangling().isEmpty)
  }

  @Test("Weak references see in the side table of a freed object that it is gone")
  func sideTableOfAFreedObject() throws {
    var heap = SampleHeap()
    let object = heap.block(48)
    let table = heap.block(32, words: [object, 0, 1 << 32 | 1, 1])
    _ = heap.block()
    heap.free(object)
    heap.set(Self.variable, table)
    #expect(try heap.dangling(allocatesSideTables: true).isEmpty)
    // Other code has such blocks, too.
    #expect(try heap.dangling().map(\.value) == [object])
  }

  @Test("What is left in a deinitialized object is not followed", arguments: [false, true])
  func deinitializedObject(_ isGone: Bool) throws {
    let metadata = SampleHeap.constants + 0x100
    var heap = SampleHeap()
    let node = heap.block(48)
    let counts: UInt64 = isGone ? 1 << 32 | 3 : 3
    let object = heap.block(32, words: [metadata, counts, node])
    _ = heap.block()
    heap.free(node)
    heap.set(Self.variable, object)
    let found = try heap.dangling(
      layouts: [metadata: ObjectLayout(size: 24, isInstance: true)])
    #expect(found.map(\.offset) == (isGone ? [] : [16]))
  }

  @Test("What only identifies a freed object is not followed")
  func identifiers() throws {
    let metadata = SampleHeap.constants + 0x100
    var heap = SampleHeap()
    let node = heap.block(32)
    let holder = heap.block(40, words: [metadata, 3, node, node, node])
    _ = heap.block()
    heap.free(node)
    heap.set(Self.variable, holder)
    let layout = ObjectLayout(
      size: 40, unownedOffsets: [24], identifierOffsets: [16], identifiersFromEnd: [8])
    #expect(try heap.dangling(layouts: [metadata: layout]).map(\.offset) == [24])
    #expect(try heap.dangling().map(\.offset).sorted() == [16, 24, 32])
  }

  @Test("What was left behind a value of any type is not followed")
  func behindValues() throws {
    let (metadata, content) = (SampleHeap.constants + 0x100, SampleHeap.constants + 0x200)
    var heap = SampleHeap()
    let object = heap.block(32, words: [content, 3])
    let node = heap.block(32)
    let holder = heap.block(56, words: [metadata, 3, object, node, node, content, node])
    _ = heap.block()
    heap.free(node)
    heap.set(Self.variable, holder)
    let layout = ObjectLayout(size: 56, existentialOffsets: [16])
    #expect(try heap.dangling(layouts: [metadata: layout]).map(\.offset) == [48])
    #expect(try heap.dangling().map(\.offset).sorted() == [24, 32, 48])
  }

  @Test("The key by which libdispatch keeps something for a queue is not followed")
  func keysOfQueues() throws {
    var heap = SampleHeap()
    heap.snapshot.addClass("", at: 3, kind: MT_SNAPSHOT_DISPATCH.rawValue)
    let stack = heap.trace.stack([0x40_1100])
    let keys = [heap.block(16), heap.block(16), heap.block(16)]
    let list = heap.block(24, stack: stack)
    let (first, last) = (heap.block(40, stack: stack), heap.block(40, stack: stack))
    heap.set(list, 0, first, last)
    heap.set(first, keys[0], keys[1], 0, last, 0)
    heap.set(last, keys[2], 0, 0, 0, first)
    heap.set(Self.variable, list)
    keys.forEach { heap.free($0) }
    #expect(try heap.dangling(isOfDispatch: { $0 == stack }).map(\.value) == [keys[1]])
    #expect(try heap.dangling().map(\.value).sorted() == keys)
    // Where the list does not lead back, it is something else.
    heap.set(last + 32, 0)
    #expect(try heap.dangling(isOfDispatch: { $0 == stack }).count == 3)
  }

  @Test("The group that earlier work of libdispatch belonged to is not followed")
  func groupsOfEarlierWork() throws {
    var heap = SampleHeap()
    heap.snapshot.addClass("", at: 3, kind: MT_SNAPSHOT_DISPATCH.rawValue)
    let stack = heap.trace.stack([0x40_1100])
    let (work, group) = (heap.block(32), heap.block(216))
    let record = heap.block(64, words: [0, 0, 0, 0, 0, work, group], stack: stack)
    heap.set(Self.variable, record)
    heap.free(work)
    heap.free(group)
    #expect(try heap.dangling(isOfDispatch: { $0 == stack }).map(\.value) == [work])
    #expect(try heap.dangling().map(\.value) == [work, group])
    // One with a table of functions says by that what it names.
    heap.set(record, SampleHeap.constants)
    #expect(try heap.dangling(isOfDispatch: { $0 == stack }).map(\.value) == [work, group])
  }

  @Test("What was freed, and is part of another block now, cannot be seen")
  func usedAgain() throws {
    var heap = SampleHeap()
    let old = heap.block()
    heap.free(old)
    heap.trace.allocate(old, 32)
    heap.set(Self.variable, old)
    #expect(try heap.dangling().isEmpty)
  }

  @Test("The last of several blocks is meant")
  func lastBlock() throws {
    var heap = SampleHeap()
    let block = heap.block(48)
    heap.free(block)
    heap.trace.allocate(block, 32, .init(rawValue: 10))
    heap.free(block)
    heap.set(Self.variable, block)
    let pointer = try #require(try heap.dangling().first)
    #expect(pointer.freed.size == 32)
    #expect(!pointer.freed.isFirst)
  }

  @Test("A pointer into the middle is less sure, and one just in front of a block is none")
  func interior() throws {
    var heap = SampleHeap()
    let text = heap.block(100)
    let next = heap.block()
    heap.free(text)
    heap.set(Self.variable, text + 40, next, next - 16)
    // A number that is like an address where the heap is so low.
    #expect(try heap.dangling().map(\.confidence) == [.doubtful])
  }

  @Test("The elements of an array with a count in front of them")
  func arrayWithCount() throws {
    var heap = SampleHeap()
    let array = heap.block(88, operation: .init(rawValue: 14))
    heap.free(array)
    heap.set(Self.variable, array + 8)
    let isArray = Operation(rawValue: 14).family == .newArray
    try #require(isArray)
    #expect(try heap.dangling().map(\.isStart) == [true])
  }

  @Test("A field of a live block, by what was in its memory before")
  func fields() throws {
    var heap = SampleHeap()
    let fresh = heap.block(32)
    let used = heap.block(32)
    heap.free(used)
    heap.trace.allocate(used, 32)
    let cleared = heap.block(32)
    heap.free(cleared)
    heap.trace.allocate(cleared, 32, .calloc)
    let node = heap.block(16)
    // This one is older than the second holder, so that what was there before may have pointed to it.
    let old = heap.block(16)
    heap.free(used)
    heap.trace.allocate(used, 32)
    let young = heap.block(16)
    for freed in [node, old, young] { heap.free(freed) }
    heap.set(Self.variable, fresh, used, cleared)
    heap.set(fresh, 0, node)
    heap.set(used, old, young)
    heap.set(cleared, old)
    let found = try heap.dangling().map { ($0.value, $0.offset, $0.confidence) }
    #expect(found.count == 4)
    #expect(found.contains { $0 == (node, 8, Confidence.likely) })
    #expect(found.contains { $0 == (old, 0, Confidence.doubtful) })
    #expect(found.contains { $0 == (young, 8, Confidence.likely) })
    #expect(found.contains { $0 == (old, 0, Confidence.likely) })
  }

  @Test("A block that was allocated after the other was freed cannot have been given its address")
  func youngerHolder() throws {
    var heap = SampleHeap()
    let node = heap.block(16)
    heap.free(node)
    let holder = heap.block(words: [node])
    heap.set(Self.variable, holder)
    #expect(try heap.dangling().isEmpty)
  }

  @Test("A holder that nothing can reach holds nothing")
  func leakedHolder() throws {
    var heap = SampleHeap()
    let holder = heap.block(words: [SampleHeap.heap + 16 + 48])
    let node = heap.block(16)
    #expect(node == SampleHeap.heap + 16 + 48)
    heap.free(node)
    #expect(try heap.dangling().isEmpty)
    heap.set(Self.variable, holder)
    #expect(try heap.dangling().count == 1)
  }

  @Test("Stacks, registers, mappings and large blocks say less than variables")
  func lessSurePlaces() throws {
    let freed = SampleHeap.heap + 16
    var heap = SampleHeap(registers: [freed])
    let node = heap.block(16)
    #expect(node == freed)
    let large = heap.block(4096, words: [0, node, node + 8])
    heap.free(node)
    heap.set(Self.variable, large)
    heap.set(SampleHeap.mapping + 0x100, node)
    heap.set(SampleHeap.stackPointer + 0x20, node)
    // Below the stack pointer nothing is alive.
    heap.set(SampleHeap.stackPointer - 0x200, node)
    let found = try heap.dangling().map(\.confidence).sorted()
    #expect(found == [.possible, .doubtful, .doubtful, .doubtful, .doubtful])
  }

  @Test("A cache of the allocator itself lies where a block was")
  func threadCache() throws {
    var heap = SampleHeap()
    let block = heap.block(640)
    let free = heap.block(32)
    heap.free(block)
    heap.free(free)
    heap.set(block + 128, free, 0, free)
    heap.set(SampleHeap.threadPointer - 0x40, block)
    #expect(try heap.dangling().map(\.confidence) == [.doubtful])
    heap.set(block, free)
    #expect(try heap.dangling().map(\.confidence) == [.likely])
  }

  @Test("What a vector has behind its last element is not in use")
  func vector() throws {
    var heap = SampleHeap()
    let storage = heap.block(40)
    let nodes = (0..<3).map { _ in heap.block(16) }
    heap.snapshot.words(at: storage, nodes)
    heap.set(Self.variable, storage, storage + 16, storage + 40)
    for node in nodes { heap.free(node) }
    let found = try heap.dangling().sorted { $0.offset < $1.offset }
    #expect(found.map(\.confidence) == [.likely, .likely, .doubtful])
  }

  @Test("What a deque has outside of its first and last part is not in use")
  func deque() throws {
    var heap = SampleHeap()
    let map = heap.block(64)
    let parts = (0..<4).map { _ in heap.block(504) }
    heap.set(map + 8, parts[0], parts[1], parts[2], parts[3])
    for part in [parts[0], parts[3]] { heap.free(part) }
    func iterator(_ number: Int) -> [UInt64] {
      [parts[number] + 16, parts[number], parts[number] + 504, map + 8 + 8 * UInt64(number)]
    }
    heap.snapshot.words(at: Self.variable, [map, 8] + iterator(1) + iterator(2))
    #expect(try heap.dangling().map(\.confidence) == [.doubtful, .doubtful])
  }

  @Test("How many elements of an array of Swift are in use, nobody knows")
  func swiftArray() throws {
    var heap = SampleHeap()
    let array = heap.block(64)
    let object = heap.block(32)
    heap.set(array, SampleHeap.constants, 3, 0, 0, object)
    heap.free(object)
    heap.set(Self.variable, array)
    let layout = ObjectLayout(size: 32, isArray: true)
    #expect(try heap.dangling().map(\.confidence) == [.likely])
    let known = try heap.dangling(layouts: [SampleHeap.constants: layout])
    #expect(known.map(\.confidence) == [.doubtful])
  }

  @Test("Frames of async functions keep what they used, tasks what they began with")
  func asyncFrames() throws {
    let type = SampleHeap.constants + 0x500
    func confidence(ofTask isTask: Bool, use: UInt64) throws -> [Confidence] {
      var heap = SampleHeap()
      heap.snapshot.addClass("", at: type, kind: 3)
      let holder = heap.block(128, words: [type, 0, use, 0, 0])
      let object = heap.block(32)
      heap.set(holder + 40, object)
      heap.free(object)
      heap.set(Self.variable, holder)
      return try heap.dangling(layouts: [type: ObjectLayout(isTask: isTask)]).map(\.confidence)
    }
    let slab: UInt64 = 32 << 32 | 96
    #expect(try confidence(ofTask: false, use: 0) == [.likely])
    #expect(try confidence(ofTask: false, use: slab) == [.doubtful])
    #expect(try confidence(ofTask: true, use: 0) == [.doubtful])
  }

  /// libstdc++'s and libc++'s counts.
  @Test("A weak pointer that has expired is not followed", arguments: [1 << 32, UInt64.max])
  func weakPointer(owners: UInt64) throws {
    #expect(try Self.countedAndFreed(owners: owners) == [.doubtful, .doubtful])
  }

  @Test(
    "A pointer whose object somebody else has deleted does dangle", arguments: [0, 3, 1 << 32 | 1])
  func sharedPointer(owners: UInt64) throws {
    #expect(try Self.countedAndFreed(owners: owners) == [.likely, .likely])
  }

  /// What is said of a pointer to a freed object, and of that of the counts beside it.
  private static func countedAndFreed(owners: UInt64) throws -> [Confidence] {
    var heap = SampleHeap()
    let object = heap.block(16)
    let counts = heap.block(24, words: [SampleHeap.constants, owners, object])
    heap.free(object)
    heap.set(variable, object, counts)
    return try heap.dangling().map(\.confidence)
  }
}
