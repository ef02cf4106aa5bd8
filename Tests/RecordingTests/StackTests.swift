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

  @Test func exceptionsPassThroughRecordedFrames() throws {
    let run = try TracedRun([try TestProgram("exceptions.cpp").path.string])
    let events = try MarkedEvents(try run.root())

    #expect(events[28001] == .init(allocated: 1100, freed: 1100))
    #expect(events.failures[1 << 62]?.count == 2)
  }

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
