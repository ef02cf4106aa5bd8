import LeakAnalysis
import Testing
import TraceReader

@Suite("How leaks hang together")
struct LeakForestTests {
  @Test("A leak drags along what only it holds")
  func draggedAlong() throws {
    var heap = SampleHeap()
    let leaf = heap.block(10)
    let middle = heap.block(20, words: [0, leaf])
    let root = heap.block(40, words: [middle])
    let analysis = try heap.analysis()
    let leaks = analysis.leaks
    #expect(analysis.roots == [root])
    let rootNode = try #require(analysis.node(at: root))
    let middleNode = try #require(analysis.node(at: middle))
    let leafNode = try #require(analysis.node(at: leaf))
    #expect(leaks.role(of: rootNode) == .rootLeak)
    #expect(leaks.role(of: leafNode) == .draggedAlong)
    #expect(leaks.parent(of: middleNode) == rootNode)
    #expect(leaks.parent(of: leafNode) == middleNode)
    #expect(leaks.parentEdge(of: leafNode)?.offset == 8)
    #expect(leaks.subtreeCount(of: rootNode) == 3)
    #expect(leaks.subtreeBytes(of: rootNode) == 70)
    #expect(leaks.subtreeBytes(of: middleNode) == 30)
  }

  @Test("What was in the gaps of a structure before drags nothing along")
  func unusedWords() throws {
    var heap = SampleHeap()
    let leaf = heap.block(8)
    let older = heap.block(words: [leaf])
    let younger = heap.block(words: [0, older])
    #expect(try heap.analysis().roots == [younger])
    let analysis = try heap.analysis(isUnused: { $0 == 8 })
    #expect(analysis.roots == [older, younger])
    let node = try #require(analysis.node(at: younger))
    #expect(analysis.leaks.edges(of: node).isEmpty)
    #expect(analysis.leaks.subtreeCount(of: node) == 1)

    // What is reachable stays so.
    let held = heap.block(words: [0, leaf])
    heap.set(SampleHeap.globals, held)
    let others = try heap.analysis(isUnused: { $0 == 8 })
    #expect(others.node(at: leaf) == nil)
    #expect(others.roots == [older, younger])
  }

  @Test("Blocks that hold each other are a root cycle, the oldest one first")
  func cycle() throws {
    var heap = SampleHeap()
    let parent = heap.block()
    let child = heap.block()
    let name = heap.block(8)
    heap.set(parent + 24, child)
    heap.set(child + 24, parent)
    heap.set(child + 8, name)
    let analysis = try heap.analysis()
    let leaks = analysis.leaks
    #expect(analysis.roots == [parent])
    let parentNode = try #require(analysis.node(at: parent))
    let childNode = try #require(analysis.node(at: child))
    let nameNode = try #require(analysis.node(at: name))
    #expect(leaks.role(of: parentNode) == .rootCycle)
    #expect(leaks.role(of: childNode) == .rootCycle)
    #expect(leaks.role(of: nameNode) == .draggedAlong)
    let edges = leaks.edges(of: childNode)
    #expect(edges.map(\.target) == [nameNode, parentNode])
    #expect(edges.map(\.offset) == [8, 24])
  }

  @Test("A cycle is shown under the oldest instance of a class in it")
  func headOfACycle() throws {
    let metadata = SampleHeap.constants + 0x200
    var heap = SampleHeap()
    let record = heap.block()
    let object = heap.block(words: [metadata, 3, record])
    let younger = heap.block(words: [metadata, 3, object])
    heap.set(record, 0, younger)
    let layouts = [metadata: ObjectLayout(isInstance: true)]
    #expect(try heap.analysis(layouts: layouts).roots == [object])
    #expect(try heap.analysis().roots == [record])
  }

  @Test("Of blocks with one time the one that was allocated first is the oldest")
  func ageWithinATime() throws {
    var heap = SampleHeap()
    let (low, high) = (SampleHeap.heap + 16, SampleHeap.heap + 64)
    heap.trace.allocate(high, 32, time: 500)
    heap.trace.allocate(low, 32, time: 500)
    heap.set(low, high)
    heap.set(high, low)
    #expect(try heap.analysis().roots == [high])
  }

