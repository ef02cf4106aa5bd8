import LeakAnalysis
import Reports
import Symbolication
import Testing
import TraceReader

/// Where tasks of Swift wait.
@Suite struct SuspendedTaskTests {
  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func theFunctionThatWaitsIsNamed(_ flags: [String]) throws {
    let program = try TestProgram(
      "suspended_tasks.swift", flags: flags + ["-parse-as-library", "-module-name", "app"])
    let trace = try TracedRun([program.path.string]).root()
    let source = ReportSource(trace, file: nil, symbolicator: ELFSymbolicator())
    let analysis = try trace.leakAnalysis(atSnapshot: trace.snapshotIndex(at: nil), source: source)
    let blocks = analysis.heap.blocks
    let reports = try (0..<blocks.count).map {
      try TraceTreeReport(analysis, address: blocks.address(of: $0), source: source, limit: 0)
    }
    let tasks = reports.filter { $0.name == "Swift Task" }
    #expect(tasks.count == 3)
    let frames = tasks.compactMap(\.suspended)
    #expect(frames.map(\.name) == ["waitForever()"])
    #expect(frames.map(\.line) == [6])
  }
}
