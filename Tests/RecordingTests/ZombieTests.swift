import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Uses of freed blocks that are kept back.
@Suite struct ZombieTests {
  private static func run(
    _ way: String, zombies: String = "--zombies", flags: [String] = []
  ) throws -> HeapRun {
    try HeapRun(
      TestProgram("zombies.c", flags: TestProgram.withMarks + flags), [way], options: [zombies])
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
    let run = try Self.run(way, zombies: "--zombies=1MiB")
    #expect(run.result.outputText == "still here\n")
    #expect(run.result.exitStatus == (way.contains("abort") ? 134 : 0))
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [.writeAfterFree(offset: 8, length: 8, found: found)])
    for error in errors { Self.expectNode(error, trace) }
  }

  @Test(arguments: [("follow", ["-O1"]), ("item", ["-O0"]), ("item", ["-O1"])])
  func whatIsFollowedEndsThereAndTellsItsBlock(way: String, flags: [String]) throws {
    let run = try Self.run(way, flags: flags)
    #expect(run.result.outputText == "still here\n")
    #expect(run.result.exitStatus == 139)
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [.useAfterFree(signal: 11)])
    let error = try #require(errors.first)
    Self.expectNode(error, trace)
    let function = way == "item" ? "follow_item" : "follow"
    #expect(FrameNames(trace).names(of: error.offending.stack).prefix(2) == [function, "main"])
  }

  /// glibc says what is wrong, and ends the program, as it does without.
  @Test(arguments: [[], ["realloc"]], [["--zombies"], ["--zombies", "--redzones"]])
  func aLostHeaderIsTheAllocatorsToJudge(way: [String], options: [String]) throws {
    let program = try TestProgram("lost_header.c", flags: ["-O1", "-fno-builtin"])
    let run = try TracedRun([program.path.string] + way, start: .launcher(options))
    #expect(run.recorded.exitStatus == 134)
  }

  @Test(arguments: ["twice", "again"])
  func aBlockThatIsFreedAgainStays(way: String) throws {
    let run = try Self.run(way + " later", zombies: "--zombies=1MiB")
    #expect(run.result.outputText == "still here\n")
    #expect(run.result.exitStatus == 0)
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [way == "twice" ? .doubleFree : .reallocOfFreed])
    for error in errors { Self.expectNode(error, trace) }
  }

  /// What its parent freed.
  @Test func aForkedChildIsJudgedByItself() throws {
    let run = try Self.run("child")
    #expect(run.result.outputText == "still here\n")
    let traces = try run.traces()
    try #require(traces.count == 2)
    let kinds = try traces.map { try HeapRun.errors($0).map(\.kind) }
    let write = MemoryError.Kind.writeAfterFree(offset: 8, length: 8, found: .end)
    #expect(Set(kinds) == [[], [write]])
  }

  @Test func nothingIsFoundWhereNothingIsWrong() throws {
    let run = try Self.run("later", zombies: "--zombies=1MiB")
    #expect(run.result.exitStatus == 0)
    #expect(try HeapRun.errors(run.root()).isEmpty)
    #expect(try run.root().notes.first { $0.kind == .zombies }?.value == 1 << 20)
  }

  /// The kernel kills who goes beyond the limit of a control group.
  ///
  /// Not everybody may make one.
  @Test func aQuarterOfTheLimitOfAGroupIsKeptAtMost() throws {
    let program = try TestProgram("limited_group.c")
    let run = try TracedRun([program.path.string], start: .launcher(["--zombies"]))
    guard run.plain.outputText != "no group\n" else { return }
    #expect(run.plain.outputText == "freed all\n")
    let kept = try run.allTraces().compactMap { trace in
      trace.notes.first { $0.kind == .zombies }?.value
    }
    #expect(kept.min() == 16 << 20)
  }

  @Test func aSwiftObjectTellsWhoUsedIt() throws {
    let program = try TestProgram("zombie_object.swift")
    let run = try HeapRun(program, [], options: ["--zombies"])
    #expect(run.result.outputText == "")
    let trace = try run.root()
    let errors = try HeapRun.errors(trace)
    #expect(errors.map(\.kind) == [.useAfterFree(signal: 11)])
    let names = FrameNames(trace)
    let used = errors.first.map { names.names(of: $0.offending.stack) } ?? []
    #expect(used.contains { $0.contains("useNode") })
    #expect(
      try run.lines(of: ["errors", "root.mtrace"]).contains(
        "To fix: useNode(_:) uses an object that makeNode() has released; keep a reference to it "
          + "until its last use, or remove the release that is one too many; record --refcounts "
          + "shows who retained and released it"))
  }

  @Test(arguments: ["-Onone", "-O"])
  func theFunctionThatReleasedAnObjectIsToldAlsoWhereItsDeinitializerIsInlined(
    option: String
  ) throws {
    let program = try TestProgram("zombie_property.swift", flags: [option])
    let run = try HeapRun(program, [], options: ["--zombies"])
    #expect(
      try run.lines(of: ["errors", "root.mtrace"]).contains(
        "To fix: use() uses an object that close() has released; keep a reference to it "
          + "until its last use, or remove the release that is one too many; record --refcounts "
          + "shows who retained and released it"))
  }

  @Test func pointersIntoArraysOfSwiftAreGoodWithinACallOnly() throws {
    let program = try TestProgram("zombie_array.swift", flags: ["-Onone"])
    let run = try HeapRun(program, [], options: ["--zombies"])
    #expect(run.result.outputText == "4\n")
    #expect(
      try run.lines(of: ["errors", "root.mtrace"]).contains(
        "To fix: something uses an array or text that readAll() has released; a pointer into it is "
          + "good only within the call (withUnsafe…) that gave it: keep a reference to it until its "
          + "last use, or remove the release that is one too many; record --refcounts shows who "
          + "retained and released it"))
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
    let run = try Self.run("write")
    let lines = try run.lines(of: ["errors", "root.mtrace"])
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
    let run = try Self.run("follow")
    let block = try #require(run.root().zombieUses.first?.block)
    let lines = try run.lines(of: [
      "history", "root.mtrace", "0x" + String(block.rawValue, radix: 16),
    ])
    let title = try #require(lines.firstIndex(of: "Used after it was freed"))
    #expect(lines[title + 1].contains("what it held was followed, which ended in SIGSEGV"))
    #expect(lines[title + 2].contains("follow  zombies.c:"))
  }

  @Test func theGateFailsForIt() throws {
    let program = try TestProgram("zombies.c", flags: TestProgram.withMarks)
    let run = try HeapRun.memtrace(
      ["check", "--zombies", "--", program.path.string, "write"], in: try ScratchDirectory())
    #expect(run.status == 86)
    #expect(run.outputText.contains("Write to a freed block"))
  }

  @Test func aSampleKeepsNothingBack() throws {
    try HeapRun.expectRefusal(
      ["--zombies", "--sample", "512KiB"], "--zombies needs all blocks to be recorded")
  }
}
