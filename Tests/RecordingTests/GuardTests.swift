import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Guarded blocks, and who is stopped beside them.
@Suite struct GuardTests {
  private static func program() throws -> TestProgram {
    try TestProgram("guarded.c", flags: TestProgram.withMarks)
  }

  private static func run(
    _ arguments: [String], options: [String] = ["--guard"]
  ) throws -> HeapRun {
    try HeapRun(program(), arguments, options: options)
  }

  private static func access(_ kind: MemoryAccess.Kind, _ offset: Int64) -> MemoryAccess {
    MemoryAccess(kind: kind, offset: offset, signal: 11)
  }

  /// Whatever allocates, the first byte of the next page is out of reach.
  @Test(
    arguments: [
      "malloc", "calloc", "realloc", "shrink", "reallocarray", "posix_memalign", "aligned_alloc",
      "memalign", "valloc",
    ])
  func whoWritesPastABlockIsStopped(function: String) throws {
    let run = try Self.run([function, "8192", "write:8191", "write:8192"])
    #expect(run.result.outputText == "1 8192 0\n")
    #expect(run.result.exitStatus == 139)
    let found = try run.error()
    #expect(found.error.kind == .outOfBounds(Self.access(.write, 8192)))
    #expect(found.error.block?.size == 8192)
    #expect(found.allocated == "make_block")
    #expect(found.freed == nil)
    #expect(found.user == "write_byte")
  }

  @Test(
    arguments: [
      (["read:48"], MemoryError.Kind.outOfBounds(access(.read, 48))),
      (["free", "read:0"], .accessAfterFree(access(.read, 0))),
      (["free", "write:39"], .accessAfterFree(access(.write, 39))),
    ])
  func whatIsDoneToWhichByteIsKnown(steps: [String], kind: MemoryError.Kind) throws {
    let run = try Self.run(["malloc", "40"] + steps)
    #expect(run.result.exitStatus == 139)
    let found = try run.error()
    #expect(found.error.kind == kind)
    #expect(found.error.block?.size == 40)
    #expect(found.freed == (steps.first == "free" ? "drop_block" : nil))
    #expect(found.user == (steps.contains { $0.hasPrefix("read") } ? "read_byte" : "write_byte"))
  }

  @Test func whoGoesInFrontOfABlockIsStoppedWhereAPageBegins() throws {
    let found = try Self.run(["malloc", "4096", "read:-1"]).error()
    #expect(found.error.kind == .outOfBounds(Self.access(.read, -1)))
    #expect(found.error.block?.size == 4096)
  }

