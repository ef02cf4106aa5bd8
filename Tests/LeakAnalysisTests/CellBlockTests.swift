import LeakAnalysis
import Testing
import TraceReader

@Suite("Blocks that are handed out in cells")
struct CellBlockTests {
  private static let cell: UInt64 = 48

  /// A chunk of a pool, of some of whose cells variables have the addresses, but not of the first.
  ///
  /// - Returns: Its address.
  private func chunk(
    _ heap: inout SampleHeap, owned: Int, stack: UInt32 = 1, variables: UInt64 = 0
  ) -> UInt64 {
    let chunk = heap.block(64 * Self.cell, stack: StackID(rawValue: stack))
    for cell in 0..<UInt64(owned) {
      heap.set(SampleHeap.globals + variables + cell * 8, chunk + (cell + 1) * Self.cell)
    }
    return chunk
  }

  private func analysis(_ heap: SampleHeap) throws -> LeakAnalysis {
    // The first two stacks go through one function that allocates for others.
    try heap.analysis(
      allocatingCall: { $0.rawValue <= 2 ? 0x1000 : 0x9000 }, callers: { [UInt64($0.rawValue)] })
  }

  @Test(
    "are in use where sixteen of their places have owners",
    arguments: [(16, Reachability.State.reached), (15, .possible)])
  func owners(_ count: Int, _ expected: Reachability.State) throws {
    var heap = SampleHeap()
    let chunk = chunk(&heap, owned: count)
    let held = heap.block(words: [], stack: StackID(rawValue: 9))
    heap.set(chunk + 8, held)
    let analysis = try analysis(heap)
    #expect(analysis.state(at: chunk) == expected)
    #expect(analysis.state(at: held) == expected)
  }

  @Test("are not in use by words that were left on a stack, nor by their own")
  func leftovers() throws {
    var heap = SampleHeap()
    let chunk = chunk(&heap, owned: 15)
    for cell: UInt64 in 20..<40 {
      heap.set(SampleHeap.stackPointer + cell * 8, chunk + cell * Self.cell)
      heap.set(chunk + cell * Self.cell, chunk + (cell + 1) * Self.cell)
    }
    #expect(try analysis(heap).state(at: chunk) == .possible)
  }

  @Test("are in use by the cells of others that are, one after the other")
  func chains() throws {
    var heap = SampleHeap()
    let chunks = (0..<3).map { chunk(&heap, owned: $0 == 0 ? 16 : 0, stack: 10 + UInt32($0)) }
    for (chunk, next) in zip(chunks, chunks.dropFirst()) {
      for cell in 1...UInt64(16) { heap.set(chunk + cell * 8, next + cell * Self.cell) }
    }
    let analysis = try heap.analysis(allocatingCall: { UInt64($0.rawValue) << 16 })
    #expect(chunks.map { analysis.state(at: $0) } == [.reached, .reached, .reached])
  }

  @Test("of which few cells have owners are in use where most others from their call are divided")
  func pools() throws {
    func state(owned: Int, others: Int = 0) throws -> Reachability.State? {
      var heap = SampleHeap()
      _ = chunk(&heap, owned: owned)
      _ = chunk(&heap, owned: 8, variables: 512)
      let last = chunk(&heap, owned: 1, variables: 1024)
      for other in 0..<UInt64(others) {
        heap.set(SampleHeap.globals + 2048 + other * 8, heap.block(64, stack: StackID(rawValue: 1)))
      }
      return try analysis(heap).state(at: last)
    }
    #expect(try state(owned: 8) == .reached)
    #expect(try state(owned: 6) == .possible)
    // Less than half of them are divided.
    #expect(try state(owned: 8, others: 1) == .reached)
    #expect(try state(owned: 8, others: 2) == .possible)
  }

  @Test("are told by who calls a function that allocates for others, too")
  func wrappers() throws {
    var heap = SampleHeap()
    _ = chunk(&heap, owned: 8)
    _ = chunk(&heap, owned: 8, variables: 512)
    let last = chunk(&heap, owned: 1, variables: 1024)
    // Held by its middle, but from another caller.
    let text = heap.block(64, stack: StackID(rawValue: 2))
    heap.set(SampleHeap.globals + 1600, text + 24)
    for other in 0..<UInt64(8) {
      heap.set(SampleHeap.globals + 2048 + other * 8, heap.block(64, stack: StackID(rawValue: 2)))
    }
    let analysis = try analysis(heap)
    #expect(analysis.state(at: last) == .reached)
    #expect(analysis.state(at: text) == .possible)
  }

  @Test("that only a word leads to which was left somewhere stay possible leaks")
  func lost() throws {
    var heap = SampleHeap()
    let chunks = (0..<4).map { _ in chunk(&heap, owned: 0) }
    heap.set(SampleHeap.globals, chunks[0] + Self.cell)
    for (index, chunk) in chunks.enumerated() {
      for cell in 1...UInt64(16) {
        heap.set(chunk + cell * 8, chunks[(index + 1) % 4] + cell * Self.cell)
      }
    }
    #expect(try analysis(heap).reachability.count(of: .possible) == 4)
  }
}
