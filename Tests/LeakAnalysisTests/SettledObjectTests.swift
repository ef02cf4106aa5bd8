import LeakAnalysis
import Testing
import TraceReader

@Suite("Objects of Swift all of whose references are known")
struct SettledObjectTests {
  private static let metadata = SampleHeap.constants + 0x200
  private static let holder = SampleHeap.constants + 0x300
  private static let element = SampleHeap.constants + 0x400
  /// Held once; held once, and by an unowned reference; held twice, and by an unowned reference.
  private static let counts: (UInt64, unowned: UInt64, twice: UInt64) = (3, 5, 5 | 1 << 33)
  /// Their third word is a property, an instance of a class.
  private static let node = ObjectLayout(size: 24, countedOffsets: [16])

  /// An object that holds itself, and one that a root holds and that points to it.
  private func leaked(
    counts: UInt64, holder: ObjectLayout?, node: ObjectLayout = node, at offset: UInt64 = 16
  ) throws -> Bool {
    var heap = SampleHeap()
    let object = heap.block(24, words: [Self.metadata, counts])
    heap.set(object + 16, object)
    let user = heap.block(40, words: [Self.holder, Self.counts.0])
    heap.set(user + offset, object)
    heap.set(SampleHeap.globals, user)
    var layouts = [Self.metadata: node]
    layouts[Self.holder] = holder
    return try heap.analysis(layouts: layouts).leaked == [object]
  }

  @Test("What may be an unowned reference does not hold an object that others account for")
  func unowned() throws {
    let user = ObjectLayout(size: 40)
    #expect(try leaked(counts: Self.counts.unowned, holder: user))
    // There is no unowned reference; or a strong one more.
    #expect(try !leaked(counts: Self.counts.0, holder: user))
    #expect(try !leaked(counts: Self.counts.twice, holder: user))
    // It holds the object for certain; nothing is known of it.
    #expect(try !leaked(counts: Self.counts.unowned, holder: Self.node))
    #expect(try !leaked(counts: Self.counts.unowned, holder: nil))
    // Of the reference in the object nothing is known.
    #expect(try !leaked(counts: Self.counts.unowned, holder: user, node: ObjectLayout(size: 24)))
  }

  @Test("What a task has left holds no object that others account for")
  func tasks() throws {
    let task = ObjectLayout(isTask: true)
    #expect(try leaked(counts: Self.counts.0, holder: task))
    #expect(try !leaked(counts: Self.counts.twice, holder: task))
  }

  @Test("What a leaked block has left draws no object that others account for into its tree")
  func leakedHolders() throws {
    /// Whether an object that holds itself is a root of its own beside one that also leads to it.
    func isRoot(counts: UInt64, _ holder: ObjectLayout, at offset: UInt64 = 24) throws -> Bool {
      var heap = SampleHeap()
      let other = heap.block(40, words: [Self.holder, Self.counts.0])
      let object = heap.block(24, words: [Self.metadata, counts])
      heap.set(object + 16, object)
      heap.set(other + offset, object)
      let layouts = [Self.metadata: Self.node, Self.holder: holder]
      let analysis = try heap.analysis(layouts: layouts)
      #expect(analysis.leaked == [other, object])
      let node = try #require(analysis.node(at: other))
      let isRoot = analysis.roots == [other, object]
      #expect(analysis.leaks.edges(of: node).isEmpty == isRoot)
      return isRoot
    }
    let task = ObjectLayout(isTask: true)
    #expect(try isRoot(counts: Self.counts.0, task))
    // An element, or what may be an unowned reference.
    #expect(try isRoot(counts: Self.counts.0, ObjectLayout(size: 24)))
    #expect(try isRoot(counts: Self.counts.unowned, ObjectLayout(size: 40)))
    // It may be a reference; it is one.
    #expect(try !isRoot(counts: Self.counts.twice, task))
    #expect(try !isRoot(counts: Self.counts.0, ObjectLayout(size: 40)))
    #expect(try !isRoot(counts: Self.counts.unowned, Self.node, at: 16))
  }

