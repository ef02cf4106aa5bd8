import Foundation
import SystemPackage
import Testing
import TraceTestSupport

/// `leaks` and `heap` of the built executable, on traces made by hand.
@Suite struct LeaksCommandTests {
  private let directory: ScratchDirectory

  /// A folder with `app.mtrace`: two blocks of 100 bytes that nothing points to, one of 48 on which a
  /// variable is.
  init() throws {
    directory = try ScratchDirectory()
    try write("app.mtrace", leaks: 2)
  }

  private func write(_ name: String, leaks: Int) throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.thread(1, tid: 4711, name: "app")
    let stack = builder.stack([0x1010, 0x1000])
    builder.allocate(0x500_0010, 48, stack: stack, time: 1)
    for index in 0..<UInt64(leaks) {
      builder.allocate(0x500_0100 + index * 256, 100, stack: stack, time: 2 + index)
    }
    var snapshot = SnapshotBuilder(time: 100)
    snapshot.region(0x500_0000..<0x501_0000, path: "[heap]")
    snapshot.region(0x40_4000..<0x40_5000)
    snapshot.words(at: 0x40_4000, [0x500_0010])
    builder.snapshot(snapshot)
    let path = directory.path.appending(name)
    try Data(builder.bytes()).write(to: URL(filePath: path.string))
  }

  private func run(_ words: [String], status: Int32) throws -> ProcessRun {
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words,
      environment: ["PATH=/usr/bin:/bin", "COLUMNS=100", "LANG=C"], directory: directory.path)
    #expect(run.status == status, "\(words): \(run.errorText)")
    return run
  }

  @Test func leaksChangeTheStatusOnlyWhenAskedTo() throws {
    let headline = "Process 4711: 2 leaks for 200 total leaked bytes.\n"
    #expect(try run(["leaks", "app.mtrace"], status: 0).outputText.hasPrefix(headline))
    #expect(
      try run(["leaks", "app.mtrace", "--fail-on-leaks"], status: 86).outputText
        .hasPrefix(headline))
    _ = try run(["leaks", "app.mtrace", "--fail-on-leaks", "--size", "48"], status: 0)
  }

  @Test func onlyNewLeaksFailAComparison() throws {
    try write("older.mtrace", leaks: 1)
    let words = ["--diff-from", "older.mtrace", "--fail-on-leaks", "--format", "csv"]
    for grouping in ["stack", "type", "function", "image", "thread"] {
      let rows = try run(["leaks", "app.mtrace", "--group-by", grouping] + words, status: 86)
        .outputText.split(separator: "\r\n")
      #expect(rows.count == 2 && rows[1].hasSuffix(",1,100,,"))
    }
    let same = ["leaks", "app.mtrace", "--diff-from", "app.mtrace", "--fail-on-leaks"]
    #expect(
      try run(same, status: 0).outputText.contains(": 0 leaks for 0 total leaked bytes that "))
  }

  @Test func aMistypedCategoryIsAnErrorWithNearNames() throws {
    let run = try run(["leaks", "app.mtrace", "--category", "Maloc-112"], status: 64)
    #expect(
      run.errorText == "memtrace: no category \"Maloc-112\" in this trace; near: Malloc-112\n")
    #expect(run.outputText == "")
  }

  @Test(arguments: [
    ["--fail-on-leaks"], ["--cycles"], ["--group-by", "type"], ["--category", "x"],
    ["--from", "1s"], ["--size", "1k+"], ["--all"], ["--diff-from", "app.mtrace"],
    ["--responsible", "f"], ["--image", "app"], ["--thread", "T1"],
  ])
  func treesTakeNoOptionsOfTheList(option: [String]) throws {
    let run = try run(["leaks", "app.mtrace", "--trace-tree", "0x5000010"] + option, status: 64)
    #expect(
      run.errorText.hasPrefix(
        "Error: \(option[0]) goes with the list of leaks, not with --trace-tree.\n"))
  }

  @Test func treesAreWritten() throws {
    let holders = try run(["leaks", "app.mtrace", "--trace-tree", "0x5000018"], status: 0)
    #expect(holders.outputText.contains("Held by:"))
    let roots = try run(["leaks", "app.mtrace", "--reference-tree"], status: 0)
    #expect(roots.outputText.hasPrefix("1 block (48 B) can be reached"))
    _ = try run(["leaks", "app.mtrace", "--reference-tree", "--all"], status: 0)
  }

  @Test func theHeapListsClasses() throws {
    let rows = try run(["heap", "app.mtrace", "--format", "csv"], status: 0)
      .outputText.split(separator: "\r\n")
    #expect(rows.count == 2 && rows[1].hasPrefix("3,248,82.7,"))
    #expect(
      try run(["heap", "app.mtrace", "--snapshot", "1"], status: 64).errorText
        == "memtrace: the trace has no snapshot 1: it has only snapshot 0\n")
  }
}
