import SystemPackage
import Testing
import TraceTestSupport

/// The scripts that measure and compare: none of them may find nothing wrong with nothing.
@Suite struct ScriptTests {
  private static let scripts = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent().appending("scripts")

  private func run(
    _ script: String, _ arguments: [String], in directory: FilePath? = nil
  ) throws -> ProcessRun {
    try ProcessRun.run(
      ["/bin/bash", Self.scripts.appending(script).string] + arguments,
      environment: TracedRun.minimalEnvironment + ["MEMTRACE=\(BuiltProducts.memtrace)"],
      directory: directory)
  }

  @Test(arguments: ["check-stacks", "check-programs"])
  func aProgramThatIsNotThereFails(script: String) throws {
    let run = try run(script, ["nosuchprogram"])
    #expect(run.status == 125)
    #expect(run.errorText == "\(script): there is no program 'nosuchprogram'\n")
  }

  @Test func bytesAreCountedOfTracesAsTheyWereRecorded() throws {
    let program = try TestProgram("table.c")
    let traced = try TracedRun([program.path.string])
    let folder = traced.directory.path
    let plain = try run("profile-trace", ["root.mtrace"], in: folder)
    #expect(plain.status == 0, "\(plain.errorText)")
    #expect(plain.outputText.contains("| **file, without heap snapshots** |"))
    for words in [["pack", "root.mtrace"], ["unpack", "root.mtrace.zst", "-o", "again.mtrace"]] {
      _ = try ProcessRun.run([BuiltProducts.memtrace.string] + words, directory: folder)
    }
    let again = try run("profile-trace", ["again.mtrace"], in: folder)
    #expect(again.status == 65)
    #expect(
      again.errorText == "again.mtrace: was packed; give the trace as it was recorded\n")
    #expect(again.outputText == "")
    let packed = try run("profile-trace", ["root.mtrace.zst"], in: folder)
    #expect(packed.status == 65)
  }
}