  @Test("What stands in an array may be left over from an element that was taken out")
  func elements() throws {
    let array = ObjectLayout(size: 32, isArray: true, elementStride: 8)
    #expect(try leaked(counts: Self.counts.0, holder: array, at: 32))
    #expect(try !leaked(counts: Self.counts.0 | 1 << 33, holder: array, at: 32))
    // A class that allocates elements behind its properties.
    #expect(try leaked(counts: Self.counts.0, holder: ObjectLayout(size: 24), at: 24))
    #expect(try !leaked(counts: Self.counts.0, holder: ObjectLayout(size: 24), at: 16))
  }

  @Test("What an array does not count holds nothing, but where somebody may be adding elements")
  func countsOfArrays() throws {
    /// The objects that leak of three in an array of a variable, which counts so many and has room for three.
    func leaked(count: UInt64, capacity: UInt64 = 6, onStack offset: UInt64? = nil) throws -> Int {
      var heap = SampleHeap()
      let objects = (0..<3).map { _ in heap.block(24, words: [Self.metadata, Self.counts.twice]) }
      let header = [Self.holder, Self.counts.0, count, capacity]
      let array = heap.block(56, words: header + objects)
      heap.set(SampleHeap.globals, array)
      if let offset { heap.set(SampleHeap.stackPointer + 64, array + offset) }
      let layout = ObjectLayout(size: 32, isArray: true, elementStride: 8)
      let layouts = [Self.metadata: Self.node, Self.holder: layout]
      return try heap.analysis(layouts: layouts).leaked.count
    }
    #expect(try leaked(count: 1) == 2)
    #expect(try leaked(count: 0) == 3)
    #expect(try leaked(count: 3) == 0)
    for offset: UInt64 in [0, 40] { #expect(try leaked(count: 1, onStack: offset) == 0) }
    // No counts are kept, or none that can be.
    #expect(try leaked(count: 0, capacity: 0) == 0)
    #expect(try leaked(count: 1, capacity: 7) == 0)
    #expect(try leaked(count: 4) == 0)
    #expect(try leaked(count: 4, capacity: 8) == 0)
  }

  @Test("The elements that an array counts account for references")
  func countedElements() throws {
    /// An object in an array that it has itself; a stack leads to it as well.
    func isLeaked(count: UInt64, _ layout: ObjectLayout) throws -> Bool {
      var heap = SampleHeap()
      let array = heap.block(48)
      let object = heap.block(24, words: [Self.metadata, Self.counts.0, array])
      let header = [Self.holder, Self.counts.0, count, 4]
      heap.snapshot.words(at: array, header + [object, object])
      heap.set(SampleHeap.stackPointer + 64, object)
      let layouts = [Self.metadata: Self.node, Self.holder: layout]
      return try heap.analysis(layouts: layouts).leaked == [array, object]
    }
    let layout = ObjectLayout(size: 32, countedOffsets: [0], isArray: true, elementStride: 8)
    #expect(try isLeaked(count: 1, layout))
    // None accounts for the one that the object counts, or two do; of elements nothing is known.
    #expect(try !isLeaked(count: 0, layout))
    #expect(try !isLeaked(count: 2, layout))
    #expect(
      try !isLeaked(count: 1, ObjectLayout(size: 32, isArray: true, elementStride: 8)))
  }

