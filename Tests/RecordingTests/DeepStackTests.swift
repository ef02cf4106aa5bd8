import Testing
import TraceReader

/// Stacks far deeper than the limit: innermost frames, a gap, outermost frames, all exact.
@Suite struct DeepStackTests {
  @Test(arguments: [6, 8, 33, 128, 1024])
  func innermostAndOutermostFramesAreExact(limit: Int) throws {
    let run = try TracedRun(
      [try TestProgram("deep.c").path.string], start: .launcher(["--depth", String(limit)]))
    let root = try run.root()
    let frames = FrameNames(root)
    let lives = try MarkedEvents(root).lives.filter { $0.key >= 100_000 }
    let beginning = try #require(lives[100_000]?.first)
    let start = Array(frames.names(of: beginning.allocation.stack).dropFirst(2))
    #expect(start == ["main", ".", ".", "_start"])

    var checked: Set<StackID> = []
    for (size, lives) in lives {
      let whole = Self.stack(depth: Int(size % 100_000), turn: Int(size / 100_000) - 1) + start
      for stack in lives.flatMap({ [$0.allocation.stack, $0.deallocation?.stack ?? .none] }) {
        guard checked.insert(stack).inserted else { continue }
        #expect(
          frames.names(of: stack) == Self.kept(of: whole, limit: limit), "\(size) bytes, \(stack)")
      }
    }
    #expect(lives.count == 711)
    #expect(lives.values.reduce(0) { $0 + $1.count } == 1422)
    #expect(root.coverage.stacksCut > 0)
  }

  @Test func aLimitOfOneKeepsTheLeaf() throws {
    let run = try TracedRun(
      [try TestProgram("deep.c").path.string], start: .launcher(["--depth", "1"]))
    let root = try run.root()
    let life = try #require(try MarkedEvents(root).lives[100_001]?.first)

    let frames = root.stacks.frames(of: life.allocation.stack)
    // allocate; down, right or left, down, main and the three of the C library are left out.
    #expect(frames.map(\.omitted) == [nil, 4])
    #expect(root.stacks.isCut(life.allocation.stack))
    #expect(!root.stacks.lacksRoot(life.allocation.stack))
  }

  @Test func aCutStackIsOneStackHoweverOftenItRuns() throws {
    let run = try TracedRun([try TestProgram("deep.c").path.string])
    let lives = try MarkedEvents(try run.root()).lives

    // Once on the way down, once on the way up: two call sites, one stack each.
    let stacks = try #require(lives[100_000 + 9982]).map(\.allocation.stack)
    #expect(stacks.count == 2 && Set(stacks).count == 2)
    // The same frames 93 levels further in: the recursion repeats itself after three.
    let further = try #require(lives[100_000 + 9889]).map(\.allocation.stack)
    #expect(stacks == further)
  }

  /// The functions of the program on the stack of a block, without main and what calls it.
  private static func stack(depth: Int, turn: Int) -> [String] {
    let base = [0, 8000, 6000, 4000, 2000][turn]
    var names = ["allocate", "down"]
    for level in stride(from: depth - 1, through: 0, by: -1) {
      names.append((level + (level >= base ? turn : 0)) % 3 == 0 ? "left" : "right")
      names.append("down")
    }
    return names
  }

  /// What a limit leaves of a stack.
  private static func kept(of whole: [String], limit: Int) -> [String] {
    guard whole.count > limit else { return whole }
    let outermost = min(16, limit / 2)
    var gap = 1
    while gap * 2 <= whole.count - limit { gap *= 2 }
    return whole.prefix(limit - outermost) + ["\(gap) left out"] + whole.suffix(outermost)
  }
}