  @Test("A cycle that another leak holds is dragged along")
  func heldCycle() throws {
    var heap = SampleHeap()
    let first = heap.block()
    let second = heap.block(words: [first])
    heap.set(first, second)
    let root = heap.block(words: [0, first])
    let analysis = try heap.analysis()
    #expect(analysis.roots == [root])
    let node = try #require(analysis.node(at: first))
    #expect(analysis.leaks.role(of: node) == .draggedAlong)
    #expect(analysis.leaks.subtreeCount(of: analysis.leaks.root(of: node)) == 3)
  }

  @Test("A block that points to itself is a cycle where it is an object that counts references")
  func selfReference() throws {
    var heap = SampleHeap()
    let list = heap.block()
    heap.set(list, list, list)
    let string = heap.block()
    heap.set(string, string + 16)
    let table = SampleHeap.constants + 0x100
    let stream = heap.block(64)
    heap.set(stream, table, 0, stream, stream + 32, table)
    let shared = heap.block(64)
    heap.set(shared, table, 0, table, 0, shared + 16, shared)
    let object = heap.block()
    heap.set(object, table, 3, object)
    func roles() throws -> [LeakForest.Role] {
      let analysis = try heap.analysis()
      return [list, string, stream, shared, object].compactMap { analysis.node(at: $0) }
        .map(analysis.leaks.role(of:))
    }
    #expect(try roles() == [.rootLeak, .rootLeak, .rootLeak, .rootCycle, .rootLeak])
    heap.addSwiftRuntime()
    #expect(try roles() == [.rootLeak, .rootLeak, .rootLeak, .rootCycle, .rootCycle])
  }

