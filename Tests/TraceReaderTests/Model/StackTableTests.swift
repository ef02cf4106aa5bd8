import Testing
import TraceReader
import TraceTestSupport

@Suite struct StackTableTests {
  @Test func framesAreLeafFirst() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x30, 0x20, 0x10])
    try trace.open { opened in
      #expect(opened.stacks.frames(of: stack).map(\.returnAddress.rawValue) == [0x30, 0x20, 0x10])
      #expect(!opened.stacks.isCut(stack))
      #expect(opened.stacks.count == 3)
    }
  }

  @Test func framesShareTheirCallers() throws {
    var trace = TraceBuilder()
    let (left, right) = (trace.stack([0x31, 0x20, 0x10]), trace.stack([0x32, 0x20, 0x10]))
    try trace.open { opened in
      #expect(opened.stacks.count == 4)
      #expect(opened.stacks.parent(of: left) == opened.stacks.parent(of: right))
      #expect(opened.stacks.parent(of: StackID(2)) == nil)
    }
  }

  @Test func cutIsTold() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x30, 0x20], isCut: true)
    try trace.open { opened in
      #expect(opened.stacks.isCut(stack))
      #expect(opened.stacks.lacksRoot(stack))
      #expect(opened.stacks.frames(of: stack).count == 2)
    }
  }

  @Test func gapIsNoFrame() throws {
    var trace = TraceBuilder()
    let root = trace.stack([0x10])
    let gap = trace.appendNode(pc: 64, parent: root.rawValue, flags: 2)
    let leaf = trace.appendNode(pc: 0x30, parent: gap.rawValue)
    try trace.open { opened in
      let frames = opened.stacks.frames(of: leaf)
      #expect(frames.map(\.omitted) == [nil, 64, nil])
      #expect(frames.map(\.returnAddress.rawValue) == [0x30, 0, 0x10])
      #expect(opened.stacks.frame(of: gap)?.omitted == 64)
      #expect(opened.stacks.isCut(leaf))
      #expect(!opened.stacks.lacksRoot(leaf))
      #expect(!opened.stacks.isCut(root))
    }
  }

  @Test func noStackHasNoFrames() throws {
    var trace = TraceBuilder()
    _ = trace.stack([0x30])
    try trace.open { opened in
      #expect(opened.stacks.frames(of: .none).isEmpty)
      #expect(opened.stacks.frames(of: .cut).isEmpty)
      #expect(opened.stacks.frames(of: StackID(99)).isEmpty)
      #expect(opened.stacks.frames(of: StackID(.max)).isEmpty)
    }
  }

  @Test func parentThatIsNotOlderEndsTheWalk() throws {
    var trace = TraceBuilder()
    let own = trace.appendNode(pc: 0x10, parent: 2)
    let younger = trace.appendNode(pc: 0x20, parent: 9)
    try trace.open { opened in
      #expect(opened.stacks.frames(of: own).count == 1)
      #expect(opened.stacks.frames(of: younger).count == 1)
      #expect(opened.stacks.parent(of: younger) == nil)
    }
  }

  /// Stacks along one chain would take time in its square.
  @Test func walksEnd() throws {
    var trace = TraceBuilder()
    var leaf = StackID.none
    for pc in UInt64(1)...10_000 { leaf = trace.appendNode(pc: pc, parent: leaf.rawValue) }
    try trace.open { opened in
      let frames = opened.stacks.frames(of: leaf)
      #expect(frames.map(\.returnAddress.rawValue) == (7953...10_000).reversed())
      #expect(opened.stacks.lacksRoot(leaf))
    }
  }

  @Test func exactFramesAreTold() throws {
    var trace = TraceBuilder()
    let exact = trace.appendNode(pc: 0x10, parent: 0, flags: 1)
    let call = trace.appendNode(pc: 0x10, parent: 0, flags: 0)
    try trace.open { opened in
      #expect(opened.stacks.frames(of: exact).first?.lookupAddress == Address(0x10))
      #expect(opened.stacks.frames(of: call).first?.lookupAddress == Address(0x0f))
    }
  }

  @Test func incompleteNodeHasNoFrame() throws {
    var trace = TraceBuilder()
    let incomplete = trace.appendNode(pc: 0, parent: 0)
    let complete = trace.appendNode(pc: 0x20, parent: incomplete.rawValue)
    try trace.open { opened in
      #expect(opened.stacks.frames(of: incomplete).isEmpty)
      #expect(opened.stacks.frames(of: complete).count == 1)
    }
  }
}
