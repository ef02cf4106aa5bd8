import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Writes past the ends of blocks that have redzones.
@Suite struct RedzoneTests {
  /// Runs `redzones.c`, which does what is undefined: only its recorded run is looked at.
  private struct Run {
    let result: ProcessRun
    let directory: ScratchDirectory

    init(_ arguments: [String], redzones: String = "--redzones") throws {
      let program = try RedzoneTests.program()
      directory = try ScratchDirectory()
      result = try ProcessRun.run(
        [
          BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", redzones, "--",
          program.path.string,
        ] + arguments, environment: TracedRun.minimalEnvironment, directory: directory.path,
        timeout: 60)
    }

    func traces() throws -> [Trace] {
      try directory.entries.filter { $0.hasSuffix(".mtrace") }.sorted()
        .map { try Trace(path: directory.path.appending($0)) }
    }

    func root() throws -> Trace { try Trace(path: directory.path.appending("root.mtrace")) }

    func memtrace(_ arguments: [String]) throws -> [String] {
      let run = try ProcessRun.run(
        [BuiltProducts.memtrace.string] + arguments, environment: TracedRun.minimalEnvironment,
        directory: directory.path, timeout: 60)
      return run.outputText.split(separator: "\n").map {
        String($0.trimmingPrefix(while: \.isWhitespace))
      }
    }
  }

  private static func program() throws -> TestProgram {
    try TestProgram("redzones.c", flags: TestProgram.withMarks)
  }

  private static func errors(_ trace: Trace) throws -> [MemoryError] {
    var result = try trace.replay()
    trace.addNoticedErrors(to: &result)
    #expect(result.errorCounts.values.reduce(0, +) == result.errors.reduce(0) { $0 + $1.count })
    return result.errors
  }

