import SystemPackage
import Testing
import TraceTestSupport

/// The examples do what their texts say.
@Suite struct ExampleTests {
  @Test func theGateOfTheExampleSaysWhatItShould() throws {
    let examples = TestProgram.sources.removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Examples")
    let folder = try ScratchDirectory()
    _ = try ProcessRun.run(
      ["/bin/cp", "-r", examples.appending("ci").string, folder.path.string])
    let run = try ProcessRun.run(
      ["/bin/bash", folder.path.appending("ci/gate.sh").string],
      environment: TracedRun.minimalEnvironment + ["MEMTRACE=\(BuiltProducts.memtrace)"])
    #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    let steps = run.outputText.split(separator: "\n").filter { $0.hasPrefix("== ") }
    #expect(
      steps == [
        "== clean: status 0, expected 0", "== planted: status 86, expected 86",
        "== accepted: status 0, expected 0", "== tolerated: status 0, expected 0",
        "== grown: status 86, expected 86", "== mended: status 86, expected 86",
      ])
  }
}
