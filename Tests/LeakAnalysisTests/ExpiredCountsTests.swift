import LeakAnalysis
import Testing
import TraceReader

@Suite("Objects of std::shared_ptr that are gone")
struct ExpiredCountsTests {
  private static let variable = SampleHeap.globals + 64
  private static let expired: UInt64 = 1 << 32

  /// What became of a block that lies where an object was, and of one that a member of such an object leads to, where a
  /// `std::weak_ptr` in a block of a variable leads to the counts.
  private func states(
    owners: UInt64 = expired, isOnlyForObject: Bool = true, isKnown: Bool = true,
    _ change: (inout SampleHeap, _ counts: UInt64) -> Void = { _, _ in }
  ) throws -> [Reachability.State?] {
    var heap = SampleHeap()
    let blocks = [heap.block(24), heap.block(24)]
    let counts = heap.block(40, words: [SampleHeap.constants, owners, 5, 6, blocks[1]])
    heap.set(Self.variable, heap.block(24, words: [8, blocks[0], counts]))
    change(&heap, counts)
    let types = [SampleHeap.constants: SharedCounts(isOnlyForObject: isOnlyForObject)]
    let analysis = try heap.analysis(sharedCounts: isKnown ? types : [:])
    #expect(analysis.state(at: counts) == .reached)
    return blocks.map(analysis.state(at:))
  }

  @Test("Neither a weak pointer to one holds what lies there now, nor do its members")
  func expired() throws {
    #expect(try states() == [.unreached, .unreached])
    #expect(try states(isOnlyForObject: false) == [.unreached, .reached])
  }

  @Test("How many weak references libc++ counts is not known")
  func libcxx() throws {
    #expect(try states(owners: .max) == [.reached, .unreached])
  }

  @Test("An object with owners holds, and so does what is no counts")
  func others() throws {
    #expect(try states(owners: 1 << 32 | 1) == [.reached, .reached])
    #expect(try states(owners: 0) == [.reached, .reached])
    #expect(try states(isKnown: false) == [.reached, .reached])
  }

  @Test("Where a stack leads to the counts, the destructor of the object may run")
  func destructor() throws {
    #expect(
      try states { heap, counts in
        heap.set(SampleHeap.stackPointer + 64, counts + 16)
      } == [.reached, .reached])
  }

  @Test("Where more words lead to the counts than they count, some are from before")
  func moreWords() throws {
    #expect(
      try states { heap, counts in
        heap.set(Self.variable + 32, counts)
      } == [.reached, .unreached])
    #expect(
      try states(owners: 2 << 32) { heap, counts in
        heap.set(Self.variable + 32, counts)
      } == [.unreached, .unreached])
  }

  @Test("A variable that is a weak pointer holds the counts only")
  func weakVariable() throws {
    var heap = SampleHeap()
    let block = heap.block(24)
    let counts = heap.block(24, words: [SampleHeap.constants, Self.expired, block])
    heap.set(Self.variable, block, counts)
    let types = [SampleHeap.constants: SharedCounts(isOnlyForObject: true)]
    let analysis = try heap.analysis(sharedCounts: types)
    #expect(analysis.state(at: counts) == .reached)
    #expect(analysis.state(at: block) == .unreached)
  }

  @Test("Members of such an object do not dangle")
  func dangling() throws {
    var heap = SampleHeap()
    let freed = heap.block(16)
    let counts = heap.block(56, words: [SampleHeap.constants, Self.expired, 5, 6, 7, freed])
    heap.free(freed)
    heap.set(Self.variable, counts)
    let types = [SampleHeap.constants: SharedCounts(isOnlyForObject: true)]
    #expect(try heap.dangling(sharedCounts: types).isEmpty)
    #expect(try heap.dangling().count == 1)
  }
}
