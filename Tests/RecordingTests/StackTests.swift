import Symbolication
import Testing
import TraceReader
import TraceTestSupport

/// Stacks of unusual shape, and what the recorder makes of them.
@Suite struct StackTests {
  @Test func handlersOnAnyStackAreRecorded() throws {
    let run = try TracedRun([try TestProgram("signals.c").path.string])
    let events = try MarkedEvents(try run.root())

    for size in UInt64(18001)...18004 {
      #expect(events[size] == .init(allocated: 10, freed: 10), "\(size) bytes")
    }
  }

  @Test func fibersJumpsAndRecursionAreRecorded() throws {
    let run = try TracedRun([try TestProgram("stacks.c").path.string])
    let root = try run.root()
    let events = try MarkedEvents(root)

    #expect(events[25001] == .init(allocated: 5, freed: 5))
    #expect(events[25002] == .init(allocated: 5, freed: 5))
    #expect(events[26001] == .init(allocated: 10, freed: 10))
    #expect(events[26002] == .init(allocated: 1, freed: 1))
    #expect(events[26003] == .init(allocated: 1, freed: 1))
  }

  @Test func aSiteHasOneStackHoweverOftenItRuns() throws {
    let run = try TracedRun([try TestProgram("stacks.c").path.string])
    let events = try MarkedEvents(try run.root())

    let stacks = Set((events.lives[26001] ?? []).map(\.allocation.stack))
    #expect(stacks.count == 1)
    #expect(!stacks.contains(.none))
  }

  @Test func aCallerThatBecomesAStackHasOneIDToo() throws {
    let program = try TestProgram("callers_as_stacks.c", flags: ["-O2", "-fno-inline"])
    let root = try TracedRun([program.path.string]).root()
    let lives = try MarkedEvents(root).lives

    let stacks = Set((lives[28001] ?? []).map(\.allocation.stack))
    #expect(lives[28001]?.count == 10)
    #expect(stacks.count == 1)
    // The function that jumped into malloc is not there: its caller is the leaf.
    let leaves = stacks.flatMap { root.stacks.frames(of: $0).prefix(1) }.map(\.returnAddress)
    let callers = (lives[28000] ?? []).flatMap {
      root.stacks.frames(of: $0.allocation.stack).dropFirst().prefix(1)
    }
    #expect(Set(callers.map(\.returnAddress)) == Set(leaves))
  }

  /// Not only the walks, which `MEMTRACE_UNWINDER=compare` compares, but what is written of them.
  @Test func stacksAreTheOnesThatLibunwindWouldHaveWritten() throws {
    let program = try TestProgram(
      "callers_as_stacks.c", flags: ["-O2", "-fno-inline", "-no-pie"])
    func stacks(_ environment: [String]) throws -> [[Address]: Int] {
      let root = try TracedRun([program.path.string, "1000"], environment: environment).root()
      var counts: [[Address]: Int] = [:]
      try root.forEachEvent { _, event in
        // The program's own frames: others lie elsewhere in each run.
        let frames = root.stacks.frames(of: event.stack).map(\.returnAddress)
          .filter { $0.rawValue < 1 << 32 }
        if !frames.isEmpty { counts[frames, default: 0] += 1 }
        return true
      }
      return counts
    }
    let ours = try stacks([])
    #expect(ours.count > 10_000)
    #expect(try ours == stacks(["MEMTRACE_UNWINDER=libunwind"]))
  }

  /// What the last stack had in these frames does not stay in them.
  @Test func aFrameThatChangedInTheMiddleIsSeen() throws {
    let run = try TracedRun([try TestProgram("middle_frames.c").path.string])
    let root = try run.root()
    let lives = try MarkedEvents(root).lives.filter { (27_000..<27_064).contains($0.key) }

    // From the leaf: choose, then step and choose for each level, the innermost first.
    func ways(of stack: StackID) -> [Address] {
      let frames = root.stacks.frames(of: stack)
      guard frames.count > 12 else { return [] }
      return stride(from: 2, through: 12, by: 2).map { frames[$0].returnAddress }.reversed()
    }
    let left = ways(of: try #require(lives[27_000]?.first).allocation.stack)
    let right = ways(of: try #require(lives[27_063]?.first).allocation.stack)
    #expect(Set(left).count == 1 && Set(right).count == 1 && left != right)
    #expect(lives.count == 64)
    for (size, lives) in lives {
      #expect(lives.count == 3)
      #expect(Set(lives.map(\.allocation.stack)).count == 1)
      for stack in lives.flatMap({ [$0.allocation.stack, $0.deallocation?.stack ?? .none] }) {
        let expected = (0..<6).map { (size - 27_000) >> $0 & 1 == 1 ? right[$0] : left[$0] }
        #expect(ways(of: stack) == expected, "\(size) bytes")
      }
    }
  }

  /// Thrown by libgcc, and by libunwind, of which program and recorder have one copy.
  @Test(arguments: [[], ["-Wl,--no-as-needed", "-lunwind"]])
  func exceptionsPassThroughRecordedFrames(flags: [String]) throws {
    let run = try TracedRun([try TestProgram("exceptions.cpp", flags: flags).path.string])
    let events = try MarkedEvents(try run.root())

    #expect(run.recorded.outputText == "102 caught\n")
    #expect(events[28001] == .init(allocated: 1100, freed: 1100))
    #expect(events.failures[1 << 62]?.count == 2)
  }

  #if arch(x86_64)
    @Test func aProgramChangesRegistersByLibunwind() throws {
      let program = try TestProgram("walks.c", flags: ["-Wl,--no-as-needed", "-lunwind"])
      let run = try TracedRun([program.path.string])

      #expect(run.recorded.outputText.hasPrefix("set 0, get 0, 64002\n"))
      #expect(run.recorded.outputText.hasSuffix("set 0, get 0, 64003\n"))
      #expect(try MarkedEvents(try run.root())[64001] == .init(allocated: 21, freed: 21))
    }
  #endif

  @Test func blocksOfUnloadedLibrariesKeepTheirStacks() throws {
    let library = try TestProgram("plugin.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun([try TestProgram("plugins.c").path.string, library.path.string])
    let root = try run.root()
    let events = try MarkedEvents(root)

    #expect(events[19001] == .init(allocated: 50, freed: 50))
    let images = root.images.images.filter { $0.path == library.path.string }
    #expect(!images.isEmpty)
    for life in events.lives[19001] ?? [] {
      let frames = root.stacks.frames(of: life.allocation.stack)
      let frame = try #require(frames.first)
      let image = root.images.image(containing: frame.lookupAddress, seenBy: frame.node)
      #expect(image?.path == library.path.string)
    }
  }
}
