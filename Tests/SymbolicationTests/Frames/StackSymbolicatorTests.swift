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

  private func make() -> (StackSymbolicator, CountingSymbolicator) {
    let fake = FakeSymbolicator()
    fake.add("main", at: 0x100, file: "/src/main.c", line: 10)
    fake.add("read_field", at: 0x200, file: "/src/parse.c", line: 7)
    fake.add("parse_header", at: 0x200, file: "/src/parse.c", line: 40)
    fake.add("malloc", at: 0x300, image: Self.libc)
    let counting = CountingSymbolicator(fake)
    let symbolicator = StackSymbolicator(
      stacks: stacks, images: ImageMap(images: []), symbolicator: counting)
    return (symbolicator, counting)
  }

  @Test("inlined calls are frames, leading allocator frames are folded")
  func backtrace() {
    let backtrace = make().0.backtrace(of: StackID(4))
    #expect(
      backtrace.frames.map(\.displayName) == ["malloc", "read_field", "parse_header", "main"])
    #expect(backtrace.frames.map(\.isInlined) == [false, true, false, false])
    #expect(backtrace.foldedCount == 1)
    #expect(
      backtrace.displayFrames().map(\.displayName) == ["read_field", "parse_header", "main"])
    #expect(backtrace.displayFrames(showAll: true).count == 4)
    #expect(backtrace.responsibleFrame?.displayName == "read_field")
    #expect(backtrace.frames[1].location?.description == "parse.c:7")
  }

  @Test("a stack of nothing but allocators is shown whole")
  func nothingButAllocators() {
    let backtrace = make().0.backtrace(of: StackID(5))
    #expect(backtrace.displayFrames().map(\.displayName) == ["malloc"])
    #expect(backtrace.responsibleFrame?.displayName == "malloc")
  }

  @Test("a gap stands between the frames that were kept")
  func gap() {
    let symbolicator = make().0
    let frames = symbolicator.backtrace(of: StackID(10)).frames
    #expect(frames.map(\.displayName) == ["malloc", "<512 or more frames left out>", "main"])
    #expect(frames.map { $0.role == .marker } == [false, true, false])
    #expect(symbolicator.responsibleFrame(of: StackID(10))?.displayName == "main")
  }

  @Test("a cut stack and a missing one say so")
  func markers() {
    let symbolicator = make().0
    let cut = symbolicator.backtrace(of: StackID(7)).frames
    #expect(cut.last?.displayName == "<callers not known>")
    #expect(cut.last?.role == .marker)
    for missing in [StackID.none, StackID(4711)] {
      let backtrace = symbolicator.backtrace(of: missing)
      #expect(backtrace.frames.map(\.displayName) == ["<no stack>"])
      #expect(backtrace.displayFrames().count == 1)
      #expect(symbolicator.responsibleFrame(of: missing) == nil)
      #expect(ResponsibleFrame.describe("malloc", in: nil) == "malloc")
    }
  }

  @Test("an address is looked up once, and only as far as needed")
  func caching() {
    let (symbolicator, counting) = make()
    #expect(
      ResponsibleFrame.describe("malloc", in: symbolicator.responsibleFrame(of: StackID(4)))
        == "malloc in read_field")
    #expect(counting.lookups == 2)
    _ = symbolicator.backtrace(of: StackID(4))
    _ = symbolicator.backtrace(of: StackID(4))
    #expect(counting.lookups == 3)
    _ = symbolicator.backtrace(of: StackID(8))
    #expect(counting.lookups == 4, "an exact address is another one")
  }
}

/// Counts what is asked of another symbolicator.
private final class CountingSymbolicator: Symbolicator {
  private let base: any Symbolicator
  private(set) var lookups = 0
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
}