  @Test("What leads into the middle of the block that holds it makes no cycle")
  func pointerToTheHolder() throws {
    var heap = SampleHeap()
    let map = heap.block(48)
    let element = heap.block(words: [0, map + 8])
    heap.set(map, 0, 0, element, element, element)
    let (one, other) = (heap.block(), heap.block())
    heap.set(one, 0, other + 8)
    heap.set(other, 0, one + 8)
    let analysis = try heap.analysis()
    let nodes = [map, element, one, other].compactMap { analysis.node(at: $0) }
    #expect(
      nodes.map(analysis.leaks.role(of:)) == [.rootLeak, .draggedAlong, .rootCycle, .rootCycle])
    #expect(analysis.roots == [map, one])
    #expect(analysis.leaks.edges(of: nodes[1]).isEmpty)
    #expect(analysis.leaks.edges(of: nodes[0]).map(\.offset) == [16, 24, 32])
  }

  @Test("A list drags its nodes along, which lead back to it")
  func listOfCxx() throws {
    var heap = SampleHeap()
    let new = Operation(rawValue: 10)
    func block(_ stack: UInt32) -> UInt64 {
      heap.block(24, stack: StackID(stack), operation: new)
    }
    let list = block(2)
    let (first, second) = (block(3), block(4))
    heap.set(list, first, second)
    heap.set(first, second, list)
    heap.set(second, list, first)
    // The node in the middle is older than both of its neighbours.
    let other = block(2)
    let (middle, front, back) = (block(3), block(4), block(5))
    heap.set(other, front, back)
    heap.set(front, middle, other)
    heap.set(middle, back, front)
    heap.set(back, other, middle)
    let single = block(2)
    let only = block(3)
    heap.set(single, only, only)
    heap.set(only, single, single)
    let ring = [block(3), block(3)]
    heap.set(ring[0], ring[1], ring[1])
    heap.set(ring[1], ring[0], ring[0])
    let analysis = try heap.analysis()
    let nodes = [list, first, only].compactMap { analysis.node(at: $0) }
    #expect(analysis.roots == [list, other, single, ring[0]])
    #expect(
      Array(analysis.leaks.roots).map(analysis.leaks.role(of:))
        == [.rootLeak, .rootLeak, .rootLeak, .rootCycle])
    #expect(Array(analysis.leaks.roots).map(analysis.leaks.subtreeCount(of:)) == [3, 4, 2, 2])
    #expect(analysis.leaks.edges(of: nodes[2]).isEmpty)
    #expect(analysis.leaks.edges(of: nodes[1]).map(\.offset) == [0])
  }

  @Test("A list drags along the elements that its links lie in")
  func listOfElements() throws {
    var heap = SampleHeap()
    let queue = heap.block(40, stack: StackID(2))
    let first = heap.block(64, stack: StackID(3))
    let second = heap.block(64, stack: StackID(3))
    heap.set(queue + 8, first + 16, second + 16)
    heap.set(first + 16, second + 16, queue + 8)
    heap.set(second + 16, queue + 8, first + 16)
    let analysis = try heap.analysis()
    let nodes = [queue, first, second].compactMap { analysis.node(at: $0) }
    #expect(nodes.map(analysis.leaks.role(of:)) == [.rootLeak, .draggedAlong, .draggedAlong])
    #expect(analysis.roots == [queue])
    #expect(analysis.leaks.subtreeCount(of: nodes[0]) == 3)
    #expect(analysis.leaks.edges(of: nodes[1]).map(\.offset) == [16])
  }

  @Test("A shared object that has lost an owner is no cycle, whatever leads back to it")
  func lostOwner() throws {
    let table = SampleHeap.constants + 0x100
    var heap = SampleHeap()
    /// A parent with a pointer to itself and a child that leads back, both with their counts.
    func family(owners: UInt64, weak: UInt64) -> [UInt64] {
      let child = heap.block(48)
      let parent = heap.block(64)
      heap.set(parent, table, weak << 32 | owners, parent + 16, parent, child + 16, child)
      heap.set(child, table, 1 << 32 | 1, parent + 16, parent)
      return [child, parent]
    }
    let orphan = family(owners: 1, weak: 3)
    let cycle = family(owners: 1, weak: 2)
    let beyondCounting = family(owners: 1, weak: 1 << 17)
    let analysis = try heap.analysis()
    func roles(_ blocks: [UInt64]) -> [LeakForest.Role] {
      blocks.compactMap { analysis.node(at: $0) }.map(analysis.leaks.role(of:))
    }
    #expect(roles(orphan) == [.draggedAlong, .rootLeak])
    #expect(roles(cycle) == [.rootCycle, .rootCycle])
    #expect(roles(beyondCounting) == [.rootCycle, .rootCycle])
    #expect(analysis.roots == [orphan[1], cycle[0], beyondCounting[0]])
  }

  @Test("Of a shared object beside its counts the object is the leak")
  func lostOwnerBesideCounts() throws {
    let table = SampleHeap.constants + 0x100
    var heap = SampleHeap()
    let child = heap.block()
    let counts = heap.block(24)
    let object = heap.block(words: [child])
    heap.set(counts, table, 2 << 32 | 1, object)
    heap.set(child, object, counts)
    // An object of C++ with two numbers, to which nothing leads as a shared pointer does.
    let (first, second) = (heap.block(), heap.block())
    heap.set(first, table, 5 << 32 | 7, second)
    heap.set(second, table, 0, first)
    let analysis = try heap.analysis()
    #expect(analysis.roots == [object, first])
    let roles = [child, counts, object, first].compactMap { analysis.node(at: $0) }
      .map(analysis.leaks.role(of:))
    #expect(roles == [.draggedAlong, .draggedAlong, .rootLeak, .rootCycle])
  }

  @Test("Of two leaks that share a block, the older one has it; everything is counted once")
  func shared() throws {
    var heap = SampleHeap()
    let shared = heap.block(100)
    let older = heap.block(9, words: [shared])
    let younger = heap.block(10, words: [shared])
    let analysis = try heap.analysis()
    #expect(analysis.roots == [older, younger])
    let counts = Array(analysis.leaks.roots).map(analysis.leaks.subtreeCount(of:))
    let bytes = Array(analysis.leaks.roots).map(analysis.leaks.subtreeBytes(of:))
    #expect(counts == [2, 1])
    #expect(bytes == [109, 10])
  }

  @Test("A leaked list of 100 000 elements does not overflow a stack")
  func longList() throws {
    var heap = SampleHeap()
    heap.snapshot.region(0x200_0000..<0x800_0000, path: "[heap]")
    let count: UInt64 = 100_000
    for index in 0..<count {
      let address = 0x200_0010 + index * 32
      heap.trace.allocate(address, 16)
      if index + 1 < count { heap.set(address, address + 32) }
      if index > 0 { heap.set(address + 8, address - 32) }
    }
    let analysis = try heap.analysis()
    #expect(analysis.roots == [0x200_0010])
    #expect(analysis.leaks.role(of: 0) == .rootLeak)
    #expect(analysis.leaks.subtreeCount(of: 0) == 100_000)
    #expect(analysis.leaks.root(of: 99_999) == 0)
  }
}
