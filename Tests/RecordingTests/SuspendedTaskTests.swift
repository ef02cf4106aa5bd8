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
    let reports = try reports(of: program)
    let tasks = reports.filter { $0.name == "Swift Task" }
    #expect(tasks.count == 3)
    let frames = tasks.compactMap(\.suspended)
    #expect(frames.map(\.name) == ["waitForever()"])
    #expect(frames.map(\.line) == [6])
  }

  /// Their tasks lie in a slab of the one that waits for them.
  @Test(arguments: [["-Onone"], ["-O"]])
  func whatTasksOfAsyncLetWaitForIsNamed(_ flags: [String]) throws {
    let program = try TestProgram(
      "async_lets.swift", flags: flags + ["-parse-as-library", "-module-name", "app"])
    let waiting = try reports(of: program).filter { $0.suspended != nil }
    func functions(_ name: String) -> Set<String?> {
      Set(waiting.filter { $0.name == name }.map(\.suspended?.name))
    }
    #expect(functions("Swift Task") == ["waitForBoth()"])
    #expect(functions("Swift Task Slab") == ["waitForever(_:)"])
    #expect(waiting.allSatisfy { $0.name?.hasPrefix("Swift Task") == true })
  }

  /// What is known of each block at the end of a program.
  private func reports(of program: TestProgram) throws -> [TraceTreeReport] {
    let trace = try TracedRun([program.path.string]).root()
    let source = ReportSource(trace, file: nil, symbolicator: ELFSymbolicator())
    let analysis = try trace.leakAnalysis(atSnapshot: trace.snapshotIndex(), source: source)
    let blocks = analysis.heap.blocks
    return try (0..<blocks.count).map {
      try TraceTreeReport(analysis, address: blocks.address(of: $0), source: source, limit: 0)
    }
  }
}
