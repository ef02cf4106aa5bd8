import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

@testable import Symbolication

#if canImport(Glibc)
  import Glibc
#endif

/// Names of code that a process has generated.
@Suite struct GeneratedCodeTests {
  private let scratch: ScratchDirectory
  private var process = TracedProcess()

  init() throws {
    scratch = try ScratchDirectory()
    process.pid = 4711
    process.uid = geteuid()
    try shell("mkdir tmp && echo '1000 40 JS:*parse /srv/app.js:12:7' > tmp/perf-4711.map")
    try shell("touch -d @1000 tmp/perf-4711.map")
  }

  private func shell(_ script: String) throws {
    let run = try ProcessRun.run(["/bin/sh", "-c", script], directory: scratch.path)
    #expect(run.status == 0, "\(run.errorText)")
  }

  private func symbolicator(oldestAt seconds: UInt64 = 1000) -> ELFSymbolicator {
    ELFSymbolicator(
      debugDirectories: [],
      generatedCode: GeneratedCode(
        of: process, root: SystemRoot(folder: scratch.path.string),
        oldestAt: seconds * 1_000_000_000))
  }

  private func name(
    _ address: UInt64, isExact: Bool = true, oldestAt seconds: UInt64 = 1000
  ) -> String? {
    symbolicator(oldestAt: seconds)
      .frames(at: Address(address), in: nil, isExact: isExact).first?.function?.short
  }

  @Test func codeInNoImageHasTheNameOfTheList() throws {
    #expect(name(0x1000) == "parse /srv/app.js:12:7")
    #expect(name(0x1040) == nil)
    #expect(name(0x1040, isExact: false) == "parse /srv/app.js:12:7")
    #expect(name(0x1000, isExact: false) == nil)
    let frames = symbolicator().frames(at: Address(0x1010), in: nil, isExact: true)
    let frame = try #require(frames.first)
    #expect(frames.count == 1)
    #expect((frame.functionOffset, frame.role) == (0x10, .user))
    #expect((frame.displayName, frame.baseName) == ("parse /srv/app.js:12:7", "parse"))
  }

  @Test func listsOfEarlierProcessesAreNotTaken() {
    #expect(name(0x1000, oldestAt: 1001) == nil)
  }

  @Test func whatIsNoFileIsNotRead() throws {
    try shell("rm tmp/perf-4711.map && mkfifo tmp/perf-4711.map")
    #expect(name(0x1000, oldestAt: 0) == nil)
    try shell("rm tmp/perf-4711.map && mkdir tmp/perf-4711.map")
    #expect(name(0x1000, oldestAt: 0) == nil)
    try shell("rmdir tmp/perf-4711.map")
    #expect(name(0x1000, oldestAt: 0) == nil)
  }

  @Test(arguments: [
    ("JS:*parse /srv/app.js:12:7", "parse /srv/app.js:12:7", "parse"),
    ("JS:~parse /srv/app.js:12:7", "parse /srv/app.js:12:7", "parse"),
    ("LazyCompile:+get size node:buffer:1:20", "get size node:buffer:1:20", "get size"),
    ("JS:^ /srv/app.js:1:1", "(anonymous) /srv/app.js:1:1", "(anonymous)"),
    ("Script:~ /srv/app.js:1:1", "(anonymous) /srv/app.js:1:1", "(anonymous)"),
    ("Function:*run", "run", "run"),
    ("py::handle:/srv/app.py", "py::handle:/srv/app.py", "py::handle:/srv/app.py"),
    ("int app.Key.hash()", "int app.Key.hash()", "int app.Key.hash()"),
    ("JS:", "(anonymous)", "(anonymous)"),
  ])
  func kindsOfCodeAreNotPartOfNames(text: String, short: String, base: String) {
    let function = GeneratedNames.function(text)
    #expect((function.raw, function.short, function.base) == (text, short, base))
  }

  @Test(arguments: [
    ("Builtin:CEntry_Return1", SymbolicatedFrame.Role.runtime), ("BytecodeHandler:Star", .runtime),
    ("Interpreter", .runtime), ("StubRoutines (1)", .runtime), ("JS:*parse /srv/a.js:1:7", .user),
    ("void Interpreter.run()", .user),
  ])
  func interpretersAreRuntimes(text: String, role: SymbolicatedFrame.Role) {
    #expect(
      FrameClassifier.role(of: GeneratedNames.function(text), inImageAt: nil) == role)
  }
}