  @Test("Keys and values of tables account for references where their buckets are in use")
  func tables() throws {
    /// An object in a table that it has itself; a stack leads to it as well.
    func leaked(_ layout: ObjectLayout, at offset: UInt64, inUse: UInt64 = 1) throws -> Bool {
      var heap = SampleHeap()
      // Two buckets: bits at 64, keys at 72, values at 88.
      let table = heap.block(104)
      let object = heap.block(24, words: [Self.metadata, Self.counts.0, table])
      let header = [Self.holder, Self.counts.0, 1, 1, 1, table, table + 72, table + 88]
      heap.snapshot.words(at: table, header + [~0 << 2 | inUse])
      heap.set(table + offset, object)
      heap.set(SampleHeap.stackPointer + 64, object)
      let layouts = [Self.metadata: Self.node, Self.holder: layout]
      return try heap.analysis(layouts: layouts).leaked == [table, object]
    }
    func values(stride: UInt64) -> ObjectLayout {
      ObjectLayout(size: 64, countedOffsets: [0], table: .dictionary, elementStride: stride)
    }
    #expect(try leaked(values(stride: 8), at: 88))
    #expect(try leaked(values(stride: 8), at: 96, inUse: 2))
    // A key, of which nothing is known; in a bucket that is not in use; of values of another size.
    #expect(try !leaked(values(stride: 8), at: 72))
    #expect(try !leaked(values(stride: 8), at: 96))
    #expect(try !leaked(values(stride: 16), at: 88))
    func keys(stride: UInt64) -> ObjectLayout {
      ObjectLayout(
        size: 64, table: .dictionary, keys: .init(stride: stride, countedOffsets: [0]))
    }
    #expect(try leaked(keys(stride: 8), at: 72))
    #expect(try leaked(keys(stride: 8), at: 80, inUse: 2))
    #expect(try !leaked(keys(stride: 8), at: 88))
    #expect(try !leaked(keys(stride: 8), at: 80))
    #expect(try !leaked(keys(stride: 16), at: 72))
  }

  @Test("A table that the references of an object are known to be in holds it")
  func holdingTables() throws {
    var heap = SampleHeap()
    let table = heap.block(96)
    let object = heap.block(24, words: [Self.metadata, Self.counts.unowned])
    // A set with two buckets: bits at 56, elements at 64.
    heap.set(
      table, Self.holder, Self.counts.0, 1, 1, 1, table, table + 64, ~0 << 2 | 1, object)
    heap.set(SampleHeap.globals, object, table)
    let set = ObjectLayout(size: 56, table: .set, keys: .init(stride: 8, countedOffsets: [0]))
    #expect(try heap.analysis(layouts: [Self.metadata: Self.node, Self.holder: set]).leaked == [])
  }

  @Test(
    "An async function has left an object in its frame of which others account for all references")
  func taskSlabs() throws {
    let task = SampleHeap.constants + 0x500
    func leaked(counts: UInt64, layout: ObjectLayout?) throws -> Bool {
      var heap = SampleHeap()
      heap.snapshot.addClass("", at: task, kind: 3)
      let object = heap.block(24, words: [Self.metadata, counts])
      heap.set(object + 16, object)
      let slab = heap.block(128, words: [task, 0, 32 << 32 | 96, 0, 0, object])
      heap.set(SampleHeap.globals, slab)
      var layouts = [Self.element: Self.node]
      layouts[Self.metadata] = layout
      return try heap.analysis(layouts: layouts).leaked == [object]
    }
    #expect(try leaked(counts: Self.counts.0, layout: Self.node))
    // The function has a reference of its own; the type, or its property, is not known; it is a task.
    #expect(try !leaked(counts: Self.counts.twice, layout: Self.node))
    #expect(try !leaked(counts: Self.counts.0, layout: nil))
    #expect(try !leaked(counts: Self.counts.0, layout: ObjectLayout(size: 24)))
    let waiting = ObjectLayout(countedOffsets: [16], isTask: true)
    #expect(try !leaked(counts: Self.counts.0, layout: waiting))
  }

  @Test("Stacks and registers hold no object of which others account for all references")
  func stacks() throws {
    func leaked(counts: UInt64, isInRegister: Bool) throws -> Bool {
      var heap = SampleHeap(registers: isInRegister ? [SampleHeap.heap + 16] : [])
      let object = heap.block(24, words: [Self.metadata, counts])
      heap.set(object + 16, object)
      if !isInRegister { heap.set(SampleHeap.stackPointer + 64, object + 8, object) }
      return try heap.analysis(layouts: [Self.metadata: Self.node]).leaked == [object]
    }
    for isInRegister in [false, true] {
      #expect(try leaked(counts: Self.counts.0, isInRegister: isInRegister))
      #expect(try leaked(counts: Self.counts.unowned, isInRegister: isInRegister))
      #expect(try !leaked(counts: Self.counts.twice, isInRegister: isInRegister))
    }
  }

