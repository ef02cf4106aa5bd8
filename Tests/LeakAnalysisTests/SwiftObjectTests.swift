import CTraceFormat
import LeakAnalysis
import Testing
import TraceReader

@Suite("Objects of Swift")
struct SwiftObjectTests {
  private static let metadata = SampleHeap.constants + 0x200
  /// The counts of an object that is held once.
  private static let counts: UInt64 = 3

  /// Makes the objects that begin with `metadata` known as those of a Swift class.
  private func declareClass(in heap: inout SampleHeap) {
    heap.trace.type(
      BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.List", words: [Self.metadata]),
      code: 1)
  }

  @Test("An object holds its side table; the side table does not hold the object")
  func sideTable() throws {
    var heap = SampleHeap()
    let table = heap.block(32)
    let object = heap.block(32, words: [Self.metadata, table >> 3 | 3 << 62])
    heap.set(table, object)
    heap.set(SampleHeap.globals, object)
    #expect(try heap.analysis().leaked == [])

    // Only a weak variable is left: it points to the side table.
    heap.set(SampleHeap.globals, table)
    #expect(try heap.analysis().leaked == [object])
  }

  @Test("The side table of an object that was freed does not hold what is in its place")
  func sideTableOfAFreedObject() throws {
    var heap = SampleHeap()
    let later = heap.block(32, words: [Self.metadata, Self.counts])
    let table = heap.block(32, words: [later, 0, 1 << 32 | 1, 1])
    heap.set(SampleHeap.globals, table)
    #expect(try heap.analysis(allocatesSideTables: true).leaked == [later])
    // Other code has such blocks, too.
    #expect(try heap.analysis().leaked == [])
  }

  @Test("What was in the memory of a side table before does not hold", arguments: [false, true])
  func leftInSideTable(_ isFreed: Bool) throws {
    var heap = SampleHeap()
    heap.trace.header.flags.insert(.usableSizes)
    let (lost, gone) = (heap.block(32), heap.block(32))
    // Glibc leaves eight bytes behind the table. The word between its parts looks like counts.
    let table = heap.block(32)
    let object = heap.block(
      32, words: [Self.metadata, isFreed ? Self.counts : table >> 3 | 3 << 62])
    heap.set(table, object, lost | 1, isFreed ? 1 << 32 | 1 : Self.counts, 2, gone)
    heap.set(SampleHeap.globals, table, object)
    #expect(try heap.analysis(allocatesSideTables: true).leaked == [lost, gone])
  }