  /// Between a block of 41 bytes and its guard there are 7.
  @Test(
    arguments: [
      (["write:41", "free"], BlockOverrun.Discovery.free), (["write:41", "mark", "free"], .mark),
      (["write:41"], .end), (["write:41", "_exit"], .end),
    ])
  func whatIsWrittenInFrontOfAGuardIsFoundLater(
    steps: [String], found: BlockOverrun.Discovery
  ) throws {
    let run = try Self.run(["malloc", "41"] + steps)
    #expect(run.result.exitStatus == 0)
    #expect(
      try run.error().error.kind == .heapOverflow(offset: 41, length: 1, found: found))
  }

  /// A block of 41 bytes begins 48 bytes in front of its guard, and its page 4048 bytes in front of it.
  @Test(
    arguments: [
      (["write:-1", "free"], UInt64(1), UInt64(1), BlockOverrun.Discovery.free),
      (["write:-16", "write:-9", "mark", "free"], 16, 8, .mark), (["write:-4048"], 4048, 1, .end),
    ])
  func whatIsWrittenInFrontOfABlockIsFoundLater(
    steps: [String], distance: UInt64, length: UInt64, found: BlockOverrun.Discovery
  ) throws {
    let run = try Self.run(["malloc", "41"] + steps)
    #expect(run.result.exitStatus == 0)
    let error = try run.error()
    #expect(error.error.kind == .heapUnderflow(distance: distance, length: length, found: found))
    #expect(error.allocated == "make_block")
  }

  /// So small a space as there is in front of a block that nearly fills its pages is looked at as well.
  @Test(arguments: [4095, 8191])
  func aSingleByteInFrontOfABlockIsLookedAt(size: Int) throws {
    let run = try Self.run(
      ["malloc", "\(size)", "write:-1"], options: ["--guard", "--guard-alignment=1"])
    #expect(run.result.exitStatus == 0)
    #expect(try run.error().error.kind == .heapUnderflow(distance: 1, length: 1, found: .end))
  }

  @Test func whatIsWrittenOnBothSidesIsTwoErrors() throws {
    let run = try Self.run(["malloc", "41", "write:-2", "write:42", "free"])
    #expect(
      try HeapRun.errors(run.root()).map(\.kind) == [
        .heapUnderflow(distance: 2, length: 1, found: .free),
        .heapOverflow(offset: 42, length: 1, found: .free),
      ])
  }

  /// The allocator would read what nobody may.
  @Test(
    arguments: [
      ["free:16", "write:39"], ["free", "free:16"], ["free", "free:1", "free:-40"],
    ])
  func whatLiesInABlockIsFreedWithoutHarm(steps: [String]) throws {
    let run = try Self.run(["malloc", "40"] + steps)
    #expect(run.result.exitStatus == 0)
    let kinds = try HeapRun.errors(run.root()).map(\.kind.category)
    #expect(kinds.allSatisfy { $0 == .freeOfInterior || $0 == .freeOfUnknown })
    #expect(kinds.count == steps.count { $0.hasPrefix("free:") })
  }

  @Test func theReportTellsHowFarInFrontAndWhoseBlockItIs() throws {
    let lines = try Self.run(["malloc", "41", "write:-8", "write:-6", "free"])
      .lines(of: ["errors", "root.mtrace"])
    #expect(lines.first?.hasSuffix("1 write in front of a block") == true)
    #expect(
      lines.contains {
        $0.hasPrefix("1. Write in front of 0x")
          && $0.hasSuffix(", a block of 41 B (Malloc-48): 3 B from 8 B in front of it on")
      })
    #expect(
      lines.contains {
        $0.hasPrefix("Found on") && $0.hasSuffix("when it was freed; who wrote is not known")
      })
    #expect(
      lines.contains {
        $0.hasPrefix("To fix: look at what is written to the block that make_block allocates")
          && $0.hasSuffix("; record --guard=41 --guard-front shows who writes")
      })
  }

  @Test func ofWhatLiesInAFreedBlockTheReportSaysSo() throws {
    let lines = try Self.run(["malloc", "40", "free", "free:16"])
      .lines(of: ["errors", "root.mtrace"])
    #expect(
      lines.contains {
        $0.hasPrefix("1. Invalid free of 0x") && $0.hasSuffix(" and was freed before")
      })
    #expect(lines.contains("To fix: take this free away: the block was freed before"))
  }

  /// Where blocks begin at their guard, the other side is looked at later.
  @Test(
    arguments: ["malloc", "calloc", "realloc", "posix_memalign", "memalign", "valloc"], [41, 8192])
  func whoGoesInFrontOfABlockAtItsGuardIsStopped(function: String, size: Int) throws {
    let options = ["--guard", "--guard-front"]
    let run = try Self.run([function, "\(size)", "write:0", "read:-1"], options: options)
    #expect(run.result.outputText == "1 \(size) 0\n")
    #expect(run.result.exitStatus == 139)
    let found = try run.error()
    #expect(found.error.kind == .outOfBounds(Self.access(.read, -1)))
    #expect(found.error.block?.size == UInt64(size))
    #expect(found.allocated == "make_block")
    #expect(found.user == "read_byte")
  }

  @Test func whoGoesBehindABlockThatBeginsAtItsGuardIsFoundLater() throws {
    let options = ["--guard", "--guard-front"]
    let run = try Self.run(["malloc", "41", "write:41", "write:4095", "free"], options: options)
    #expect(run.result.exitStatus == 0)
    #expect(try run.error().error.kind == .heapOverflow(offset: 41, length: 4055, found: .free))
    let stopped = try Self.run(["malloc", "41", "write:4096"], options: options)
    #expect(try stopped.error().error.kind == .outOfBounds(Self.access(.write, 4096)))
    let freed = try Self.run(["malloc", "0", "free", "write:0"], options: options)
    #expect(try freed.error().error.kind == .accessAfterFree(Self.access(.write, 0)))
  }

  @Test func whoGoesInFrontIsAdvisedToLookAtTheIndex() throws {
    let lines = try Self.run(["malloc", "41", "read:-1"], options: ["--guard", "--guard-front"])
      .lines(of: ["errors", "root.mtrace"])
    #expect(
      lines.contains(
        "To fix: read_byte goes in front of the block that make_block allocates: an index is below 0, or a "
          + "pointer goes back too far"))
  }

  @Test func withLessAlignmentItIsStopped() throws {
    let options = ["--guard", "--guard-alignment=1"]
    let found = try Self.run(["malloc", "41", "write:40", "write:41"], options: options).error()
    #expect(found.error.kind == .outOfBounds(Self.access(.write, 41)))
    let aligned = try Self.run(["memalign", "41", "write:63"], options: options)
    #expect(aligned.result.outputText == "1 41 0\n")
    #expect(aligned.result.exitStatus == 0)
  }

  @Test func aBlockIsFreedTwiceWithoutHarm() throws {
    let run = try Self.run(["malloc", "40", "free", "free"])
    #expect(run.result.exitStatus == 0)
    #expect(try run.error().error.kind == .doubleFree)
  }

  @Test func aBlockThatGrowsLeavesItsOldPlace() throws {
    let run = try Self.run(["malloc", "40", "write:39", "grow", "read:39", "write:10039"])
    #expect(run.result.outputText == "1 40 0\n7\n")
    #expect(run.result.exitStatus == 0)
    #expect(try HeapRun.errors(run.root()).isEmpty)
    let emptied = try Self.run(["malloc", "40", "empty"])
    #expect(emptied.result.exitStatus == 0)
    #expect(try HeapRun.errors(emptied.root()).isEmpty)
  }

  @Test func onlyBlocksOfTheChosenSizesAreGuarded() throws {
    for (sizes, isStopped) in [("100", false), ("40", true), ("1-39", false), ("24,32-48", true)] {
      let run = try Self.run(["malloc", "40", "free", "read:0"], options: ["--guard=\(sizes)"])
      #expect((run.result.exitStatus == 139) == isStopped)
      #expect(try run.root().notes.contains { $0.kind == .guarded })
    }
  }

  /// One in a thousand of the blocks of 1 to 100 bytes: each has a page of its own.
  @Test func notAllHaveToBeGuarded() throws {
    let all = try Self.run(["malloc", "40", "many:4000", "mappings"])
    let some = try Self.run(
      ["malloc", "40", "many:4000"], options: ["--guard", "--guard-every=1000"])
    for run in [all, some] {
      #expect(run.result.outputText.contains("wrong 0"))
      #expect(run.result.exitStatus == 0)
      #expect(try HeapRun.errors(run.root()).isEmpty)
    }
    let pages = try [all, some].map { try Self.guardedBlocks(in: $0.root()) }
    #expect(pages[0] > 3900)
    #expect(pages[1] < 100)
  }

  /// Blocks of less than 100 bytes that end in the last bytes of a page.
  private static func guardedBlocks(in trace: Trace) throws -> Int {
    var count = 0
    try trace.forEachEvent { _, event in
      guard event.kind == .allocation, event.size < 100 else { return true }
      count += ((event.address.rawValue &+ event.size &+ 15) & ~15) % 4096 == 0 ? 1 : 0
      return true
    }
    return count
  }

  /// There is room for some thousand; the others are as they always were.
  @Test func moreBlocksThanThereIsRoomForAreAllowed() throws {
    let run = try Self.run(["malloc", "40", "many:50000", "turns:2000", "mappings"])
    #expect(run.result.outputText.contains("wrong 0"))
    #expect(run.result.exitStatus == 0)
    #expect(try HeapRun.errors(run.root()).isEmpty)
  }

  @Test func aForkedChildHasTheBlocksAsWell() throws {
    let run = try Self.run(["malloc", "41", "child", "free"])
    #expect(run.result.outputText == "1 41 0\nchild 0\n")
    for trace in try run.traces() { #expect(try HeapRun.errors(trace).isEmpty) }
    // What was written before the fork is the parent's.
    let parents = try Self.run(["malloc", "41", "write:41", "child", "free"])
    let kinds = try parents.traces().map { try HeapRun.errors($0).map(\.kind.category) }
    #expect(kinds.count == 2)
    #expect(kinds.flatMap(\.self) == [.heapOverflow])
  }

  /// No system call is made for blocks any more that the sandbox has no use for, whatever is done
  /// to them.
  @Test(
    arguments: [
      ("--guard", ["write:41", "free", "write:0"]), ("--redzones", ["write:41", "free"]),
      ("--zombies=1KiB", ["free", "write:8"]),
    ])
  func aSandboxIsRespected(option: String, steps: [String]) throws {
    let run = try Self.run(["malloc", "41", "sandbox"] + steps + ["many:50"], options: [option])
    #expect(run.result.outputText.hasSuffix("\nwrong 0\n"))
    #expect(run.result.exitStatus == 0)
  }

  @Test func allChecksGoTogether() throws {
    let options = ["--zombies", "--redzones", "--guard=40"]
    let guarded = try Self.run(["malloc", "40", "free", "read:0"], options: options)
    #expect(try guarded.error().error.kind == .accessAfterFree(Self.access(.read, 0)))
    let other = try Self.run(["malloc", "41", "write:41", "free"], options: options)
    #expect(try other.error().error.kind == .heapOverflow(offset: 41, length: 1, found: .free))
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
      [try TestProgram(program).path.string], start: .launcher(["--guard"]))
    for trace in try run.allTraces() {
      #expect(trace.guardedAccesses.isEmpty)
      #expect(trace.overruns.isEmpty)
    }
  }

  @Test func theReportTellsWhoWentTooFar() throws {
    let run = try Self.run(["malloc", "4096", "write:4100"])
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    #expect(lines.first?.hasSuffix("1 access outside of a block") == true)
    #expect(
      lines.contains {
        $0.hasPrefix("1. Write 4 B behind the end of 0x")
          && $0.hasSuffix(", a block of 4.00 KiB (Malloc-4.00 KiB)")
      })
    #expect(
      lines.contains { $0.hasPrefix("Written on") && $0.hasSuffix(", which ended in SIGSEGV") })
    #expect(lines.contains { $0.hasPrefix("write_byte") })
    #expect(
      lines.contains(
        "To fix: write_byte goes beyond the 4.00 KiB that make_block asked for: ask for more, or "
          + "stop earlier"))
    let block = try #require(run.root().guardedAccesses.first?.block)
    let history = try run.lines(of: [
      "history", "root.mtrace", "0x" + String(block.rawValue, radix: 16),
    ])
    #expect(history.contains("Used outside of its bounds"))
    #expect(
      history.contains { $0.contains("write at offset 4100 of 4096, which ended in SIGSEGV") })
  }

  /// What is found later leads to what finds it at once.
  @Test func whatToDoNextIsSaid() throws {
    for (size, write, option) in [
      ("40", 40, "record --guard=40 --guard-alignment=1 shows who writes"),
      ("40", 55, "record --guard=40 shows who writes"),
    ] {
      let run = try Self.run(["malloc", size, "write:\(write)", "free"], options: ["--redzones"])
      let lines = try run.lines(of: ["errors", "root.mtrace"])
      #expect(lines.contains { $0.hasPrefix("To fix:") && $0.hasSuffix(option) })
    }
  }

  /// A block of no bytes takes one, so that its guard is not next to it.
  @Test(arguments: [
    (0, "a copy goes too far"), (1, "record --guard=0 --guard-alignment=1 shows who writes"),
    (15, "record --guard=0 --guard-alignment=1 shows who writes"),
    (16, "record --guard=0 shows who writes"),
  ])
  func whatToDoNextFindsWhoWritesToABlockOfNoBytes(offset: Int, end: String) throws {
    let steps = ["malloc", "0", "write:\(offset)", "free"]
    let lines = try Self.run(steps, options: ["--redzones=32"]).lines(of: ["errors", "root.mtrace"])
    let advice = try #require(lines.first { $0.hasPrefix("To fix:") })
    #expect(advice.hasSuffix(end))
    let options = advice.split(separator: " ").filter { $0.hasPrefix("--guard") }.map(String.init)
    guard !options.isEmpty else { return }
    let found = try Self.run(steps, options: options).lines(of: ["errors", "root.mtrace"])
    #expect(
      found.contains { $0.hasPrefix("1. Write \(offset) B behind the end of 0x") }, "\(found)")
  }

  @Test func theGateFailsForIt() throws {
    let program = try Self.program()
    let run = try HeapRun.memtrace(
      [
        "check", "--guard", "--", program.path.string, "malloc",
        "4096", "read:4096",
      ], in: try ScratchDirectory())
    #expect(run.exitStatus == 139)
    #expect(run.outputText.contains("Access outside of a block: read_byte, 1 call"))
    #expect(run.outputText.contains("allocated by malloc:"))
  }

  @Test(
    arguments: [
      (["--guard", "--sample", "512KiB"], "--guard needs all blocks to be recorded"),
      (["--guard=24x"], "--guard takes up to 16 sizes"),
      (["--guard-every=2"], "--guard-every goes with --guard"),
      (["--guard-alignment=2"], "--guard-alignment goes with --guard"),
      (["--guard-front"], "--guard-front goes with --guard"),
      (["--guard", "--guard-every=0"], "--guard-every takes a number from 1"),
      (["--guard", "--guard-alignment=3"], "--guard-alignment takes 1, 2, 4, 8 or 16"),
    ])
  func whatMakesNoSenseIsRefused(options: [String], message: String) throws {
    try HeapRun.expectRefusal(options, message)
  }
}
