import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Where traces are written when paths have odd or long names.
@Suite struct NamingTests {
  private let directory: ScratchDirectory
  private let folder: FilePath

  init() throws {
    directory = try ScratchDirectory()
    folder = directory.path.appending("50%new %p%%")
    let made = try ProcessRun.run(["/bin/mkdir", folder.string])
    try #require(made.status == 0)
  }

  private func entries() throws -> [String] {
    try ProcessRun.run(["/bin/ls", folder.string]).outputText
      .split(separator: "\n").map(String.init)
  }

  private func record(_ arguments: [String]) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "-q"] + arguments,
      environment: TracedRun.minimalEnvironment, directory: folder)
  }

  @Test func aPercentSignInTheFolderIsOne() throws {
    let run = try record(["-o", "root.mtrace", "--", "/bin/sh", "-c", "ls / >/dev/null; exit 4"])
    #expect(run.status == 4)
    #expect(run.errorText == "")
    // The child's name is made from the root's, which it inherits.
    let names = try entries()
    #expect(names.count == 2)
    #expect(names.allSatisfy { $0.hasPrefix("root.") && $0.hasSuffix(".mtrace") })
  }

  @Test func aPercentSignInTheNameOfTheProgramIsOne() throws {
    let made = try ProcessRun.run(["/bin/cp", "/bin/true", folder.appending("a%nb").string])
    try #require(made.status == 0)
    #expect(try record(["--", "./a%nb"]).status == 0)
    #expect(try entries() == ["a%nb", "a%nb.mtrace"])
  }

  /// What a server has written over its arguments says nothing of the program.
  @Test func childrenAreNamedAsTheProgramWasExecuted() throws {
    let program = try TestProgram("retitled.c").path.string
    #expect(try record(["-o", "root.mtrace", "--", program, "an argument", ""]).status == 0)
    let name = try #require(FilePath(program).lastComponent?.string)
    let child = try #require(entries().first { $0.hasPrefix("root.\(name).") })
    let trace = try Trace(path: folder.appending(child))
    #expect(trace.process.arguments == [program, "an argument", ""])
    #expect(
      trace.notes.filter { $0.kind == .title }.map(\.text) == ["retitled: /etc/worker of all"])
  }

  @Test(arguments: [("x-%n%%.mtrace", "x-true%.mtrace"), ("%%p.mtrace", "%p.mtrace")])
  func theNameThatIsAskedForIsATemplate(asked: String, written: String) throws {
    #expect(try record(["-o", asked, "--", "true"]).status == 0)
    #expect(try entries() == [written])
  }

  /// 255 bytes are the most that a file system takes.
  @Test func aLongNameIsShortened() throws {
    let name = String(repeating: "x", count: 250)
    let made = try ProcessRun.run(["/bin/cp", "/bin/true", folder.appending(name).string])
    try #require(made.status == 0)
    #expect(try record(["--", "./\(name)"]).status == 0)
    #expect(try entries() == [name.prefix(200) + ".mtrace", name])

    let long = String(repeating: "y", count: 240) + ".mtrace"
    let run = try record(["-o", long, "--", "/bin/sh", "-c", "ls / >/dev/null; exit 0"])
    #expect(run.status == 0)
    #expect(run.errorText == "")
    #expect(try entries().filter { $0.hasPrefix("yyy") }.count == 2)
  }
}
