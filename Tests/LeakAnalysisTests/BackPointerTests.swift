import LeakAnalysis
import Testing
import TraceReader

@Suite("Pointers that lead back")
struct BackPointerTests {
  private func roles(_ analysis: LeakAnalysis, _ blocks: [UInt64]) -> [LeakForest.Role] {
    blocks.compactMap { analysis.node(at: $0) }.map(analysis.leaks.role(of:))
  }

  @Test("A tree whose nodes know their parents is the leak of its root, even if that is younger")
  func tree() throws {
    var heap = SampleHeap()
    let leaves = [heap.block(), heap.block(), heap.block()]
    let (inner, root) = (heap.block(), heap.block())
    heap.set(root, inner, leaves[0])
    heap.set(inner, leaves[1], leaves[2], root)
    heap.set(leaves[0] + 16, root)
    heap.set(leaves[1] + 16, inner)
    heap.set(leaves[2] + 16, inner)
    let analysis = try heap.analysis()
    #expect(analysis.roots == [root])
    #expect(
      roles(analysis, [root, inner] + leaves)
        == [.rootLeak, .draggedAlong, .draggedAlong, .draggedAlong, .draggedAlong])
    #expect(analysis.leaks.subtreeCount(of: try #require(analysis.node(at: root))) == 5)
  }

  @Test("Elements in containers lead back to their owner, of which there may be only one")
  func containers() throws {
    let storage = StackID(2)
    var heap = SampleHeap()
    let document = heap.block(48)
    let elements = heap.block(16, stack: storage)
    let element = heap.block(64, words: [document])
    heap.set(document, 0, elements)
    heap.set(elements, element)
    #expect(try heap.analysis(isContainer: { $0 == storage }).roots == [document])
    let known = try heap.analysis(isContainer: { $0 == storage })
    #expect(
      roles(known, [document, elements, element])
        == [.rootLeak, .draggedAlong, .draggedAlong])
    let unknown = try heap.analysis()
    #expect(
      roles(unknown, [document, elements, element])
        == [.rootCycle, .rootCycle, .rootCycle])
  }

  @Test("The parent of an object of Qt does not keep it, also where it has no other child")
  func parentsOfQt() throws {
    let table = SampleHeap.constants + 0x100
    /// A parent and its child, each with its data, and the list of children; the child last.
    func family(childIsListed: Bool) throws -> [LeakForest.Role] {
      var heap = SampleHeap()
      let parent = (object: heap.block(16), data: heap.block(120))
      let child = (object: heap.block(24), data: heap.block(144))
      let list = heap.block(34)
      for (number, one) in [parent, child].enumerated() {
        heap.set(one.object, table + UInt64(number) * 16, one.data)
        heap.set(one.data, table + 0x80 + UInt64(number) * 16, one.object)
      }
      heap.set(parent.data + 24, list)
      heap.set(child.data + 16, parent.object)
      heap.set(list + 16, childIsListed ? child.object : child.data)
      return roles(
        try heap.analysis(), [parent.object, parent.data, list, child.object, child.data])
    }
    #expect(
      try family(childIsListed: true)
        == [.rootLeak, .draggedAlong, .draggedAlong, .draggedAlong, .draggedAlong])
    #expect(try family(childIsListed: false).first == .rootCycle)
  }

  @Test("Links of a list in both directions make no cycle, those of a ring do")
  func lists() throws {
    var heap = SampleHeap()
    let nodes = (0..<4).map { _ in heap.block() }
    for (node, next) in zip(nodes, nodes.dropFirst()) {
      heap.set(node, next)
      heap.set(next + 8, node)
    }
    let ring = (0..<3).map { _ in heap.block() }
    for index in 0..<3 { heap.set(ring[index] + 8, ring[(index + 1) % 3], ring[(index + 2) % 3]) }
    let analysis = try heap.analysis()
    #expect(analysis.roots == [nodes[0], ring[0]])
    #expect(
      roles(analysis, nodes) == [.rootLeak, .draggedAlong, .draggedAlong, .draggedAlong])
    #expect(roles(analysis, ring) == [.rootCycle, .rootCycle, .rootCycle])
  }

  @Test("Where something counts references, children may keep their parents")
  func counted() throws {
    let rc = StackID(2)
    let (table, information) = (SampleHeap.constants + 0x108, SampleHeap.constants + 0x200)
    var heap = SampleHeap()
    /// A parent and two children that lead back.
    func family(_ first: UInt64 = 0, _ second: UInt64 = 0, stack: StackID = .none) -> [UInt64] {
      let blocks = (0..<3).map { _ in heap.block(48, words: [first, second], stack: stack) }
      heap.set(blocks[0] + 16, blocks[1], blocks[2])
      heap.set(blocks[1] + 32, blocks[0])
      heap.set(blocks[2] + 32, blocks[0])
      return blocks
    }
    let plain = family()
    let swift = family(SampleHeap.constants + 0x300, 3)
    let cxx = family(table, 3)
    let rust = family(stack: rc)
    heap.set(table - 8, information)
    heap.set(information, SampleHeap.constants + 0x400)
    let number = try heap.analysis(countsReferences: { $0 == rc })
    #expect(roles(number, swift) == [.rootLeak, .draggedAlong, .draggedAlong])
    heap.addSwiftRuntime()
    let analysis = try heap.analysis(countsReferences: { $0 == rc })
    #expect(roles(analysis, plain) == [.rootLeak, .draggedAlong, .draggedAlong])
    #expect(roles(analysis, swift) == [.rootCycle, .rootCycle, .rootCycle])
    #expect(roles(analysis, cxx) == [.rootLeak, .draggedAlong, .draggedAlong])
    #expect(roles(analysis, rust) == [.rootCycle, .rootCycle, .rootCycle])
    // Of what counts references only a weak one is known not to keep.
    let parents = try heap.analysis(countsReferences: { $0 == rc }, isWeak: { $0 == 32 })
    #expect(roles(parents, rust) == [.rootLeak, .draggedAlong, .draggedAlong])
    #expect(roles(parents, swift) == [.rootCycle, .rootCycle, .rootCycle])
    let others = try heap.analysis(countsReferences: { $0 == rc }, isWeak: { $0 == 40 })
    #expect(roles(others, rust) == [.rootCycle, .rootCycle, .rootCycle])
  }

  @Test("What shares itself and counts that is a cycle, what only points to itself is none")
  func sharesItself() throws {
    let rc = StackID(2)
    var heap = SampleHeap()
    let (shared, plain) = (heap.block(48, stack: rc), heap.block(48))
    let (other, child) = (heap.block(48, stack: rc), heap.block(48, stack: rc))
    for block in [shared, plain, other] { heap.set(block + 32, block) }
    heap.set(shared + 16, child)
    heap.set(child + 40, child)
    let analysis = try heap.analysis(
      countsReferences: { $0 == rc }, isWeak: { $0 != 32 }, isCounted: { $0 == 32 })
    #expect(roles(analysis, [shared, child, plain]) == [.rootCycle, .draggedAlong, .rootLeak])
    #expect(roles(analysis, [other]) == [.rootCycle])
    let unknown = try heap.analysis(countsReferences: { $0 == rc })
    #expect(roles(unknown, [shared, child, plain]) == [.rootLeak, .draggedAlong, .rootLeak])
    let uncounted = try heap.analysis(isCounted: { _ in true })
    #expect(roles(uncounted, [shared, other, plain]) == [.rootLeak, .rootLeak, .rootLeak])
  }

  @Test("A block that reaches into the next one, as damage makes them, has no value of its own")
  func overlaps() throws {
    var heap = SampleHeap()
    let block = heap.block(48)
    heap.trace.allocate(block + 8, 24)
    let analysis = try heap.analysis(countsReferences: { _ in true }, isCounted: { _ in true })
    #expect(analysis.leaked == [block, block + 8])
  }

  @Test("Shared pointers of libc++ count as well")
  func libcxx() throws {
    let table = SampleHeap.constants + 0x100
    var heap = SampleHeap()
    let (parent, first, second) = (heap.block(80), heap.block(80), heap.block(80))
    for block in [parent, first, second] { heap.set(block, table) }
    heap.set(parent + 32, first + 24, first, second + 24, second)
    heap.set(first + 64, parent + 24, parent)
    heap.set(second + 64, parent + 24, parent)
    let analysis = try heap.analysis()
    #expect(roles(analysis, [parent, first, second]) == [.rootCycle, .rootCycle, .rootCycle])
  }
}
