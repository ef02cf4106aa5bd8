import Foundation
import Testing
import TraceTestSupport

/// `memtrace diff` on recorded programs.
@Suite struct DiffTests {
  private let folder: ScratchDirectory

  init() throws {
    folder = try ScratchDirectory()
  }

  private func memtrace(_ words: [String]) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words, environment: TracedRun.minimalEnvironment,
      directory: folder.path)
  }

  @Test func foldersOfRunsAreComparedByTheirMedians() throws {
    let program = try TestProgram("gate.c").path.string
    for (name, letters) in [("base", "l"), ("head", "lc")] {
      let run = try memtrace(
        ["record", "-q", "--runs", "3", "-o", name, "--", program, letters])
      #expect(run.status == 0, "\(run.errorText)")
      #expect(
        try FileManager.default.contentsOfDirectory(
          atPath: folder.path.appending(name).string
        ).count == 3)
    }
    let words = ["diff", "base", "head", "--group-by", "function", "--blocks", "unfreed"]
    let run = try memtrace(words + ["--format", "csv"])
    #expect(run.status == 0, "\(run.errorText)")
    #expect(
      run.outputText == """
        Change,Function,Bytes Before,Bytes After,# Before,# After,Within Spread\r
        new,leak_cycle,0,32,0,2,no\r

        """)
    let failing = try memtrace(words + ["--fail-on", "allocations>+1", "--fail-on", "peak>+90%"])
    #expect(failing.status == 86)
    #expect(failing.outputText.contains("Failed: allocations>+1: 5, at most 4 allowed"))
    #expect(!failing.outputText.contains("Failed: peak"))
    #expect(failing.outputText.contains("Medians of 3 and 3 runs"))
  }

  @Test func runsDoNotMixWithOlderOnes() throws {
    let program = try TestProgram("gate.c").path.string
    let words = ["record", "-q", "--runs", "2", "-o", "base", "--", program, "l"]
    #expect(try memtrace(words).status == 0)
    let again = try memtrace(words)
    #expect(again.status == 73)
    #expect(
      again.errorText == "memtrace: base holds traces already, which would count among the runs; "
        + "choose another folder\n")
    let entries = try FileManager.default.contentsOfDirectory(
      atPath: folder.path.appending("base").string)
    #expect(entries.count == 2)
  }

  @Test func aRunThatFailsEndsTheRuns() throws {
    let program = try TestProgram("gate.c").path.string
    let run = try memtrace(["record", "-q", "--runs", "3", "-o", "runs", "--", program, "f"])
    #expect(run.status == 3)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.path.appending("runs").string)
    #expect(names.count == 1)
  }
}