  @Test("A pointer is no count of references: behind its block nothing is looked at")
  func pointerInPlaceOfCounts() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.formUnion([.usableSizes, .usableSizesOfObjects])
    declareClass(in: &heap)
    let (held, lost) = (heap.block(32), heap.block(32))
    let block = heap.block(24, words: [held, held, 0, lost])
    let object = heap.block(24, words: [Self.metadata, Self.counts, 0, held])
    heap.set(SampleHeap.globals, block, object)
    #expect(try heap.analysis().leaked == [lost])
  }

  @Test("What the runtime knows of types holds what the runtime allocates, and nothing else")
  func metadataOfTypes() throws {
    var heap = SampleHeap()
    let (ofTypes, ofRuntime) = (StackID(7), StackID(8))
    heap.trace.type(
      BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.List", words: [Self.metadata]),
      code: 1)
    let object = heap.block(24, words: [Self.metadata, Self.counts])
    let others = heap.block(24)
    let (entry, name) = (heap.block(24, stack: ofTypes), heap.block(24, stack: ofRuntime))
    let slab = heap.block(64, words: [0x200, entry, object, others, name], stack: ofTypes)
    heap.set(SampleHeap.globals, slab)
    let layouts = [Self.metadata: ObjectLayout(size: 24)]
    let analysis = try heap.analysis(
      layouts: layouts, isSwiftMetadata: { $0 == ofTypes },
      isUnnamedOfSwiftRuntime: { $0 == ofRuntime })
    #expect(analysis.leaked == [object, others])
    #expect(try heap.analysis(layouts: layouts).leaked == [])
    // The same block somewhere else.
    heap.set(SampleHeap.globals + 8, heap.block(64, words: [0x200, 0, object, others]))
    #expect(
      try heap.analysis(
        layouts: layouts, isSwiftMetadata: { $0 == ofTypes },
        isUnnamedOfSwiftRuntime: { $0 == ofRuntime }
      ).leaked == [])
  }

  @Test("A table of the runtime that begins with the address of a type holds no objects either")
  func tableOfTypes() throws {
    var heap = SampleHeap()
    let ofTypes = StackID(7)
    heap.trace.type(
      BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.List", words: [Self.metadata]),
      code: 1)
    let object = heap.block(24, words: [Self.metadata, Self.counts])
    let name = heap.block(24, stack: ofTypes)
    let table = heap.block(64, words: [Self.metadata, name, 0, object], stack: ofTypes)
    heap.set(SampleHeap.globals, table)
    let layouts = [Self.metadata: ObjectLayout(size: 64)]
    #expect(
      try heap.analysis(layouts: layouts, isSwiftMetadata: { $0 == ofTypes }).leaked == [object])
    // An object holds what it points to, whoever allocated it.
    heap.set(table, Self.metadata, Self.counts)
    #expect(
      try heap.analysis(layouts: layouts, isSwiftMetadata: { $0 == ofTypes }).leaked == [name])
  }

  @Test("The side table of an object that waits for unowned references holds its memory")
  func sideTableOfADeadObject() throws {
    var heap = SampleHeap()
    let dead = heap.block(32, words: [Self.metadata, Self.counts | 1 << 32])
    let table = heap.block(32, words: [dead, 0, 1 << 32 | 3, 1])
    heap.set(SampleHeap.globals, table)
    #expect(try heap.analysis(allocatesSideTables: true).leaked == [])
  }

  @Test("An enum's tag in the highest byte does not hide the object")
  func taggedObject() throws {
    var heap = SampleHeap()
    let object = heap.block(32, words: [Self.metadata, Self.counts])
    let other = heap.block(32, words: [0, Self.counts])
    heap.set(SampleHeap.globals, object | 0x4000 << 48, other | 0x4000 << 48)
    let analysis = try heap.analysis()
    #expect(analysis.state(at: object) == .reached)
    #expect(analysis.state(at: other) == .possible)
  }

  @Test("Any number of unowned references makes the counts of an object", arguments: [3, 5, 7, 9])
  func unownedCount(_ counts: UInt64) throws {
    var heap = SampleHeap()
    let object = heap.block(32, words: [Self.metadata, counts])
    heap.set(SampleHeap.globals, object | 0x4000 << 48)
    #expect(try heap.analysis().state(at: object) == .reached)
  }

  @Test("An unowned reference does not hold a living object, but the memory of one taken down")
  func unowned() throws {
    var heap = SampleHeap()
    let living = heap.block(32, words: [Self.metadata, Self.counts])
    let takenDown = heap.block(32, words: [Self.metadata, Self.counts | 1 << 32])
    let holder = heap.block(40, words: [Self.metadata + 0x100, Self.counts, living, takenDown])
    heap.set(SampleHeap.globals, holder)
    let layouts = [Self.metadata + 0x100: ObjectLayout(unownedOffsets: [16, 24])]
    #expect(try heap.analysis(layouts: layouts).leaked == [living])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("Neither does one at a known distance from the end of what was requested")
  func unownedFromTheEnd() throws {
    var heap = SampleHeap()
    let living = heap.block(32, words: [Self.metadata, Self.counts])
    let generic = heap.block(32, words: [Self.metadata + 0x100, Self.counts, 1, living])
    let plain = heap.block(24, words: [Self.metadata + 0x100, Self.counts, living])
    heap.set(SampleHeap.globals, generic, plain)
    let layouts = [Self.metadata + 0x100: ObjectLayout(unownedFromEnd: [8])]
    #expect(try heap.analysis(layouts: layouts).leaked == [living])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("What is left behind an object in an existential container does not hold")
  func existentials() throws {
    var heap = SampleHeap()
    let object = heap.block(32, words: [Self.metadata, Self.counts])
    let (lost, gone, held, kept) = (heap.block(32), heap.block(32), heap.block(32), heap.block(32))
    // The second container has a value with an object as its first word, the third one a box.
    let holder = heap.block(
      112,
      words: [
        Self.metadata + 0x100, Self.counts, object, lost, gone, Self.metadata, object, held, kept,
        Self.metadata + 0x200, 0, object, lost + 0x1000, Self.metadata,
      ])
    heap.set(SampleHeap.globals, holder)
    let containers = ObjectLayout(existentialOffsets: [16, 48, 80])
    #expect(
      try heap.analysis(layouts: [Self.metadata + 0x100: containers]).leaked == [lost, gone])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("What is left behind a box in an existential container does not hold")
  func boxesInExistentials() throws {
    var heap = SampleHeap()
    let value = Self.metadata + 0x200
    let boxMetadata = heap.block(32, words: [0, 16, value])
    let box = heap.block(32, words: [boxMetadata, Self.counts])
    let (lost, gone, held, kept) = (heap.block(32), heap.block(32), heap.block(32), heap.block(32))
    // The second container has a value of another type, which has a box in its first word.
    let holder = heap.block(
      88,
      words: [
        Self.metadata + 0x100, Self.counts, box, lost, gone, value, box, held, kept, value + 0x100,
      ])
    heap.set(SampleHeap.globals, holder)
    let containers = ObjectLayout(existentialOffsets: [16, 48])
    #expect(
      try heap.analysis(layouts: [Self.metadata + 0x100: containers]).leaked == [lost, gone])
    #expect(try heap.analysis().leaked == [])
  }

  @Test(
    "What is left behind a value of known size in an existential container does not hold",
    arguments: [(0, 0), (4, 0), (8, 1), (16, 2), (17, 2), (24, 3), (32, 1)] as [(UInt64, Int)])
  func valuesInExistentials(_ size: UInt64, _ wordsInUse: Int) throws {
    var heap = SampleHeap()
    let (value, witnesses) = (Self.metadata + 0x200, Self.metadata + 0x300)
    heap.set(value - 8, witnesses)
    let words = (0..<3).map { _ in heap.block(32) }
    let array = heap.block(
      64, words: [Self.metadata + 0x100, Self.counts, 0, 0] + words + [value])
    heap.set(SampleHeap.globals, array)
    let containers = ObjectLayout(existentialOffsets: [0], isArray: true, elementStride: 32)
    let leaked = try heap.analysis(
      layouts: [Self.metadata + 0x100: containers], valueSizes: [witnesses: size]
    ).leaked
    #expect(leaked == Array(words[wordsInUse...]))
  }

  @Test("What is left behind an object does not hold, what is behind its tail elements does")
  func slack() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.insert(.usableSizes)
    let held = heap.block(32)
    let lost = heap.block(32)
    // An object of 17 bytes, of which the last one stands in what was a pointer; and one that is
    // allocated with elements behind it.
    let object = heap.block(17, words: [Self.metadata, Self.counts, lost])
    let array = heap.block(41, words: [Self.metadata, Self.counts, 1, 2, 3, held])
    heap.set(SampleHeap.globals, object, array)
    let layouts = [Self.metadata: ObjectLayout(size: 17)]
    #expect(try heap.analysis(layouts: layouts).leaked == [lost])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("A block that is too small for an object has no slack that Swift uses")
  func smallBlocks() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.formUnion([.usableSizes, .usableSizesOfObjects])
    declareClass(in: &heap)
    let (held, lost) = (heap.block(32), heap.block(32))
    let small = heap.block(8, words: [Self.metadata, Self.counts, lost])
    let object = heap.block(16, words: [Self.metadata, Self.counts, held])
    heap.set(SampleHeap.globals, small, object)
    #expect(try heap.analysis().leaked == [lost])
  }

  @Test("Elements of an array hold what their type says, and nothing is behind the last one")
  func elements() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.insert(.usableSizes)
    let (held, number, known) = (heap.block(32), heap.block(32), heap.block(24))
    let lost = heap.block(24)
    heap.set(known, Self.metadata + 0x100, Self.counts)
    // Two elements of three words in 80 bytes, of which malloc makes 88.
    let array = heap.block(
      80,
      words: [
        Self.metadata, Self.counts, 2, 4, held, known, number, held, known, number, lost,
      ])
    heap.set(SampleHeap.globals, array)
    let layouts = [
      Self.metadata: ObjectLayout(
        size: 32, unownedOffsets: [8], numberOffsets: [16], isArray: true, elementStride: 24)
    ]
    #expect(try heap.analysis(layouts: layouts).leaked == [number, known, lost])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("Slots of a deque hold as far as they are in use, around its end")
  func deque() throws {
    /// Which of four slots of two words hold their object.
    func held(
      _ header: [UInt64], onStack: Bool = false, size: UInt64 = 40 + 4 * 16, stride: UInt64 = 16
    ) throws -> [Int] {
      var heap = SampleHeap()
      heap.trace.header.flags.insert(.usableSizes)
      let objects = (0..<4).map { _ in heap.block(24) }
      let slots: [UInt64] = objects.flatMap { [UInt64(7), $0] }
      let deque = heap.block(size, words: [Self.metadata, Self.counts] + header + slots)
      heap.set(SampleHeap.globals, deque)
      if onStack { heap.set(SampleHeap.stackPointer + 64, deque) }
      let layout = ObjectLayout(
        size: 40, isDeque: true, elementsStart: 40, elementStride: stride)
      let leaked = try heap.analysis(layouts: [Self.metadata: layout]).leaked
      return objects.indices.filter { !leaked.contains(objects[$0]) }
    }
    #expect(try held([4, 2, 1]) == [1, 2])
    #expect(try held([4, 3, 2]) == [0, 2, 3])
    #expect(try held([4, 0, 3]) == [])
    #expect(try held([4, 4, 3]) == [0, 1, 2, 3])
    #expect(try held([4, 1, 4]) == [0])
    // Somebody may be adding elements.
    #expect(try held([4, 2, 1], onStack: true) == [0, 1, 2, 3])
    // Nothing is kept of the header, or what cannot be; slots that do not fit into what was requested.
    #expect(try held([0, 0, 0]) == [0, 1, 2, 3])
    #expect(try held([4, 5, 0]) == [0, 1, 2, 3])
    #expect(try held([4, 2, 5]) == [0, 1, 2, 3])
    #expect(try held([4, 2, 1], size: 48 + 4 * 16) == [0, 1, 2, 3])
    #expect(try held([400, 399, 1]) == [0, 1, 2, 3])
  }

  @Test("A node of a tree holds its children and items, and nothing between them")
  func treeNode() throws {
    /// Which of the six objects hold that a node of 96 bytes behind its header has at every second word.
    func held(
      items: UInt64, children: UInt64, capacity: UInt64 = 96, unused: UInt64,
      onStack: Bool = false
    ) throws -> [Int] {
      var heap = SampleHeap()
      let objects = (0..<6).map { _ in heap.block(24) }
      let header = [Self.metadata, Self.counts, items | children << 32, capacity | unused << 32]
      let content: [UInt64] = objects.flatMap { [$0, UInt64(7)] }
      let node = heap.block(32 + 96, words: header + content)
      heap.set(SampleHeap.globals, node)
      if onStack { heap.set(SampleHeap.stackPointer + 64, node) }
      let layouts = [Self.metadata: ObjectLayout(size: 32, isTreeNode: true)]
      let leaked = try heap.analysis(layouts: layouts).leaked
      return objects.indices.filter { !leaked.contains(objects[$0]) }
    }
    // Items of one word, of two words, and none of them.
    #expect(try held(items: 0b101, children: 0b11000, unused: 48) == [0, 1, 5])
    #expect(try held(items: 0b101, children: 0b11000, unused: 32) == [0, 1, 4, 5])
    #expect(try held(items: 0, children: 1 << 31, unused: 80) == [0])
    #expect(try held(items: 0b111, children: 0, unused: 0) == [0, 1, 2, 3, 4, 5])
    #expect(try held(items: 0, children: 0b11, capacity: 64, unused: 32) == [0, 1])
    // Somebody may be adding items.
    #expect(try held(items: 0b101, children: 0b11000, unused: 32, onStack: true).count == 6)
    // Nothing is kept of the header, items share a hash value, or what cannot be.
    #expect(try held(items: 0, children: 0, capacity: 0, unused: 0).count == 6)
    #expect(try held(items: 2, children: 2, unused: 48).count == 6)
    #expect(try held(items: 0b111, children: 0, unused: 32).count == 6)
    #expect(try held(items: 0, children: 0b11, unused: 32).count == 6)
    #expect(try held(items: 1, children: 0b111, unused: 64).count == 6)
    #expect(try held(items: 1, children: 0, unused: 100).count == 6)
    #expect(try held(items: 1, children: 0, capacity: 160, unused: 144).count == 6)
  }

  @Test("Slots of a deque account for the references of objects")
  func referencesInDeques() throws {
    /// Whether an object leaks that a deque has, to which it leads itself; a stack leads to it as well.
    func isLeaked(_ header: [UInt64]) throws -> Bool {
      var heap = SampleHeap()
      let deque = heap.block(40 + 2 * 8)
      let object = heap.block(24, words: [Self.metadata + 0x100, Self.counts, deque])
      heap.set(deque, Self.metadata, Self.counts)
      for (number, word) in (header + [object, object]).enumerated() {
        heap.set(deque + 16 + UInt64(number) * 8, word)
      }
      heap.set(SampleHeap.stackPointer + 64, object)
      let layouts = [
        Self.metadata: ObjectLayout(
          size: 40, countedOffsets: [0], isDeque: true, elementsStart: 40, elementStride: 8),
        Self.metadata + 0x100: ObjectLayout(size: 24, isInstance: true),
      ]
      return try heap.analysis(layouts: layouts).leaked == [deque, object]
    }
    #expect(try isLeaked([2, 1, 1]))
    #expect(try !isLeaked([2, 0, 1]))
    #expect(try !isLeaked([2, 2, 1]))
  }

  @Test("Values of a dictionary hold what their type says", arguments: [UInt64(16), 24])
  func values(_ stride: UInt64) throws {
    var heap = SampleHeap()
    let (key, held, known) = (heap.block(24), heap.block(24), heap.block(24))
    heap.set(known, Self.metadata + 0x100, Self.counts)
    // Two buckets, both in use: keys at 72, values of 16 bytes at 88.
    let table = heap.block(120)
    heap.set(
      table, Self.metadata, Self.counts, 2, 1, 1, table, table + 72, table + 88, ~0, key, key,
      held, known, held, known)
    heap.set(SampleHeap.globals, table)
    let layouts = [
      Self.metadata: ObjectLayout(
        size: 64, unownedOffsets: [8], table: .dictionary, elementStride: stride)
    ]
    // A description that does not fit says nothing.
    #expect(try heap.analysis(layouts: layouts).leaked == (stride == 16 ? [known] : []))
  }

  @Test("Where the runtime alone asks for sizes, nothing is kept behind other blocks")
  func slackOfOtherBlocks() throws {
    var heap = SampleHeap()
    heap.trace.header.flags.formUnion([.usableSizes, .usableSizesOfObjects])
    let held = heap.block(32)
    let lost = heap.block(32)
    let array = heap.block(41, words: [Self.metadata, Self.counts, 1, 2, 3, held])
    let other = heap.block(17, words: [1, 2, lost])
    heap.set(SampleHeap.globals, array, other)
    // Without types of Swift something else was taken for its objects.
    #expect(try heap.analysis().leaked == [])
    heap.trace.type(
      BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass,
        name: "Swift._ContiguousArrayStorage<Swift.Int>",
        words: [Self.metadata + 0x100]), code: 1)
    #expect(try heap.analysis().leaked == [lost])
  }

  @Test("In an array of objects nothing leads into the middle of a block")
  func arrayOfObjects() throws {
    var heap = SampleHeap()
    let (object, text, lost) = (heap.block(32), heap.block(32), heap.block(32))
    heap.set(text, Self.metadata + 0x100, Self.counts)
    let array = heap.block(
      72, words: [Self.metadata, Self.counts, 3, 6, object, 1 << 63 | text, lost + 8, lost + 16])
    heap.set(SampleHeap.globals, array)
    func state(_ hasObjects: Bool) throws -> Reachability.State? {
      let layout = ObjectLayout(
        size: 32, isArray: true, hasObjectsAsElements: hasObjects, elementStride: 8)
      let analysis = try heap.analysis(layouts: [Self.metadata: layout])
      #expect(analysis.state(at: object) == .reached && analysis.state(at: text) == .reached)
      return analysis.state(at: lost)
    }
    #expect(try state(true) == .unreached)
    #expect(try state(false) != .unreached)
  }

  @Test("A slab of a task holds what is in the part of it that is in use")
  func taskSlab() throws {
    var heap = SampleHeap()
    heap.snapshot.addClass("", at: Self.metadata, kind: 3)
    let held = heap.block(32)
    let (lost, left) = (heap.block(32), heap.block(32))
    let slab = heap.block(
      128, words: [Self.metadata, 0, 16 << 32 | 96, left, held, 0, lost])
    heap.set(SampleHeap.globals, slab)
    #expect(try heap.analysis().leaked == [lost, left])
    // One that is not in use holds the next one, and nothing else.
    heap.set(slab, Self.metadata, lost, 96, 0, held)
    #expect(try heap.analysis().leaked == [held, left])
  }

  @Test(
    "A block that has not quite the form of a slab holds what is in it",
    arguments: [
      16 << 32 | 97, 104 << 32 | 96, 24 << 32 | 96, 0, 96 << 32, .max,
    ] as [UInt64])
  func noTaskSlab(_ use: UInt64) throws {
    var heap = SampleHeap()
    heap.snapshot.addClass("", at: Self.metadata, kind: 3)
    let held = heap.block(32)
    let block = heap.block(128, words: [Self.metadata, 0, use, 0, 0, 0, held])
    heap.set(SampleHeap.globals, block)
    #expect(try heap.analysis().leaked == [])
  }

  @Test(
    "A task in the slab of another one is held by pointers to it, with tags or without",
    arguments: [0, 1] as [UInt64])
  func taskInSlab(_ tag: UInt64) throws {
    let task = SampleHeap.globals + 0x800
    var heap = SampleHeap()
    heap.snapshot.addClass("", at: Self.metadata, kind: 3)
    let held = heap.block(32)
    let slab = heap.block(128, words: [Self.metadata, 0, 48 << 32 | 96, 0, held, 0, task])
    heap.set(SampleHeap.globals, slab + 48 + tag)
    let layouts = [task: ObjectLayout(isTask: true)]
    let states = try heap.analysis(layouts: layouts).reachability
    #expect(states.state(of: 0) == .reached && states.state(of: 1) == .reached)
    // Nothing else in it is, nor what lay there before.
    #expect(try heap.analysis().reachability.state(of: 1) == .possible)
    heap.set(slab + 16, 16 << 32 | 96)
    #expect(try heap.analysis(layouts: layouts).reachability.state(of: 1) == .possible)
  }

  @Test("A frame of a task holds no frame of another one, but the task that lies there")
  func framesOfOthers() throws {
    let task = SampleHeap.globals + 0x800
    var heap = SampleHeap()
    heap.snapshot.addClass("", at: Self.metadata, kind: 3)
    let next = heap.block(128, words: [Self.metadata, 0, 16 << 32 | 96])
    let other = heap.block(128, words: [Self.metadata, 0, 48 << 32 | 96, 0, 0, 0, task])
    let slab = heap.block(128, words: [Self.metadata, next, 32 << 32 | 96, 0, other + 64])
    heap.set(SampleHeap.globals, slab)
    let layouts = [task: ObjectLayout(isTask: true)]
    #expect(try heap.analysis(layouts: layouts).leaked == [other])
    heap.set(slab + 32, other + 48)
    #expect(try heap.analysis(layouts: layouts).leaked == [])
    // What is no frame may be of somebody who knows more.
    heap.set(slab + 32, 0)
    heap.set(SampleHeap.globals + 8, other + 64)
    let states = try heap.analysis(layouts: layouts).reachability
    #expect(states.state(of: 1) == .possible)
  }

  @Test("The state of an actor holds tasks, and objects only where they are unknown")
  func actors() throws {
    let (task, other) = (Self.metadata + 0x40, Self.metadata + 0x80)
    var heap = SampleHeap()
    let (waiting, lost, unknown, held) = (
      heap.block(32, words: [task]), heap.block(32, words: [other]),
      heap.block(32, words: [Self.metadata + 0xc0]), heap.block(32, words: [other])
    )
    let actor = heap.block(
      120, words: [Self.metadata, 3, 0, 0, waiting, unknown, 0, lost, 0, 0, 0, 0, 0, 0, held])
    heap.set(SampleHeap.globals, actor)
    #expect(try heap.analysis().leaked == [])
    let layouts = [
      Self.metadata: ObjectLayout(size: 120, actorOffset: 16), task: ObjectLayout(isTask: true),
      other: ObjectLayout(),
    ]
    #expect(try heap.analysis(layouts: layouts).leaked == [lost])
  }

  @Test("What the runtime keeps of types is held by pointers into its middle")
  func metadata() throws {
    var heap = SampleHeap()
    heap.trace.image(
      Image(
        index: 1, path: "/usr/lib/libswiftCore.so", loadBias: 0, start: Address(0x60_0000),
        end: Address(0x60_1000), textStart: Address(0x60_0000), textEnd: Address(0x60_1000)))
    heap.addSwiftRuntime()
    let slab = heap.block(16384, stack: StackID(7))
    let other = heap.block(16384, stack: StackID(8))
    heap.set(SampleHeap.globals, slab + 0x100, other + 0x100)
    let analysis = try heap.analysis(isSwiftMetadata: { $0 == StackID(7) })
    #expect(
      analysis.reachability.state(of: analysis.heap.blocks.block(containing: slab)!) == .reached)
    #expect(
      analysis.reachability.state(of: analysis.heap.blocks.block(containing: other)!) == .possible)
  }

  @Test("A task that waits goes on in the functions of its frames")
  func suspendedTask() throws {
    var heap = SampleHeap()
    let code: UInt64 = 0x50_0000
    heap.snapshot.region(code..<code + 0x1000, path: "/lib/code.so", protection: [.read, .execute])
    let task = heap.block(128, words: [Self.metadata, Self.counts])
    let record = heap.block(64)
    let frames = [heap.block(32), heap.block(32)]
    heap.set(task + 56, code + 16, frames[0])
    heap.set(task + 104, record)
    heap.set(record + 40, task)
    heap.set(frames[0], frames[1], code + 32)
    heap.set(frames[1], 0, Self.metadata)
    func found() throws -> [UInt64] {
      try heap.analysis().heap.memory.codeOfSuspendedTask(at: task)
    }
    #expect(try found() == [code + 16, code + 32])
    // A damaged trace: the frames go in circles.
    heap.set(frames[1], frames[0], Self.metadata)
    #expect(try found().count == 129)
    // It waits for nothing: what it says of frames is of before.
    heap.set(record + 40, Self.metadata)
    #expect(try found() == [])
    heap.set(task + 104, 0)
    #expect(try found() == [])
  }

  @Test("A bucket that is not in use holds nothing", arguments: [UInt64(0), 1, 2, 3])
  func dictionary(_ inUse: UInt64) throws {
    var heap = SampleHeap()
    let blocks = [heap.block(32), heap.block(32), heap.block(32), heap.block(32)]
    // Two buckets: keys at 72, values of 16 bytes at 88.
    let table = heap.block(120)
    heap.set(
      table, Self.metadata, Self.counts, UInt64(inUse.nonzeroBitCount), 1, 1 | 7 << 32, table,
      table + 72, table + 88, ~0 << 2 | inUse, blocks[0], blocks[1], 0, blocks[2], 0, blocks[3])
    heap.set(SampleHeap.globals, table)
    let layouts = [
      Self.metadata: ObjectLayout(size: 64, numberOffsets: [40], table: .dictionary)
    ]
    let lost = blocks.indices.filter { inUse >> UInt64($0 % 2) & 1 == 0 }.map { blocks[$0] }
    #expect(try heap.analysis(layouts: layouts).leaked == lost)
  }

  @Test(
    "An element of a set belongs to the bucket that it can belong to, in the second word of bits")
  func set() throws {
    var heap = SampleHeap()
    let (held, lost) = (heap.block(32), heap.block(32))
    // 128 buckets: bits at 56, elements at 72.
    let table = heap.block(72 + 128 * 8)
    heap.set(
      table, Self.metadata, Self.counts, 1, 96, 7, table, table + 72, 0, 1 << 5)
    heap.set(table + 72 + 69 * 8, held, lost)
    heap.set(SampleHeap.globals, table)
    let layouts = [Self.metadata: ObjectLayout(size: 56, numberOffsets: [40], table: .set)]
    #expect(try heap.analysis(layouts: layouts).leaked == [lost])
  }

  @Test(
    "Keys that are smaller than an address hold nothing, what is behind them in their word either")
  func smallKeys() throws {
    var heap = SampleHeap()
    let (lost, held) = (heap.block(32), heap.block(32))
    // Two buckets, both in use: keys of one byte at 72, values of 8 bytes at 80.
    let table = heap.block(96)
    heap.set(
      table, Self.metadata, Self.counts, 2, 1, 1, table, table + 72, table + 80, ~0, lost + 4, held,
      0)
    heap.set(SampleHeap.globals, table)
    let layouts = [
      Self.metadata: ObjectLayout(size: 64, numberOffsets: [40], table: .dictionary)
    ]
    #expect(try heap.analysis(layouts: layouts).leaked == [lost])
    #expect(try heap.analysis().leaked == [])
  }

  @Test("A key that only identifies an object does not hold it, a value does")
  func identifiers() throws {
    var heap = SampleHeap()
    let (lost, held) = (heap.block(32), heap.block(32))
    // Two buckets, both in use: keys at 72, values of 8 bytes at 88.
    let table = heap.block(104)
    heap.set(
      table, Self.metadata, Self.counts, 2, 1, 1, table, table + 72, table + 88, ~0, lost, held,
      held, held)
    heap.set(SampleHeap.globals, table)
    let layouts = [
      Self.metadata: ObjectLayout(
        numberOffsets: [40], table: .dictionary, hasIdentifiersAsKeys: true)
    ]
    #expect(try heap.analysis(layouts: layouts).leaked == [lost])
  }

  @Test("A part of a key that only identifies an object does not hold it, the rest of the key does")
  func identifiersInKeys() throws {
    var heap = SampleHeap()
    let (lost, held) = (heap.block(32), heap.block(32))
    // Two buckets, the first in use: keys of 16 bytes at 72, values of 8 bytes at 104.
    let table = heap.block(120)
    heap.set(
      table, Self.metadata, Self.counts, 1, 1, 1, table, table + 72, table + 104, ~0 << 2 | 1, held,
      lost)
    heap.set(SampleHeap.globals, table)
    let keys = ObjectLayout.Keys(stride: 16, identifierOffsets: [8])
    let layouts = [
      Self.metadata: ObjectLayout(numberOffsets: [40], table: .dictionary, keys: keys)
    ]
    #expect(try heap.analysis(layouts: layouts).leaked == [lost])
  }

  @Test(
    "A table without a header that can be holds what is in it",
    arguments: [
      (0, 72, 88), (1, 71, 88), (1, 88, 104), (41, 72, 88), (1, 72, 64), (1, 72, 87), (1, 72, 128),
    ]
      as [(UInt64, UInt64, UInt64)])
  func noTable(_ header: (scale: UInt64, keys: UInt64, values: UInt64)) throws {
    var heap = SampleHeap()
    let held = heap.block(32)
    let table = heap.block(120)
    heap.set(
      table, Self.metadata, Self.counts, 0, 1, header.scale, table, table + header.keys,
      table + header.values, 0, held, 0, 0, held)
    heap.set(SampleHeap.globals, table)
    let layouts = [Self.metadata: ObjectLayout(numberOffsets: [40], table: .dictionary)]
    #expect(try heap.analysis(layouts: layouts).leaked == [])
  }

  @Test("A table up to the end of all addresses, as only a damaged trace has it, is read")
  func endlessTable() throws {
    var heap = SampleHeap()
    let lost = heap.block(32)
    let table = SampleHeap.heap + 0x8000
    heap.trace.allocate(table, .max - table, .malloc, stack: .none)
    heap.set(
      table, Self.metadata, Self.counts, 0, 1, 40, table, table + 64 + (1 << 37), .max, 0, lost)
    heap.set(SampleHeap.globals, table)
    let layouts = [Self.metadata: ObjectLayout(numberOffsets: [40], table: .dictionary)]
    _ = try heap.analysis(layouts: layouts)
  }

  @Test("Where values are aligned, a key belongs to each bucket that it can belong to")
  func alignedValues() throws {
    var heap = SampleHeap()
    let blocks = [heap.block(32), heap.block(32), heap.block(32)]
    // Two buckets: keys of 8 or 12 bytes at 72, values of 16 bytes at 96; the second is in use.
    let table = heap.block(128)
    heap.set(
      table, Self.metadata, Self.counts, 1, 1, 1, table, table + 72, table + 96, ~0 << 2 | 2,
      blocks[0], blocks[1], blocks[2])
    heap.set(SampleHeap.globals, table)
    let layouts = [Self.metadata: ObjectLayout(numberOffsets: [40], table: .dictionary)]
    #expect(try heap.analysis(layouts: layouts).leaked == [blocks[0]])
  }

  @Test("The seed of a hash table looks like a pointer to the table")
  func seed() throws {
    var heap = SampleHeap()
    let table = heap.block(64)
    heap.set(table, Self.metadata, Self.counts, 0, 0, 0, table)
    let layouts = [Self.metadata: ObjectLayout(numberOffsets: [40])]
    #expect(try heap.analysis(layouts: layouts).leaks.role(of: 0) == .rootLeak)
    heap.addSwiftRuntime()
    #expect(try heap.analysis().leaks.role(of: 0) == .rootCycle)
  }

  @Test(
    "Variables have tags only where the Swift runtime is, which its objects show",
    arguments: [false, true])
  func taggedVariables(_ hasSwift: Bool) throws {
    var heap = SampleHeap()
    let table = heap.block(64)
    heap.set(SampleHeap.globals, table | 3)
    if hasSwift {
      let type = BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.Node", words: [Self.metadata])
      heap.trace.type(type, code: MT_TYPE_SWIFT_CLASS.rawValue)
    }
    #expect(try heap.analysis().state(at: table) == (hasSwift ? .reached : .possible))
  }
}
