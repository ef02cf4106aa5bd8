import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Writes past the ends of blocks that have redzones.
@Suite struct RedzoneTests {
  private static func program() throws -> TestProgram {
    try TestProgram("redzones.c", flags: TestProgram.withMarks)
  }

  private static func run(_ arguments: [String], redzones: String = "--redzones") throws -> HeapRun
  {
    try HeapRun(program(), arguments, options: [redzones])
  }

  /// Whatever allocates, the program may use what it asked for and not a byte more.
  @Test(
    arguments: [
      "malloc", "calloc", "realloc", "shrink", "reallocarray", "posix_memalign", "aligned_alloc",
      "memalign", "valloc",
    ])
  func aWriteRightBehindABlockIsFound(function: String) throws {
    let run = try Self.run([function, "free", "36", "42"])
    #expect(run.result.outputText == "1 40\n")
    #expect(run.result.exitStatus == 0)
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 3, found: .free)])
    let error = try #require(errors.first)
    let names = FrameNames(trace)
    #expect(error.block?.size == 40)
    #expect(error.block.map { names.names(of: $0.allocation.stack).first } == "make_block")
    #expect(error.firstFree.map { names.names(of: $0.stack).first } == "main")
    let within = try Self.run([function, "free", "0", "39"])
    #expect(try HeapRun.errors(within.root()).isEmpty)
  }

  @Test(
    arguments: [
      ("live", 0), ("live _exit", 0), ("live abort", 134),
    ])
  func aBlockThatIsNeverFreedIsLookedAtAtTheEnd(way: String, status: Int32) throws {
    let run = try Self.run(["malloc", way, "44", "44"])
    #expect(run.result.exitStatus == status)
    let errors = try HeapRun.errors(run.root())
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 44, length: 1, found: .end)])
    #expect(errors.first?.block?.size == 40)
    #expect(errors.first.map { $0.firstFree == nil } == true)
  }

  /// With nothing left to find when it is freed.
  @Test func aLiveBlockIsLookedAtAtAMark() throws {
    let run = try Self.run(["malloc", "mark free", "40", "40"])
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 1, found: .mark)])
    #expect(errors.first?.block?.size == 40)
    let mark = try #require(trace.marks.first)
    #expect(errors.allSatisfy { $0.offending.time < mark.time })
    #expect(errors.map(\.mark) == ["looked at"])
    #expect(
      try run.lines(of: ["errors", "root.mtrace"]).contains {
        $0.hasPrefix("Found on")
          && $0.hasSuffix(#", at the mark "looked at"; who wrote is not known"#)
      })
  }

  @Test func theRedzoneIsAsLongAsItIsToldTo() throws {
    for (redzones, found) in [("--redzones=8", 0), ("--redzones=13", 1), ("--redzones=4KiB", 1)] {
      let run = try Self.run(["malloc", "free", "52", "52"], redzones: redzones)
      #expect(try HeapRun.errors(run.root()).count == found)
      #expect(try run.root().notes.first { $0.kind == .redzones } != nil)
    }
  }

  @Test func aBlockIsLookedAtBeforeItGrows() throws {
    let run = try Self.run(["malloc", "grow", "40", "40"])
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 1, found: .free)])
    #expect(errors.first?.firstFree?.operation.name == "realloc")
  }

  /// What lies further away is somebody else's.
  @Test func aWriteMayGoOnBehindTheRedzone() throws {
    let run = try Self.run(["malloc", "free", "45", "55"])
    #expect(
      try HeapRun.errors(run.root()).map(\.kind) == [
        .heapOverflow(offset: 45, length: 11, isAtLeast: true, found: .free)
      ])
    #expect(
      try run.lines(of: ["errors", "root.mtrace"]).contains {
        $0.hasSuffix("(Malloc-48): at least 11 B from 5 B behind it on")
      })
  }

  /// A `realloc` that fails leaves the block as it was, and its damage is told once.
  @Test func aBlockThatCannotGrowKeepsItsRedzone() throws {
    let run = try Self.run(["malloc", "fail", "40", "40"])
    #expect(run.result.exitStatus == 0)
    #expect(
      try HeapRun.errors(run.root()).map(\.kind) == [
        .heapOverflow(offset: 40, length: 1, found: .free)
      ])
  }

  /// What was written before the fork is the parent's.
  @Test func aForkedChildIsJudgedByItself() throws {
    let run = try Self.run(["malloc", "child"])
    let traces = try run.traces()
    try #require(traces.count == 2)
    let kinds = try traces.map {
      try HeapRun.errors($0).filter { $0.kind.category == .heapOverflow }
    }
    #expect(kinds.map(\.count).sorted() == [0, 1])
    let parents = try Self.run(["malloc", "child", "40", "40"])
    let counts = try parents.traces().map { trace in
      try HeapRun.errors(trace).filter { $0.kind.category == .heapOverflow }.count
    }
    #expect(counts.sorted() == [0, 1])
  }

  @Test func blocksOfTheSamePlaceAreToldApart() throws {
    let run = try Self.run(["malloc", "turn free"])
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.block?.size) == [3, 4, 5])
    #expect(
      errors.map(\.kind) == [3, 4, 5].map { .heapOverflow(offset: $0, length: 1, found: .free) })
  }

  @Test func threadsMayGoOnAtTheEnd() throws {
    for _ in 0..<5 {
      let run = try Self.run(["malloc", "threads", "0", "39"])
      #expect(run.result.exitStatus == 0)
      #expect(try HeapRun.errors(run.root()).isEmpty)
    }
  }

  /// A block is looked at before it is kept back.
  @Test func zombiesAndRedzonesGoTogether() throws {
    let run = try HeapRun(
      Self.program(), ["realloc", "free", "40", "40"], options: ["--redzones", "--zombies"])
    #expect(run.result.exitStatus == 0)
    #expect(try run.error().error.kind == .heapOverflow(offset: 40, length: 1, found: .free))
  }

  /// Programs of many kinds do as they do without.
  @Test(
    arguments: [
      "table.c", "threads.c", "forks.c", "signals.c", "exceptions.cpp", "entry_points.cpp",
      "containers.rs", "objects.swift", "own_operators.cpp", "errno.c", "spawn.c", "types.swift",
      "types.cpp", "small_stacks.c",
    ])
  func programsAreAsTheyAreWithout(program: String) throws {
    if program.hasSuffix(".rs") { guard TestProgram.has("rustc") else { return } }
    let run = try TracedRun(
      [try TestProgram(program).path.string], start: .launcher(["--redzones", "--zombies=64KiB"]))
    for trace in try run.allTraces() {
      #expect(trace.overruns.isEmpty)
    }
  }

  @Test func theReportTellsHowFarAndWhoseBlockItIs() throws {
    let run = try Self.run(["malloc", "free", "42", "43"])
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    #expect(lines.first?.hasSuffix("1 write past the end of a block") == true)
    #expect(
      lines.contains {
        $0.hasPrefix("1. Write past the end of 0x")
          && $0.hasSuffix(", a block of 40 B (Malloc-48): 2 B from 2 B behind it on")
      })
    #expect(lines.contains { $0.hasPrefix("Allocated by malloc on") })
    #expect(lines.contains { $0.hasPrefix("Freed by free on") })
    #expect(
      lines.contains {
        $0.hasPrefix("Found on") && $0.hasSuffix("when it was freed; who wrote is not known")
      })
    #expect(
      lines.contains {
        $0.hasPrefix("To fix: look at what is written to the block that make_block allocates")
      })
  }

  @Test func theHistoryOfTheBlockTellsOfIt() throws {
    let run = try Self.run(["malloc", "free", "40", "40"])
    let block = try #require(run.root().overruns.first?.block)
    let lines = try run.lines(of: [
      "history", "root.mtrace", "0x" + String(block.rawValue, radix: 16),
    ])
    let title = try #require(lines.firstIndex(of: "Used outside of its bounds"))
    #expect(
      lines[title + 1].contains("1 B at offset 40 of 40 were written, found when it was freed"))
    #expect(!lines.contains("Used after it was freed"))
  }

  @Test func theGateFailsForIt() throws {
    let program = try Self.program()
    let run = try HeapRun.memtrace(
      [
        "check", "--redzones", "--", program.path.string, "malloc",
        "free", "40", "40",
      ], in: try ScratchDirectory())
    #expect(run.status == 86)
    #expect(run.outputText.contains("Write past the end of a block: malloc in make_block, 1 call"))
    #expect(run.outputText.contains("freed by free:"))
  }

  @Test(
    arguments: [
      (["--redzones", "--sample", "512KiB"], "--redzones needs all blocks to be recorded"),
      (["--redzones=0"], "--redzones takes a number of bytes from 1 to 4096"),
      (["--redzones=5000"], "--redzones takes a number of bytes from 1 to 4096"),
    ])
  func whatMakesNoSenseIsRefused(options: [String], message: String) throws {
    try HeapRun.expectRefusal(options, message)
  }
}
