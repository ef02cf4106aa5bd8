import SystemPackage
import Testing
import TraceTestSupport

/// Traces of programs whose files are in another file system now.
@Suite struct SystemRootTests {
  private let folder: ScratchDirectory
  /// Where the file system of the program is after the recording.
  private let elsewhere: ScratchDirectory

  /// Records a program next to its source, then moves both away; the trace is in both places.
  init() throws {
    folder = try ScratchDirectory()
    elsewhere = try ScratchDirectory()
    let source = TestProgram.sources.appending("sizes.c").string
    try shell(
      "cp -p '\(source)' sizes.c && gcc -g sizes.c -Wl,--build-id -o sizes && ln -s '\(folder.path)' link"
    )
    #expect(try run(["record", "-q", "-o", "x.mtrace", "--", "./link/sizes"]).errorText == "")
  }

  private func shell(_ script: String) throws {
    let run = try ProcessRun.run(["/bin/sh", "-c", script], directory: folder.path)
    #expect(run.status == 0, "\(run.errorText)")
  }

  private func run(_ words: [String]) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words, environment: TracedRun.minimalEnvironment,
      directory: folder.path)
  }

  private func moveAway() throws {
    let place = "\(elsewhere.path)\(folder.path)"
    try shell("mkdir -p '\(place)' && mv sizes sizes.c '\(place)'")
  }

  @Test(arguments: [
    ["heap"], ["unfreed"], ["allocations", "--call-tree"], ["report"], ["export"],
  ])
  func reportsAreTheSame(words: [String]) throws {
    let plain = try run(words + ["x.mtrace"])
    #expect((plain.status, plain.errorText) == (0, ""))
    #expect(plain.outputText.contains(words == ["heap"] ? "struct edge" : "main"))
    try moveAway()
    let moved = try run(words + ["x.mtrace", "--sysroot", elsewhere.path.string + "/"])
    #expect((moved.status, moved.errorText) == (0, ""))
    #expect(moved.outputText == plain.outputText)
  }

  @Test func aTraceIsPackedWithNamesFromThere() throws {
    let plain = try run(["heap", "x.mtrace"]).outputText
    try moveAway()
    let packing = try run(["pack", "-q", "x.mtrace", "--sysroot", elsewhere.path.string])
    #expect((packing.status, packing.errorText) == (0, ""))
    try shell("mv x.mtrace.zst x.mtrace")
    #expect(try run(["heap", "x.mtrace"]).outputText == plain)
  }

  @Test func reportsSayWhyNamesAreMissing() throws {
    try moveAway()
    let gone = "\(folder.path)/sizes is gone: its frames have offsets instead of names"
    let advice =
      "names of a program in a container: --sysroot says where its files are, "
      + "'memtrace pack' in there keeps the names in the trace"
    for words in [["unfreed"], ["allocations", "--call-tree"], ["export"]] {
      let run = try run(words + ["x.mtrace"])
      #expect(run.status == 0)
      #expect(run.errorText == "memtrace: \(gone)\nmemtrace: \(advice)\n", "\(words)")
    }
    let report = try run(["report", "x.mtrace"])
    #expect(report.errorText == "")
    #expect(report.outputText.contains("\nNames: \(gone)\n\(advice)\n"))
    // Whoever has named a place need not be told of it.
    let there = try run(["unfreed", "x.mtrace", "--sysroot", folder.path.string])
    #expect(
      there.errorText == """
        memtrace: \(folder.path)\(folder.path)/sizes is gone: its frames have offsets instead of names

        """)
  }

  @Test func aFolderThatIsNotThereIsSaid() throws {
    let missing = try run(["leaks", "x.mtrace", "--sysroot", "/nonexistent/x"])
    #expect(missing.status == 64)
    #expect(missing.errorText.hasPrefix("Error: --sysroot: there is no folder '/nonexistent/x'.\n"))
    let unused = try run(["pack", "--no-symbols", "--sysroot", "/", "x.mtrace"])
    #expect(unused.status == 64)
    #expect(
      unused.errorText.hasPrefix(
        "Error: --sysroot is for the names, which --no-symbols leaves out.\n"))
  }
}
