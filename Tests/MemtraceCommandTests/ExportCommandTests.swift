import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// `memtrace export` of the built executable, on a trace made by hand.
@Suite struct ExportCommandTests {
  private let directory: ScratchDirectory

  init() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1010, 0x1000])
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.thread(1, tid: 4711, name: "app")
    for index in UInt64(0)..<5 { builder.allocate(0x1_0000 + index * 1008, 1000, stack: stack) }
    for index in UInt64(0)..<4 { builder.free(0x1_0000 + index * 1008, stack: stack) }
    directory = try ScratchDirectory()
    let trace = directory.path.appending("app.mtrace").string
    try Data(builder.bytes()).write(to: URL(filePath: trace))
  }

  private func export(_ arguments: String...) throws -> ProcessRun {
    try memtrace(arguments: ["export", "app.mtrace"] + arguments, in: directory.path)
  }

  @Test func foldedStacksGoToStandardOutput() throws {
    let run = try export()
    #expect(run.status == 0)
    #expect(run.errorText == "")
    #expect(run.outputText == "0x1000;0x1010 1000\n")
    #expect(try export("--value", "total-blocks").outputText == "0x1000;0x1010 5\n")
  }

  @Test(arguments: [
    (["--size", "7"], ["none that is asked for has live-bytes", "; --value total-bytes counts"]),
    (["--value", "peak-blocks", "--size", "7"], ["asked for has peak-blocks\n"]),
    (
      ["--from", "5s"], ["The recording ends at 00:00", ", before --from.\n", "no stack to export"]
    ),
  ])
  func thatThereAreNoStacksIsSaid(arguments: [String], said: [String]) throws {
    let run = try memtrace(arguments: ["export", "app.mtrace"] + arguments, in: directory.path)
    #expect(run.status == 0)
    #expect(run.outputText == "")
    for text in said { #expect(run.errorText.contains(text)) }
  }

  @Test(arguments: ["folded", "html", "pprof"])
  func whatTheTraceDoesNotHoldIsSaid(format: String) throws {
    let trace = URL(filePath: directory.path.appending("app.mtrace").string)
    try Data(contentsOf: trace).dropLast(8).write(to: trace)
    let run = try export("--format", format, "-o", "out")
    #expect(run.status == 0)
    #expect(
      run.errorText
        == "memtrace: app.mtrace: the file was cut: 8 bytes are missing at its end\n")
  }

  @Test func aPageIsWhole() throws {
    let run = try export("--format", "html", "-o", "app.html")
    #expect(run.status == 0)
    #expect(run.outputText == "")
    let file = directory.path.appending("app.html").string
    let page = try String(contentsOf: URL(filePath: file), encoding: .utf8)
    #expect(page.hasPrefix("<!DOCTYPE html>\n"))
    #expect(page.hasSuffix("</html>\n"))
    #expect(page.contains("padding: 0; text-indent"), "padding widens boxes over their neighbours")
  }

  /// `--format` chooses; without it the ending of the file's name, and folded stacks for all others.
  @Test(arguments: [
    (["-o", "a.html"], "<!DOCTYPE html>"), (["-o", "a.HTM"], "<!DOCTYPE html>"),
    (["-o", "a.html", "--format", "folded"], "0x1000;0x1010 1000"),
    (["-o", "a.svg", "--format", "folded"], "0x1000;0x1010 1000"),
    (["-o", "html"], "0x1000;0x1010 1000"), (["-o", "a.folded"], "0x1000;0x1010 1000"),
  ])
  func theFileNamesTheForm(arguments: [String], firstLine: String) throws {
    let run = try memtrace(arguments: ["export", "app.mtrace"] + arguments, in: directory.path)
    #expect(run.status == 0)
    let file = URL(filePath: directory.path.appending(arguments[1]).string)
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.split(separator: "\n").first.map(String.init) == firstLine)
  }

  @Test(arguments: ["a.pb", "a.pb.gz", "a.pprof"])
  func filesOfProfilesAreProfiles(file: String) throws {
    #expect(try export("-o", file).status == 0)
    let written = try Data(contentsOf: URL(filePath: directory.path.appending(file).string))
    #expect(try export("--format", "pprof").output == [UInt8](written))
  }

  @Test func whatDoesNotGoTogetherIsRefused() throws {
    for arguments in [["--format", "pprof", "--invert"], ["--min-percent", "2"]] {
      let run = try memtrace(arguments: ["export", "app.mtrace"] + arguments, in: directory.path)
      #expect(run.status == 64)
      #expect(run.outputText == "")
    }
  }

  @Test func aTraceIsNotOverwritten() throws {
    let run = try export("-o", "app.mtrace")
    #expect(run.status == 73)
    #expect(run.errorText == "memtrace: app.mtrace is a trace; give another file to -o\n")
  }

  @Test func aFullDiskIsSaid() throws {
    for format in ["folded", "html", "pprof"] {
      let run = try export("--format", format, "-o", "/dev/full")
      #expect(run.status == 74)
      #expect(run.errorText == "memtrace: cannot write /dev/full: No space left on device\n")
    }
  }

  @Test func aFileSizeLimitIsSaid() throws {
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", "ulimit -f 1; exec \"$0\" export app.mtrace -o app.html",
        BuiltProducts.memtrace.string,
      ], directory: directory.path)
    #expect(run.status == 74)
    #expect(run.errorText == "memtrace: cannot write app.html: File too large\n")
  }

  private static let go = ["/usr/bin/go", "/usr/local/go/bin/go"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(.enabled(if: go != nil, "needs go"))
  func pprofReadsTheProfile() throws {
    let run = try export("--format", "pprof", "-o", "app.pb")
    #expect(run.status == 0)
    let pprof = try ProcessRun.run(
      [try #require(Self.go), "tool", "pprof", "-raw", "app.pb"],
      environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)"],
      directory: directory.path)
    #expect(pprof.status == 0, "\(pprof.errorText)")
    #expect(pprof.outputText.contains("inuse_space/bytes[dflt]"))
    #expect(pprof.outputText.contains("5       5000          1       1000"))
  }
}
