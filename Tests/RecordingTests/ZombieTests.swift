import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Uses of freed blocks that are kept back.
@Suite struct ZombieTests {
  /// Runs `zombies.c`, which does what is undefined: only its recorded run is looked at.
  private struct Run {
    let result: ProcessRun
    let directory: ScratchDirectory
    let program: TestProgram

    init(_ way: String, zombies: String = "--zombies") throws {
      program = try TestProgram("zombies.c", flags: TestProgram.withMarks)
      directory = try ScratchDirectory()
      result = try ProcessRun.run(
        [
          BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", zombies, "--",
          program.path.string, way,
        ], environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    }

    func traces() throws -> [Trace] {
      try directory.entries.filter { $0.hasSuffix(".mtrace") }.sorted()
        .map { try Trace(path: directory.path.appending($0)) }
    }

    func root() throws -> Trace { try Trace(path: directory.path.appending("root.mtrace")) }
  }

  private static func errors(_ trace: Trace) throws -> [MemoryError] {
    var result = try trace.replay()
    trace.addNoticedErrors(to: &result)
    #expect(result.errorCounts.values.reduce(0, +) == result.errors.reduce(0) { $0 + $1.count })
    return result.errors
  }

  private static func expectNode(_ error: MemoryError, _ trace: Trace) {
    let names = FrameNames(trace)
    #expect(error.block?.size == 16)
    #expect(error.block.map { names.names(of: $0.allocation.stack).first } == "make_node")
    #expect(error.firstFree.map { names.names(of: $0.stack).first } == "drop_node")
  }

  @Test(
    arguments: [
      ("write", ZombieUse.Discovery.end), ("write later", .release), ("write _exit", .end),
      ("write abort", .end), ("write mark", .mark), ("write mark later", .mark),
    ])
  func aWriteIsFound(way: String, found: ZombieUse.Discovery) throws {
    let run = try Run(way, zombies: "--zombies=1MiB")
    #expect(run.result.outputText == "still here\n")
    #expect(run.result.exitStatus == (way.contains("abort") ? 134 : 0))
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [.writeAfterFree(offset: 8, length: 8, found: found)])
    for error in errors { Self.expectNode(error, trace) }
  }

  @Test func whatIsFollowedEndsThereAndTellsItsBlock() throws {
    let run = try Run("follow")
    #expect(run.result.outputText == "still here\n")
    #expect(run.result.exitStatus == 139)
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [.useAfterFree(signal: 11)])
    let error = try #require(errors.first)
    Self.expectNode(error, trace)
    #expect(FrameNames(trace).names(of: error.offending.stack).prefix(2) == ["follow", "main"])
  }

  @Test(arguments: ["twice", "again"])
  func aBlockThatIsFreedAgainStays(way: String) throws {
    let run = try Run(way + " later", zombies: "--zombies=1MiB")
    #expect(run.result.outputText == "still here\n")
    #expect(run.result.exitStatus == 0)
    let trace = try run.root()
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [way == "twice" ? .doubleFree : .reallocOfFreed])
    for error in errors { Self.expectNode(error, trace) }
  }

  /// What its parent freed.
  @Test func aForkedChildIsJudgedByItself() throws {
    let run = try Run("child")
    #expect(run.result.outputText == "still here\n")
    let traces = try run.traces()
    try #require(traces.count == 2)
    let kinds = try traces.map { try Self.errors($0).map(\.kind) }
    let write = MemoryError.Kind.writeAfterFree(offset: 8, length: 8, found: .end)
    #expect(Set(kinds) == [[], [write]])
  }

  @Test func nothingIsFoundWhereNothingIsWrong() throws {
    let run = try Run("later", zombies: "--zombies=1MiB")
    #expect(run.result.exitStatus == 0)
    #expect(try Self.errors(run.root()).isEmpty)
    #expect(try run.root().notes.first { $0.kind == .zombies }?.value == 1 << 20)
  }

  @Test func aSwiftObjectTellsWhoUsedIt() throws {
    let program = try TestProgram("zombie_object.swift")
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", "--zombies", "--",
        program.path.string,
      ], environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.outputText == "")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    let errors = try Self.errors(trace)
    #expect(errors.map(\.kind) == [.useAfterFree(signal: 11)])
    let names = FrameNames(trace)
    let used = errors.first.map { names.names(of: $0.offending.stack) } ?? []
    #expect(used.contains { $0.contains("useNode") })
  }

  /// Programs of many kinds do as they do without.
  @Test(
    arguments: [
      "table.c", "threads.c", "forks.c", "signals.c", "entry_points.c", "exceptions.cpp",
      "entry_points.cpp", "containers.rs", "objects.swift", "own_operators.cpp", "errno.c",
    ])
  func programsAreAsTheyAreWithout(program: String) throws {
    if program.hasSuffix(".rs") { guard TestProgram.has("rustc") else { return } }
    let run = try TracedRun(
      [try TestProgram(program).path.string], start: .launcher(["--zombies=64KiB"]))
    for trace in try run.allTraces() {
      #expect(trace.zombieUses.isEmpty)
    }
  }

  @Test func theReportTellsTheLifeOfTheBlock() throws {
    let run = try Run("write")
    let report = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "errors", "root.mtrace"],
      environment: TracedRun.minimalEnvironment, directory: run.directory.path, timeout: 60)
    let lines = report.outputText.split(separator: "\n").map {
      $0.trimmingPrefix(while: \.isWhitespace)
    }
    #expect(lines.first?.hasSuffix("1 write to a freed block") == true)
    #expect(
      lines.contains {
        $0.hasPrefix("1. Write to the freed block 0x")
          && $0.hasSuffix(", a block of 16 B (Malloc-16): 8 B at offset 8 changed")
      })
    #expect(lines.contains { $0.hasPrefix("Freed by free on") })
    #expect(
      lines.contains {
        $0.hasPrefix("Found on")
          && $0.hasSuffix("at the end of the process; who wrote is not known")
      })
    #expect(lines.contains { $0.hasPrefix("To fix: drop_node frees the block while something") })
  }

  @Test func theHistoryOfTheBlockEndsWithIt() throws {
    let run = try Run("follow")
    let block = try #require(run.root().zombieUses.first?.block)
    let report = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "history", "root.mtrace",
        "0x" + String(block.rawValue, radix: 16),
      ], environment: TracedRun.minimalEnvironment, directory: run.directory.path, timeout: 60)
    let lines = report.outputText.split(separator: "\n")
    let title = try #require(lines.firstIndex(of: "Used after it was freed"))
    #expect(lines[title + 1].contains("what it held was followed, which ended in SIGSEGV"))
    #expect(lines[title + 2].contains("follow  zombies.c:"))
  }

  @Test func theGateFailsForIt() throws {
    let program = try TestProgram("zombies.c", flags: TestProgram.withMarks)
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "check", "--zombies", "--", program.path.string, "write"],
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.status == 86)
    #expect(run.outputText.contains("Write to a freed block"))
  }

  @Test func aSampleKeepsNothingBack() throws {
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "--zombies", "--sample", "512KiB", "--", "true"],
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.status == 64)
    #expect(run.errorText.contains("--zombies needs all blocks to be recorded"))
  }
}
