import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Allocations that fail because somebody has asked for it.
@Suite struct ShortageTests {
  private static func output(
    _ options: [String], _ arguments: [String], program: String = "shortage.c"
  ) throws -> String {
    let run = try HeapRun(TestProgram(program), arguments, options: options).result
    #expect(run.exitStatus == 0)
    return run.outputText
  }

  private static let functions = [
    "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "valloc",
  ]

  @Test(arguments: functions) func theChosenAllocationsFail(function: String) throws {
    for (numbers, result) in [
      ("1", "-+++++++"), ("2,4-6", "+-+---++"), ("3+", "++------"), ("9", "++++++++"),
    ] {
      #expect(
        try Self.output(["--fail-at", numbers], [function, "8", "64"]) == "\(result)\n")
    }
  }

  /// What is freed can be had again.
  @Test(arguments: functions) func thereIsNoMoreThanTheLimit(function: String) throws {
    for (limit, result) in [("63", "--------"), ("250", "+++-----"), ("1KiB", "++++++++")] {
      #expect(
        try Self.output(["--limit", limit], [function, "8", "64", "again"])
          == "\(result)\n\(result)\n")
    }
  }

  /// A block counts with what it grows by, and stays what it was when that is too much.
  @Test func aBlockThatCannotGrowStaysWhatItWas() throws {
    #expect(
      try Self.output(["--limit", "1000"], ["malloc", "40", "64", "grow"])
        == "grew to 960, intact\n")
    #expect(
      try Self.output(["--fail-at", "5"], ["malloc", "40", "64", "grow"])
        == "grew to 256, intact\n")
  }

  @Test func aForkedChildCountsFromOne() throws {
    #expect(
      try Self.output(["--fail-at", "2"], ["malloc", "4", "64", "fork"]) == "+-++\n+-++\n")
  }

  /// The first allocation of a C++ program is its library's.
  @Test func operatorNewThrows() throws {
    for (numbers, result) in [("2", "-++++"), ("2-4", "--+++"), ("3,5", "+--++"), ("2+", "-----")] {
      #expect(
        try Self.output(["--fail-at", numbers], [], program: "shortage.cpp") == "\(result)\n0\n")
    }
  }

  /// It is called once for each allocation that fails, and has given up after the third time.
  @Test func theNewHandlerIsAsked() throws {
    for (numbers, calls, result) in [
      ("2", 1, "+++++"), ("2-4", 3, "+++++"), ("3,5", 2, "+++++"), ("2+", 3, "-----"),
    ] {
      #expect(
        try Self.output(["--fail-at", numbers], ["handler"], program: "shortage.cpp")
          == "\(result)\n\(calls)\n")
    }
  }

  @Test func theReportTellsWhatFailedAndThatItWasAskedFor() throws {
    let run = try HeapRun(
      TestProgram("shortage.c"), ["calloc", "4", "64"],
      options: ["--fail-at", "2,4", "--limit", "1MiB"])
    let result = try run.root().replay()
    #expect(result.failedAllocationCount == 2)
    #expect(result.failedAllocations.map(\.size) == [64])
    #expect(result.errors.isEmpty)
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    #expect(
      lines.contains(
        "2 allocations failed and returned NULL, as --fail-at=2,4 and --limit of 1.00 MiB have it"))
    #expect(lines.contains { $0.hasPrefix("calloc of 64 B, 2 times, first on") })
    #expect(lines.contains { $0.hasPrefix("block_of  shortage.c:") })
  }

  @Test func whatOverflowsHasNoSize() throws {
    let run = try HeapRun(TestProgram("entry_points.c"), [], options: [])
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    for function in ["calloc", "reallocarray"] {
      let start = "\(function), whose count times its size overflows, once, first on"
      #expect(lines.contains { $0.hasPrefix(start) })
    }
    #expect(lines.contains { $0.hasPrefix("malloc of ") })
    let overview = try run.lines(of: ["report", "root.mtrace"])
    #expect(
      overview.contains { $0.hasPrefix("calloc, whose count times its size overflows, once") })
  }

  @Test func whatIsBelowNothingIsNoHugeBlock() throws {
    let run = try HeapRun(TestProgram("shortage.c"), ["malloc", "1", "-200"], options: [])
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    let request = "malloc of -200 B, less than nothing, once"
    #expect(lines.contains { $0.hasPrefix("\(request), first on") })
    let overview = try run.lines(of: ["report", "root.mtrace"])
    #expect(overview.contains { $0.hasPrefix("\(request) by ") })
  }

  /// All of it is there without the options, too.
  @Test func otherChecksGoTogetherWithIt() throws {
    let options = ["--guard", "--redzones", "--zombies", "--fail-at", "2", "--limit", "300"]
    #expect(try Self.output(options, ["malloc", "8", "64", "again"]) == "+-+++---\n++++----\n")
  }

  @Test(
    arguments: [
      (["--fail-at", "0"], "--fail-at takes up to 16 numbers from 1"),
      (["--fail-at", "x"], "--fail-at takes up to 16 numbers from 1"),
      (["--fail-at", "0-18446744073709551614,"], "--fail-at takes up to 16 numbers from 1"),
      (["--limit", "0"], "--limit takes a number of bytes from 1 to 1PiB"),
      (["--limit", "1-2"], "--limit takes a number of bytes from 1 to 1PiB"),
      (["--limit", "0+"], "--limit takes a number of bytes from 1 to 1PiB"),
    ])
  func whatMakesNoSenseIsRefused(options: [String], message: String) throws {
    try HeapRun.expectRefusal(options, message)
  }
}