  /// Whatever allocates, the program may use what it asked for and not a byte more.
  @Test(
    arguments: [
      "malloc", "calloc", "realloc", "shrink", "reallocarray", "posix_memalign", "aligned_alloc",
      "memalign", "valloc",
    ])
  func aWriteRightBehindABlockIsFound(function: String) throws {
    let run = try Run([function, "free", "36", "42"])
    #expect(run.result.outputText == "1 40\n")
    #expect(run.result.exitStatus == 0)
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 3, found: .free)])
    let error = try #require(errors.first)
    let names = FrameNames(trace)
    #expect(error.block?.size == 40)
    #expect(error.block.map { names.names(of: $0.allocation.stack).first } == "make_block")
    #expect(error.firstFree.map { names.names(of: $0.stack).first } == "main")
    let within = try Run([function, "free", "0", "39"])
    #expect(try Self.errors(within.root()).isEmpty)
  }

  @Test(
    arguments: [
      ("live", 0), ("live _exit", 0), ("live abort", 134),
    ])
  func aBlockThatIsNeverFreedIsLookedAtAtTheEnd(way: String, status: Int32) throws {
    let run = try Run(["malloc", way, "44", "44"])
    #expect(run.result.exitStatus == status)
    let errors = try Self.errors(run.root())
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 44, length: 1, found: .end)])
    #expect(errors.first?.block?.size == 40)
    #expect(errors.first.map { $0.firstFree == nil } == true)
  }

  /// With nothing left to find when it is freed.
  @Test func aLiveBlockIsLookedAtAtAMark() throws {
    let run = try Run(["malloc", "mark free", "40", "40"])
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 1, found: .mark)])
    #expect(errors.first?.block?.size == 40)
    let mark = try #require(trace.marks.first)
    #expect(errors.allSatisfy { $0.offending.time < mark.time })
  }

  @Test func theRedzoneIsAsLongAsItIsToldTo() throws {
    for (redzones, found) in [("--redzones=8", 0), ("--redzones=13", 1), ("--redzones=4KiB", 1)] {
      let run = try Run(["malloc", "free", "52", "52"], redzones: redzones)
      #expect(try Self.errors(run.root()).count == found)
      #expect(try run.root().notes.first { $0.kind == .redzones } != nil)
    }
  }

  @Test func aBlockIsLookedAtBeforeItGrows() throws {
    let run = try Run(["malloc", "grow", "40", "40"])
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 1, found: .free)])
    #expect(errors.first?.firstFree?.operation.name == "realloc")
  }

  /// What lies further away is somebody else's.
  @Test func aWriteMayGoOnBehindTheRedzone() throws {
    let run = try Run(["malloc", "free", "45", "55"])
    #expect(
      try Self.errors(run.root()).map(\.kind) == [
        .heapOverflow(offset: 45, length: 11, isAtLeast: true, found: .free)
      ])
    #expect(
      try run.memtrace(["errors", "root.mtrace"]).contains {
        $0.hasSuffix("(Malloc-48): at least 11 B from 5 B behind it on")
      })
  }

  /// A `realloc` that fails leaves the block as it was, and its damage is told once.
  @Test func aBlockThatCannotGrowKeepsItsRedzone() throws {
    let run = try Run(["malloc", "fail", "40", "40"])
    #expect(run.result.exitStatus == 0)
    #expect(
      try Self.errors(run.root()).map(\.kind) == [
        .heapOverflow(offset: 40, length: 1, found: .free)
      ])
  }

  /// What was written before the fork is the parent's.
  @Test func aForkedChildIsJudgedByItself() throws {
    let run = try Run(["malloc", "child"])
    let traces = try run.traces()
    try #require(traces.count == 2)
    let kinds = try traces.map { try Self.errors($0).filter { $0.kind.category == .heapOverflow } }
    #expect(kinds.map(\.count).sorted() == [0, 1])
    let parents = try Run(["malloc", "child", "40", "40"])
    let counts = try parents.traces().map { trace in
      try Self.errors(trace).filter { $0.kind.category == .heapOverflow }.count
    }
    #expect(counts.sorted() == [0, 1])
  }

  @Test func blocksOfTheSamePlaceAreToldApart() throws {
    let run = try Run(["malloc", "turn free"])
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.block?.size) == [3, 4, 5])
    #expect(
      errors.map(\.kind) == [3, 4, 5].map { .heapOverflow(offset: $0, length: 1, found: .free) })
  }

  @Test func threadsMayGoOnAtTheEnd() throws {
    for _ in 0..<5 {
      let run = try Run(["malloc", "threads", "0", "39"])
      #expect(run.result.exitStatus == 0)
      #expect(try Self.errors(run.root()).isEmpty)
    }
  }

  /// A block is looked at before it is kept back.
  @Test func zombiesAndRedzonesGoTogether() throws {
    let program = try Self.program()
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", "--redzones",
        "--zombies", "--", program.path.string, "realloc", "free", "40", "40",
      ], environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.exitStatus == 0)
    let errors = try Self.errors(Trace(path: directory.path.appending("root.mtrace")))
    #expect(errors.map(\.kind) == [.heapOverflow(offset: 40, length: 1, found: .free)])
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
    let run = try Run(["malloc", "free", "42", "43"])
    let lines = try run.memtrace(["errors", "root.mtrace"])
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
    let run = try Run(["malloc", "free", "40", "40"])
    let block = try #require(run.root().overruns.first?.block)
    let lines = try run.memtrace([
      "history", "root.mtrace", "0x" + String(block.rawValue, radix: 16),
    ])
    let title = try #require(lines.firstIndex(of: "Used outside of its bounds"))
    #expect(
      lines[title + 1].contains("1 B at offset 40 of 40 were written, found when it was freed"))
    #expect(!lines.contains("Used after it was freed"))
  }

  @Test func theGateFailsForIt() throws {
    let program = try Self.program()
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "check", "--redzones", "--", program.path.string, "malloc",
        "free", "40", "40",
      ], environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
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
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record"] + options + ["--", "true"],
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.status == 64)
    #expect(run.errorText.contains(message))
  }
}
