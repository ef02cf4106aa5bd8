import Foundation
import Reports
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Everyday memory problems, from the symptom to the line that made it.
@Suite struct ScenarioTests {
  /// The folder of `memtrace.h`.
  static let include = TestProgram.sources.removingLastComponent().removingLastComponent()
    .removingLastComponent().appending("Sources/CMemtrace/include")

  static func program() throws -> String {
    try TestProgram("scenarios.c", flags: ["-I\(include)"]).path.string
  }

  private func memtrace(_ words: [String]) throws -> ProcessRun {
    try ProcessRun.run([BuiltProducts.memtrace.string] + words)
  }

  /// Records a part of `scenarios.c`.
  ///
  /// - Parameters:
  ///   - scenario: Its name, the program's argument.
  ///   - folder: Where the trace is to be.
  /// - Returns: The path of the trace.
  /// - Throws: `Errno` when memtrace cannot be started.
  private func record(_ scenario: String, in folder: ScratchDirectory) throws -> String {
    let trace = folder.path.appending("x.mtrace").string
    _ = try memtrace(["record", "-q", "-o", trace, "--", Self.program(), scenario])
    return trace
  }

  /// Two presses, two leaks of one kind with the action's name; each appears on the track when its
  /// pointer is overwritten.
  @Test func aBlockLostAtEachAction() throws {
    let folder = try ScratchDirectory()
    let trace = try record("press-twice", in: folder)
    let lines = try memtrace(["leaks", trace]).outputText.split(separator: "\n").map(String.init)
    #expect(lines[0].hasSuffix(": 2 leaks for 32 total leaked bytes."))
    let row = try #require(lines.first { $0.hasPrefix("Malloc-16") })
    #expect(row.split(separator: " ").dropFirst().first == "2")
    #expect(row.contains("demoMemoryLeak  scenarios.c:"))
    // Rows have a time. The line of marks has none, and its columns depend on how fast all is: where
    // there are few, marks share one.
    let marked = lines.filter { $0.hasPrefix("  ✓") || $0.hasPrefix("  ✗") }
    let track = marked.filter { $0.contains(":") }
      .map { $0.split(separator: " ").dropFirst(2).joined(separator: " ") }
    #expect(track == ["1 16 B 1 16 B", "1 16 B 2 32 B"])
    #expect(lines.contains { $0.hasSuffix("✗") && $0.allSatisfy("✓✗ ".contains) })
    // All four snapshots: before the first press, after each, at the end.
    let document = try JSONDecoder().decode(
      DiscoveryDocument.self,
      from: Data(try memtrace(["leaks", trace, "--format", "json"]).output))
    #expect(document.discoveries.map(\.leaked.count) == [0, 0, 1, 2])
  }

  @Test func aLeakHasItsAddressAndItsLife() throws {
    let folder = try ScratchDirectory()
    let trace = try record("press-twice", in: folder)
    let report = try LeakedProgram(try Trace(path: FilePath(trace))).report
    let address = try #require(report.rows.first?.address)
    let history = try memtrace(["history", trace, "0x" + String(address, radix: 16)])
    #expect(history.outputText.contains("demoMemoryLeak"))
    let holders = try memtrace(
      ["leaks", trace, "--trace-tree", "0x" + String(address, radix: 16)])
    #expect(holders.outputText.contains("is leaked"))
  }

  @Test func objectsLostByTheirOwner() throws {
    let source = try TestProgram("scenarios.swift", flags: ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Container"] == .init(1, 24, roots: 1))
    #expect(program.leaks["app.Text"] == .init(2, 64, roots: 2))
    // Each with what it holds: an array, and two strings.
    #expect(program.report.leaked.count == 6)
    let groups = program.report.treeGroups.filter { $0.name == "app.Text" }
    #expect(groups.map(\.instances).reduce(0, +) == 2)
    #expect(groups.allSatisfy { $0.frames.contains { $0.name == "ViewController.setText(_:)" } })
  }

  @Test func manySmallBlocksAreAHog() throws {
    let folder = try ScratchDirectory()
    let trace = try record("make-list", in: folder)
    // Nothing is lost, though: a variable holds the list.
    let leaks = try memtrace(["leaks", trace])
    #expect(leaks.outputText.contains(": 0 leaks for 0 total leaked bytes."))
    let table = try memtrace(["allocations", trace, "--bytes", "--category", "Malloc-16"])
    let row = try #require(
      table.outputText.split(separator: "\n").first { $0.hasPrefix("Malloc-16") })
    #expect(row.split(separator: " ").dropFirst().prefix(2) == ["16,384", "1,024"])
    let report = try memtrace(["report", trace])
    #expect(report.outputText.contains("in 1,024 blocks, all from make_list  scenarios.c:"))
    let blocks = try memtrace(
      [
        "allocations", trace, "--category", "Malloc-16", "--blocks", "--format", "csv", "--top",
        "0",
      ])
    #expect(blocks.outputText.split(whereSeparator: \.isNewline).count == 1025)
  }

  @Test func aFileReadWholeIsAHog() throws {
    let run = try memtrace(["report", "--", Self.program(), "read-file"])
    #expect(run.outputText.contains("in 1 block, all from read_whole_file  scenarios.c:"))
  }
}
