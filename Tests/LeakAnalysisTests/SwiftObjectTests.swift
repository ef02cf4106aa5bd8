import LeakAnalysis
import Testing
import TraceReader

@Suite("Objects of Swift")
struct SwiftObjectTests {
  private static let metadata = SampleHeap.constants + 0x200
  /// The counts of an object that is held once.
  private static let counts: UInt64 = 3

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

  @Test("An unowned reference does not hold a living object, but the memory of one taken down")
  func unowned() throws {
    var heap = SampleHeap()
    let living = heap.block(32, words: [Self.metadata, Self.counts])
    let takenDown = heap.block(32, words: [Self.metadata, Self.counts | 1 << 32])
    let holder = heap.block(40, words: [Self.metadata + 0x100, Self.counts, living, takenDown])
    heap.set(SampleHeap.globals, holder)
    let unowned = [Self.metadata + 0x100: [UInt64(16), 24]]
    #expect(try heap.analysis(unowned: unowned).leaked == [living])
    #expect(try heap.analysis().leaked == [])
  }
}
