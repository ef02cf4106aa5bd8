import LeakAnalysis
import Testing
import TraceReader

@Suite("Where containers of C++ have no elements")
struct FreeElementsTests {
  private static let variable = SampleHeap.globals + 64
  private static let storage = StackID(7)

  /// What became of three blocks to which the words of a vector's storage lead, of which two are in use.
  private func states(
    at container: UInt64 = variable, with words: [UInt64] = [16, 40], stack: StackID = storage,
    _ change: (inout SampleHeap, _ storage: UInt64) -> Void = { _, _ in }
  ) throws -> [Reachability.State?] {
    var heap = SampleHeap()
    let storage = heap.block(40, stack: stack)
    let nodes = (0..<3).map { _ in heap.block(16) }
    heap.snapshot.words(at: storage, nodes)
    heap.set(Self.variable, storage)
    heap.snapshot.words(at: container, [storage] + words.map { storage + $0 })
    change(&heap, storage)
    let analysis = try heap.analysis(isElements: { $0 == Self.storage })
    return nodes.map(analysis.state(at:))
  }

  private static let all: [Reachability.State?] = [.reached, .reached, .reached]

  @Test("What a vector has left behind its last element holds nothing")
  func vector() throws {
    #expect(try states() == [.reached, .reached, .unreached])
    #expect(try states(with: [0, 40]) == [.unreached, .unreached, .unreached])
    #expect(try states(with: [40, 40]) == Self.all)
  }

  @Test("A vector in a block counts, one in memory that nobody has does not")
  func places() throws {
    #expect(
      try states(at: SampleHeap.heap + 0x8000) { heap, _ in
        _ = heap.block(0x9000)
      } == [.reached, .reached, .unreached])
    #expect(try states(at: SampleHeap.heap + 0x8000) == Self.all)
    #expect(try states(at: SampleHeap.stackPointer - 0x4000) == Self.all)
  }

  @Test("Words that are no vector, and storage of something else, tell nothing")
  func others() throws {
    #expect(try states(stack: StackID(8)) == Self.all)
    #expect(try states(with: [16, 32]) == Self.all)
    #expect(try states(with: [48, 40]) == Self.all)
  }

  @Test("Of several containers the one with most elements counts")
  func several() throws {
    #expect(
      try states { heap, storage in
        heap.set(Self.variable + 64, storage, storage + 24, storage + 40)
      } == Self.all)
  }

  @Test("Where a stack or a register leads to the storage, all of it holds")
  func storageInHand() throws {
    #expect(
      try states { heap, storage in
        heap.set(SampleHeap.stackPointer + 64, storage + 24)
      } == Self.all)
  }

  @Test("A deque holds from its first element to its last one")
  func deque() throws {
    var heap = SampleHeap()
    let map = heap.block(64, stack: Self.storage)
    let parts = (0..<3).map { _ in heap.block(32, stack: Self.storage) }
    let nodes = (0..<12).map { _ in heap.block(16) }
    for (number, part) in parts.enumerated() {
      heap.snapshot.words(at: part, Array(nodes[number * 4..<number * 4 + 4]))
    }
    // The last part is not in use any more.
    heap.set(map + 8, parts[0], parts[1], parts[2])
    func iterator(_ number: Int, _ element: UInt64) -> [UInt64] {
      let part = parts[number]
      return [part + 8 * element, part, part + 32, map + 8 + 8 * UInt64(number)]
    }
    heap.snapshot.words(at: Self.variable, [map, 8] + iterator(0, 3) + iterator(1, 2))
    let isElements = { $0 == Self.storage }
    let analysis = try heap.analysis(isElements: isElements)
    #expect(nodes.indices.filter { analysis.state(at: nodes[$0]) == .reached } == [3, 4, 5])
    #expect(analysis.state(at: parts[2]) == .unreached)

    heap.snapshot.words(at: Self.variable, [map, 8] + iterator(1, 1) + iterator(1, 3))
    let short = try heap.analysis(isElements: isElements)
    #expect(nodes.indices.filter { short.state(at: nodes[$0]) == .reached } == [5, 6])
  }
}
