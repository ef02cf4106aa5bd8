import CTraceFormat
import LeakAnalysis
import Testing
import TraceReader

@Suite("What lies behind private data of GObject")
struct GObjectInteriorTests {
  private static let code: UInt64 = 0x7b00_0000_0100

  /// A process with GObject and code.
  private func heap() -> SampleHeap {
    var heap = SampleHeap()
    heap.snapshot.addClass("GObject", at: 0x70, kind: MT_SNAPSHOT_GOBJECT_CLASS.rawValue)
    addCode(to: &heap)
    return heap
  }

  private func addCode(to heap: inout SampleHeap) {
    heap.trace.image(
      Image(
        index: 1, path: "/usr/lib/libapp.so", loadBias: 0x7b00_0000_0000,
        start: Address(0x7b00_0000_0000), end: Address(0x7b00_0000_1000),
        textStart: Address(0x7b00_0000_0000), textEnd: Address(0x7b00_0000_1000)))
    heap.snapshot.region(
      0x7b00_0000_0000..<0x7b00_0000_1000, path: "/usr/lib/libapp.so",
      protection: [.read, .execute])
  }

  @Test("Instances of registered types are held by their addresses")
  func instances() throws {
    var heap = heap()
    let (node, type) = (heap.block(96), heap.block(64))
    let (instance, other) = (heap.block(88), heap.block(88))
    heap.set(node + 72, node)
    heap.set(type, node)
    heap.set(instance + 16, type)
    heap.set(other + 16, node)
    heap.set(SampleHeap.globals, node, type, instance + 16, other + 16)
    let analysis = try heap.analysis()
    #expect([instance, other].map(analysis.state(at:)) == [.reached, .possible])
  }

  @Test("Fundamental types are held by their table")
  func fundamentalTypes() throws {
    var heap = heap()
    let (type, other, foreign) = (
      heap.block(96, stack: StackID(7)), heap.block(96, stack: StackID(7)),
      heap.block(96, stack: StackID(8))
    )
    heap.set(other, SampleHeap.globals)
    heap.set(SampleHeap.globals, type + 8, other + 8, foreign + 8)
    let analysis = try heap.analysis(isOfGObject: { $0 == StackID(7) })
    #expect(
      [type, other, foreign].map(analysis.state(at:)) == [.reached, .possible, .possible])
  }

  @Test("Closures are held by their addresses")
  func closures() throws {
    var heap = heap()
    let closure = heap.block(64, words: [Self.code, 8, 0, 0, 0x2003, Self.code])
    let empty = heap.block(64, words: [0, 8, 0, 0, 0x2003])
    let data = heap.block(64, words: [closure, 8, 0, 0, 0x2003, Self.code])
    heap.set(SampleHeap.globals, closure + 32, empty + 32, data + 32)
    let analysis = try heap.analysis()
    #expect(
      [closure, empty, data].map(analysis.state(at:)) == [.reached, .possible, .possible])
  }

  @Test("Nothing is known of them where no class of GObject is")
  func withoutGObject() throws {
    var heap = SampleHeap()
    addCode(to: &heap)
    let closure = heap.block(64, words: [Self.code, 8, 0, 0, 0x2003, Self.code])
    heap.set(SampleHeap.globals, closure + 32)
    #expect(try heap.analysis().state(at: closure) == .possible)
  }
}
