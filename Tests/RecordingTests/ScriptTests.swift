import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

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

  /// A program that was not recorded prints what it prints.
  @Test func aRunWithoutATraceIsNoComparison() throws {
    let directory = try ScratchDirectory()
    let recorder = directory.path.appending("memtrace").string
    let text = """
      #!/bin/bash
      while [[ $1 != -- ]]; do shift; done
      shift
      exec "$@"
      """
    try text.write(toFile: recorder, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: recorder)
    let run = try ProcessRun.run(
      ["/bin/bash", Self.scripts.appending("check-programs").string, "sed"],
      environment: TracedRun.minimalEnvironment + ["MEMTRACE=\(recorder)"])
    #expect(run.status == 1)
    #expect(run.outputText.contains("\nsed          NO-TRACE "), "\(run.outputText)")
    #expect(run.outputText.hasSuffix("\n1 programs compared, 1 different\n"))
  }

  @Test func bytesAreCountedOfTracesAsTheyWereRecorded() throws {
    let program = try TestProgram("table.c")
    let traced = try TracedRun([program.path.string])
    let folder = traced.directory.path
    let plain = try run("profile-trace", ["root.mtrace"], in: folder)
    #expect(plain.status == 0, "\(plain.errorText)")
    #expect(plain.outputText.contains("| **file, without heap snapshots** |"))
    // A decoder that has lost its way counts other events.
    let dump = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "dump", "--kind", "event", "root.mtrace"], directory: folder)
    let events = dump.outputText.count { $0 == "\n" }
    #expect(events > 0)
    #expect(plain.outputText.hasPrefix("| \(events) events | bytes per event |"))
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
    let other = try run("profile-trace", ["/dev/null"], in: folder)
    #expect(other.status == 65)
    #expect(other.errorText == "/dev/null: is no trace\n")
  }

  @Test func aRepeatedTraceHasTheEventsOfAllRounds() throws {
    let program = try TestProgram("table.c")
    let traced = try TracedRun([program.path.string])
    func events(_ trace: String) throws -> Int {
      let dump = try ProcessRun.run(
        [BuiltProducts.memtrace.string, "dump", "--kind", "event", trace],
        directory: traced.directory.path)
      #expect(dump.status == 0, "\(dump.errorText)")
      return dump.outputText.count { $0 == "\n" }
    }
    let recorded = try events("root.mtrace")
    #expect(recorded > 0)
    func repeated(_ source: String) throws -> ProcessRun {
      let script = Self.scripts.removingLastComponent().appending("Benchmarks/repeat-trace.py")
      return try ProcessRun.run(
        [
          "/usr/bin/python3", "-B", script.string, source, "huge.mtrace",
          "--events", "\(2 * recorded + 1)", "--recorded-events", "\(recorded)",
        ], directory: traced.directory.path)
    }
    let run = try repeated("root.mtrace")
    #expect(run.outputText == "3 rounds, \(3 * recorded) events\n", "\(run.errorText)")
    #expect(try events("huge.mtrace") == 3 * recorded)
    let huge = try Trace(path: traced.directory.path.appending("huge.mtrace"))
    #expect(try huge.replay().coverage.damage.isEmpty)

    let missing = try repeated("none.mtrace")
    #expect(missing.status == 1)
    #expect(
      missing.errorText == "repeat-trace.py: cannot read none.mtrace: No such file or directory\n")
  }

  /// With programs that list no leaks all tools would agree.
  @Test func leaksThatAreNotThereAreNotCompared() throws {
    let directory = try ScratchDirectory()
    _ = try ProcessRun.run(["/bin/ln", "-s", "/bin/true", "leaks-c"], directory: directory.path)
    let script = Self.scripts.appending("support/compare-leaks.py")
    let run = try ProcessRun.run(
      ["/usr/bin/python3", "-B", script.string, BuiltProducts.memtrace.string] + [
        directory.path.string
      ])
    #expect(run.status == 125)
    #expect(run.errorText == "compare-leaks: leaks-c lists no leaks to find\n")
  }

  /// A counter of another name would be 0 for ever, in scripts that fail when it is not.
  @Test func countersThatScriptsAddUpExist() throws {
    let coverage = CoverageSummary.names
    var found = 0
    for script in ["sum-coverage.py", "sum-stacks.py"] {
      let path = Self.scripts.appending("support/\(script)").string
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let names = text.matches(
        of: /"((?:stacks|events|nested|unknown)[A-Za-z]+)"/
      ).map { String($0.1) }
      for name in names { #expect(coverage.contains(name), "\(script): \(name)") }
      found += names.count
    }
    #expect(found >= 8)
  }
}
