import Testing

@testable import Symbolication
@testable import TraceReader

@Suite("Backtraces with names")
struct StackSymbolicatorTests {
  private static let libc = "/lib/x86_64-linux-gnu/libc.so.6"

  /// main (2) <- parse (3) <- malloc (4); 5 is alone in libc; 6 and 7 are cut; 8 is exact;
  /// main (2) <- gap (9) <- parse (10).
  private let stacks = StackTable(
    nodes: [
      .init(pc: 0x100, parent: 0, flags: 0), .init(pc: 0x200, parent: 2, flags: 0),
      .init(pc: 0x300, parent: 3, flags: 0), .init(pc: 0x300, parent: 0, flags: 0),
      .init(pc: 0x200, parent: 1, flags: 0), .init(pc: 0x300, parent: 6, flags: 0),
      .init(pc: 0x100, parent: 0, flags: 1), .init(pc: 512, parent: 2, flags: 2),
      .init(pc: 0x300, parent: 9, flags: 0),
    ],
    spans: [.init(first: 2, count: 9, position: 0)])

  private func make(images: [Image] = []) -> (StackSymbolicator, CountingSymbolicator) {
    let fake = FakeSymbolicator()
    fake.add("main", at: 0x100, file: "/src/main.c", line: 10)
    fake.add("read_field", at: 0x200, file: "/src/parse.c", line: 7)
    fake.add("parse_header", at: 0x200, file: "/src/parse.c", line: 40)
    fake.add("malloc", at: 0x300, image: Self.libc)
    let counting = CountingSymbolicator(fake)
    let symbolicator = StackSymbolicator(
      stacks: stacks, images: ImageMap(images: images), symbolicator: counting)
    return (symbolicator, counting)
  }

  private func frames(
    of stack: UInt32, _ symbolicator: StackSymbolicator
  ) -> [SymbolicatedFrame] {
    stacks.frames(of: StackID(stack)).flatMap(symbolicator.frames(of:))
  }

  @Test("inlined calls are frames, the first one of the program is responsible")
  func inlinedCalls() {
    let symbolicator = make().0
    let frames = frames(of: 4, symbolicator)
    #expect(frames.map(\.displayName) == ["malloc", "read_field", "parse_header", "main"])
    #expect(frames.map(\.isInlined) == [false, true, false, false])
    #expect(frames[1].location?.description == "parse.c:7")
    #expect(symbolicator.responsibleFrame(of: StackID(4))?.displayName == "read_field")
  }

  @Test("in a stack of nothing but allocators the outermost is responsible")
  func nothingButAllocators() {
    #expect(make().0.responsibleFrame(of: StackID(5))?.displayName == "malloc")
  }

  @Test("a gap stands between the frames that were kept")
  func gap() {
    let symbolicator = make().0
    let frames = frames(of: 10, symbolicator)
    #expect(frames.map(\.displayName) == ["malloc", "<512 or more frames left out>", "main"])
    #expect(frames.map { $0.role == .marker } == [false, true, false])
    #expect(symbolicator.responsibleFrame(of: StackID(10))?.displayName == "main")
  }

  @Test("functions without names that objects of four classes come from are asked for them")
  func unnamedAllocators() {
    func responsible(_ names: [String]) -> [UInt64?] {
      // main (2); who makes objects (3 …); each calls 0x200, which calls 0x100.
      var nodes = [StackTable.Node(pc: 0x900, parent: 0, flags: 0)]
      var types = TypeTable()
      var stacks: [StackID] = []
      for (index, name) in names.enumerated() {
        let caller = UInt32(nodes.count) + 2
        nodes.append(.init(pc: 0x300 + UInt64(index), parent: 2, flags: 0))
        nodes.append(.init(pc: 0x200, parent: caller, flags: 0))
        nodes.append(.init(pc: 0x100, parent: caller + 1, flags: 0))
        let id = TypeID(rawValue: UInt32(index))
        types.add(BlockType(id: id, kind: .swiftClass, name: name))
        types.add(TypeSighting(stack: StackID(caller + 2), size: 32, type: id))
        stacks.append(StackID(caller + 2))
      }
      let table = StackTable(
        nodes: nodes, spans: [.init(first: 2, count: nodes.count, position: 0)])
      let program = Image(
        index: 0, path: "/opt/app/app", loadBias: 0, start: Address(0), end: Address(0x1000),
        textStart: Address(0), textEnd: Address(0x1000))
      let symbolicator = StackSymbolicator(
        stacks: table, images: ImageMap(images: [program]), types: types,
        symbolicator: FakeSymbolicator())
      return stacks.map { symbolicator.responsibleFrame(of: $0)?.programCounter.rawValue }
    }
    #expect(responsible(["app.A", "app.B", "app.C", "app.D"]) == [0x300, 0x301, 0x302, 0x303])
    #expect(responsible(["app.A", "app.B", "app.C"]) == [0x100, 0x100, 0x100])
    let generic = ["app.A<Int>", "app.A<Bool>", "app.A<String>", "app.B"]
    #expect(responsible(generic) == [0x100, 0x100, 0x100, 0x100])
  }

  @Test("nobody is responsible where there is no stack", arguments: [StackID.none, StackID(4711)])
  func noStack(_ missing: StackID) {
    #expect(make().0.responsibleFrame(of: missing) == nil)
  }

  @Test("an address is looked up once, and only as far as needed")
  func caching() {
    let (symbolicator, counting) = make()
    #expect(symbolicator.responsibleFrame(of: StackID(4))?.displayName == "read_field")
    #expect(counting.lookups == 2)
    _ = frames(of: 4, symbolicator)
    _ = frames(of: 4, symbolicator)
    #expect(counting.lookups == 3)
    _ = frames(of: 8, symbolicator)
    #expect(counting.lookups == 4, "an exact address is another one")
  }

  @Test("the source of a call is read once, however many stacks lead through it")
  func sourcesAreReadOnce() {
    let (symbolicator, counting) = make(images: [.of("/opt/app/app")])
    counting.type = TypeName(short: "Header", full: "Header", language: .c)
    for stack in [4, 7, 4] {
      let type = symbolicator.allocatedType(of: StackID(UInt32(stack)), isNew: false)
      #expect(type?.short == "Header")
    }
    #expect(counting.typeLookups == 1)
    let places = [4, 7].map { symbolicator.responsiblePlace(of: StackID($0)) }
    #expect(places[0] == places[1])
  }
}

/// Counts what is asked of another symbolicator.
private final class CountingSymbolicator: Symbolicator {
  private let base: any Symbolicator
  private(set) var lookups = 0
  /// What all calls of allocators are for.
  var type: TypeName?
  private(set) var typeLookups = 0
  var warnings: [SymbolicationWarning] { base.warnings }

  init(_ base: any Symbolicator) {
    self.base = base
  }

  func frames(
    at programCounter: Address, in image: Image?, isExact: Bool
  ) -> [SymbolicatedFrame] {
    lookups += 1
    return base.frames(at: programCounter, in: image, isExact: isExact)
  }

  func allocatedType(at site: AllocationSite, in image: Image) -> TypeName? {
    typeLookups += 1
    return type
  }
}
