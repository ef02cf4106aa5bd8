import LeakAnalysis
import Testing
import TraceReader

@Suite("Parts of arrays that grow without moving")
struct ArrayPartTests {
  /// A table of a first part and of others, each as large as all in front of it together.
  private struct Table {
    var heap = SampleHeap()
    var parts: [UInt64] = []
    /// The words of the table.
    var words: [UInt64] = []

    init(
      count: Int, sizes: [UInt64] = [64, 64, 128, 256, 512], stacks: [UInt32] = [1, 1, 1, 1, 1]
    ) {
      for (number, size) in sizes.prefix(count).enumerated() {
        parts.append(heap.block(size, stack: StackID(rawValue: stacks[number])))
        words.append(number == 0 ? parts[number] : parts[number] - size)
      }
    }

    /// The parts that are leaked where the table is at an address.
    mutating func leaked(at address: UInt64 = SampleHeap.globals) throws -> [UInt64] {
      heap.snapshot.words(at: address, words)
      return try heap.analysis(allocatingCall: { 1 << 32 + UInt64($0.rawValue) }).leaked
    }
  }

  @Test("are held by words that lead in front of them", arguments: [2, 3, 5])
  func held(count: Int) throws {
    var table = Table(count: count)
    #expect(try table.leaked() == [])
  }

  @Test("hold what their elements lead to, and are held by tables in blocks")
  func elements() throws {
    var table = Table(count: 4)
    let block = table.heap.block(64, stack: StackID(rawValue: 2))
    table.heap.set(SampleHeap.globals + 0x100, block)
    let element = table.heap.block(32, stack: StackID(rawValue: 3))
    table.heap.set(table.parts[3] + 8, element)
    #expect(try table.leaked(at: block) == [])
  }

  @Test("are leaked with their table")
  func lost() throws {
    var table = Table(count: 4)
    let block = table.heap.block(64, stack: StackID(rawValue: 2))
    table.heap.snapshot.words(at: block, table.words)
    let analysis = try table.heap.analysis(allocatingCall: { 1 << 32 + UInt64($0.rawValue) })
    #expect(analysis.leaked == table.parts + [block])
    #expect(analysis.roots == [block])
  }

  @Test("are told by two of them, of which one is twice as large")
  func pairs() throws {
    // Without the first one.
    var table = Table(count: 4)
    table.words[0] = 0
    #expect(try table.leaked() == [table.parts[0]])
    // The last two are too far apart.
    table = Table(count: 4, sizes: [64, 64, 128, 512])
    #expect(try table.leaked() == [table.parts[3]])
    // A single word, which leads into the first one, or one beside a block of another size.
    table = Table(count: 2)
    table.words[0] = 0
    #expect(try table.leaked() == [table.parts[1]])
    table = Table(count: 2, sizes: [48, 64])
    #expect(try table.leaked() == [table.parts[1]])
  }

  @Test("come from one call")
  func calls() throws {
    var table = Table(count: 3, stacks: [1, 2, 3, 3, 3])
    #expect(try table.leaked() == [table.parts[1], table.parts[2]])
  }

  @Test("are no neighbours of blocks to whose beginnings two words in a row lead")
  func neighbours() throws {
    // Where blocks have no gaps between them, as those of jemalloc.
    var heap = SampleHeap()
    let stack = StackID(rawValue: 1)
    let first = heap.block(64, stack: stack)
    let second = SampleHeap.mapping + 0x100
    heap.trace.allocate(second, 64, .malloc, stack: stack)
    heap.trace.allocate(second + 64, 64, .malloc, stack: stack)
    heap.set(SampleHeap.globals, first, second)
    let analysis = try heap.analysis(allocatingCall: { 1 << 32 + UInt64($0.rawValue) })
    #expect(analysis.leaked == [second + 64])
  }

  @Test("are not taken for freed memory in front of them")
  func dangling() throws {
    var heap = SampleHeap()
    let freed = heap.block(112)
    heap.free(freed)
    let parts = [64, 128].map { heap.block($0) }
    #expect(parts[1] - 128 > freed && parts[0] - 64 > freed)
    heap.set(SampleHeap.globals, parts[0] - 64, parts[1] - 128)
    #expect(try heap.dangling(allocatingCall: { _ in 1 }).isEmpty)
    #expect(try heap.dangling().count == 2)
  }
}