  @Test("Variables hold such an object where there are no unowned references to it")
  func variables() throws {
    func leaked(counts: UInt64, at address: UInt64) throws -> Bool {
      var heap = SampleHeap()
      let object = heap.block(24, words: [Self.metadata, counts])
      heap.set(object + 16, object)
      heap.set(address, object)
      return try heap.analysis(layouts: [Self.metadata: Self.node]).leaked == [object]
    }
    let variables = [SampleHeap.globals, SampleHeap.threadPointer + 0x40]
    #expect(try variables.allSatisfy { try leaked(counts: Self.counts.unowned, at: $0) })
    #expect(try variables.allSatisfy { try !leaked(counts: Self.counts.0, at: $0) })
    #expect(try variables.allSatisfy { try !leaked(counts: Self.counts.twice, at: $0) })
    // What is in a mapping may be the program's own.
    #expect(try !leaked(counts: Self.counts.unowned, at: SampleHeap.mapping + 0x100))
  }

  @Test(
    "Heap of which no block is known holds no object of which others account for all references")
  func unknownHeap() throws {
    func leaked(counts: UInt64, layout: ObjectLayout? = Self.node) throws -> Bool {
      var heap = SampleHeap()
      heap.trace.header.flags.insert(.forked)
      let object = heap.block(24, words: [Self.metadata, counts])
      heap.set(object + 16, object)
      heap.set(object + 64, object)
      var layouts = [Self.element: Self.node]
      layouts[Self.metadata] = layout
      return try heap.analysis(layouts: layouts).leaked == [object]
    }
    #expect(try leaked(counts: Self.counts.0))
    #expect(try leaked(counts: Self.counts.unowned))
    // A block from before has a reference of its own; of the object nothing is known.
    #expect(try !leaked(counts: Self.counts.twice))
    #expect(try !leaked(counts: Self.counts.0, layout: nil))
  }

  @Test("What closures capture and what is in an Any accounts for an object")
  func otherReferences() throws {
    let array = ObjectLayout(size: 32, isArray: true)
    var heap = SampleHeap()
    let captured = heap.block(24, words: [Self.metadata, Self.counts.0])
    let closure = heap.block(32, words: [Self.holder, Self.counts.0, 0, captured])
    let inAny = heap.block(
      56, words: [Self.metadata + 8, Self.counts.0, 0, 0, 0, Self.metadata + 8])
    heap.set(inAny + 16, inAny)
    let number = heap.block(
      56, words: [Self.metadata + 8, Self.counts.0, 0, 0, 0, Self.element])
    heap.set(number + 16, number)
    heap.set(captured + 16, closure)
    heap.set(
      SampleHeap.globals,
      heap.block(64, words: [Self.element, Self.counts.0, 0, 0, captured, inAny, number]))
    let layouts = [
      Self.metadata: Self.node,
      Self.metadata + 8: ObjectLayout(size: 56, existentialOffsets: [16]),
      Self.holder: ObjectLayout(size: .max, countedFromEnd: [8]), Self.element: array,
    ]
    #expect(try heap.analysis(layouts: layouts).leaked == [captured, closure, inAny])
  }

  @Test("An object that is being taken down accounts for nothing")
  func takenDown() throws {
    var heap = SampleHeap()
    let object = heap.block(24, words: [Self.metadata, Self.counts.0])
    let going = heap.block(24, words: [Self.metadata, Self.counts.0 | 1 << 32, object])
    let array = heap.block(48, words: [Self.holder, Self.counts.0, 0, 0, object])
    heap.set(SampleHeap.globals, array)
    let layouts = [Self.metadata: Self.node, Self.holder: ObjectLayout(size: 32, isArray: true)]
    #expect(try heap.analysis(layouts: layouts).leaked == [going])
  }
}
