import Symbolication
import Testing

@testable import Reports
@testable import TraceReader

@Suite struct StackNamesTests {
  /// Names of stacks; each node has a return address, a parent and flags.
  private func names(
    _ nodes: [(pc: UInt64, parent: UInt32, flags: UInt32)], images: [Image] = [],
    _ symbolicator: FakeSymbolicator
  ) -> StackNames {
    let nodes = nodes.map { StackTable.Node(pc: $0.pc, parent: $0.parent, flags: $0.flags) }
    let stacks = StackTable(
      nodes: nodes, spans: [StackTable.Span(first: 2, count: nodes.count, position: 0)])
    return StackNames(stacks: stacks, images: ImageMap(images: images), symbolicator: symbolicator)
  }

  @Test func stacksThatReadTheSameAreAlike() {
    let symbolicator = FakeSymbolicator()
    symbolicator.add("main", at: 0x1000)
    for address in [0x2000, 0x2001] as [UInt64] {
      symbolicator.add("parse", at: address, file: "/src/parser.c", line: 7)
    }
    symbolicator.add("emit", at: 0x3000)
    let names = names(
      [
        (0x1000, 0, 0), (0x2000, 2, 0), (0x2001, 2, 0), (0x3000, 2, 0),  // 2 to 5
        (0x2000, 0, 0), (0x2001, 1, 0), (0x2000, 1, 0),  // 6 to 8: no main; two are cut
        (64, 2, 2), (0x2001, 9, 0), (0x3000, 3, 0),  // 9 to 11: a gap; one deeper
      ], symbolicator)
    let first = (2...11).map { names.likeness(of: StackID($0)).rawValue }
    #expect(first == [2, 3, 3, 5, 6, 7, 7, 9, 10, 11])
    #expect((2...11).map { names.likeness(of: StackID($0)).rawValue } == first)
    #expect(names.likeness(of: .none) == .none)
  }

  /// A hundred thousand stacks of twenty frames are sixteen megabytes, not three hundred.
  @Test func stacksShareTheirPlaces() {
    #expect(MemoryLayout<ReportFrame>.stride == MemoryLayout<Int>.stride)
    let symbolicator = FakeSymbolicator()
    symbolicator.add("main", at: 0x1000, file: "/src/main.c", line: 7)
    symbolicator.add("parse", at: 0x2000)
    let names = names([(0x1000, 0, 0), (0x2000, 2, 0)], symbolicator)
    let outer = names.frames(of: StackID(2))
    var inner = names.frames(of: StackID(3))
    #expect(inner.count == 2 && inner.last == outer.first)
    inner[1].name = "other"
    #expect(outer[0].name == "main" && inner[1].name == "other" && inner[1] != outer[0])
    inner[1].name = "main"
    #expect(inner[1] == outer[0] && Set(inner + outer).count == 2)
  }

  @Test func buffersAndTablesOfCodeHoldNoPointers() {
    let symbolicator = FakeSymbolicator()
    symbolicator.add("_IO_file_doallocate", at: 0x1000)
    symbolicator.add("__CFBasicHashGetPtrIndex_block_invoke", at: 0x2000)
    symbolicator.add("__CFBasicHashRehash", at: 0x3000)
    let names = names([(0x1000, 0, 0), (0x2000, 0, 0), (0x3000, 0, 0)], symbolicator)
    #expect((2...4).map { names.holdsNoPointers(of: StackID($0)) } == [true, true, false])
    #expect(!names.holdsNoPointers(of: .none))
  }

  /// An address is that of one plugin now, and then of another: which one a node tells by its age.
  @Test func anAddressHasTheNamesOfItsTime() {
    func plugin(_ index: UInt32, _ path: String, from first: UInt32, to end: UInt32) -> Image {
      Image(
        index: index, path: path, loadBias: 0, start: Address(0x1000), end: Address(0x2000),
        textStart: Address(0x1000), textEnd: Address(0x2000), firstStack: StackID(first),
        unloadedFromStack: StackID(end))
    }
    let images = [plugin(0, "/lib/a.so", from: 2, to: 4), plugin(1, "/lib/b.so", from: 4, to: 6)]
    let names = names(
      (0..<6).map { _ in (0x1500, 0, 0) }, images: images, FakeSymbolicator())
    for _ in 0..<2 {
      #expect(
        [2, 4, 3, 6, 5, 7].map { names.frames(of: StackID($0)).first?.image }
          == ["/lib/a.so", "/lib/b.so", "/lib/a.so", nil, "/lib/b.so", nil])
    }
  }
}
