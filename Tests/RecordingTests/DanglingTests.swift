import Foundation
import LeakAnalysis
import Reports
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

/// Programs with known pointers into freed blocks, from the compiler to the rows of the report.
@Suite(.serialized) struct DanglingTests {
  /// What a row says.
  private struct Line: Hashable {
    var holder: String
    var count: UInt64
    var freed: String
    var bytes: UInt64
    var freeFunction: String
    var confidence = DanglingPointer.Confidence.likely
  }

  /// The report on a program, and its rows.
  private static func report(_ run: TracedRun) throws -> (DanglingReport, Set<Line>) {
    let trace = try run.root()
    let source = ReportSource(trace, file: "app.mtrace", symbolicator: ELFSymbolicator())
    let index = try trace.snapshotIndex(for: .danglingPointers)
    let found = try DanglingPointers(
      trace.leakAnalysis(atSnapshot: index, source: source), in: trace)
    let report = DanglingReport(found, source: source, query: DanglingQuery())
    let lines = report.rows.map { row in
      Line(
        holder: row.holder, count: row.count, freed: row.name, bytes: row.blocks.bytes,
        freeFunction: row.freed.frames.first { $0.role == .user }?.name ?? "",
        confidence: row.confidence)
    }
    return (report, Set(lines))
  }

  @Test func pointersIntoAFreedArena() throws {
    let program = try TestProgram("freed_arena.c", flags: ["-pthread"])
    let (_, lines) = try Self.report(try TracedRun([program.path.string]))
    #expect(
      lines == [
        Line(
          holder: "variable dangling in \(program.path.lastComponent?.string ?? "")", count: 1,
          freed: "malloc in run", bytes: 400, freeFunction: "run")
      ])
  }

  @Test(arguments: ["-Onone", "-O"])
  func slotsOfDequesThatAreNotInUsePointToNothing(_ option: String) throws {
    let program = try TestProgram("deque.swift", flags: [option, "-module-name", "app"])
    let (report, _) = try Self.report(try TracedRun([program.path.string]))
    #expect(!report.rows.contains { $0.holder.contains("_DequeBuffer") })
  }

  @Test func pointersOfC() throws {
    let program = try TestProgram("dangling.c")
    let (report, lines) = try Self.report(try TracedRun([program.path.string]))
    let app = program.path.lastComponent?.string ?? ""
    #expect(
      lines == [
        Line(
          holder: "variable latest in \(app)", count: 1, freed: "struct page",
          bytes: 120,
          freeFunction: "use_page"),
        Line(
          holder: "struct holder.node", count: 2, freed: "struct node", bytes: 80,
          freeFunction: "drop_nodes"),
        Line(
          holder: "variable first_part in \(app)", count: 1, freed: "malloc in grow_text",
          bytes: 200,
          freeFunction: "grow_text"),
        Line(
          holder: "variable inside in \(app)", count: 1, freed: "malloc in drop_line", bytes: 300,
          freeFunction: "drop_line", confidence: .possible),
        Line(
          holder: "void *[]", count: 3, freed: "malloc in drop_entries", bytes: 1200,
          freeFunction: "drop_entries", confidence: .possible),
      ])
    #expect(report.rows.allSatisfy { !$0.examples.isEmpty && !$0.allocated.frames.isEmpty })
  }

  @Test func pointersOfCxx() throws {
    let program = try TestProgram("dangling.cpp")
    let (report, lines) = try Self.report(try TracedRun([program.path.string]))
    let app = program.path.lastComponent?.string ?? ""
    #expect(
      lines == [
        Line(
          holder: "std::_Sp_counted_ptr<Widget*> + 16", count: 1, freed: "Widget", bytes: 24,
          freeFunction: "Widget::~Widget()"),
        Line(
          holder: "std::vector<Part*>[1]", count: 1, freed: "Part", bytes: 48,
          freeFunction: "Part::~Part()"),
        Line(
          holder: "Widget.label", count: 1, freed: "Label", bytes: 88,
          freeFunction: "Label::~Label()"),
        Line(
          holder: "std::shared_ptr<Widget> + 0", count: 1, freed: "Widget", bytes: 24,
          freeFunction: "Widget::~Widget()"),
        Line(
          holder: "variable elements in \(app)", count: 1, freed: "Counted[]", bytes: 296,
          freeFunction: "dropElements()"),
      ])
    // The vector that its destructor has freed.
    #expect(report.exitCount == 1)
  }

  @Test func pointersOfSwift() throws {
    let program = try TestProgram("dangling.swift", flags: ["-module-name", "app"])
    let (_, lines) = try Self.report(try TracedRun([program.path.string]))
    let name = program.path.lastComponent?.string ?? ""
    #expect(
      lines == [
        Line(
          holder: "app.Holder.unsafeTarget", count: 1, freed: "app.Target", bytes: 56,
          freeFunction: "Target.__deallocating_deinit"),
        Line(
          holder: "app.Holder.unmanaged", count: 1, freed: "app.Target", bytes: 56,
          freeFunction: "Target.__deallocating_deinit"),
        Line(
          holder: "variable buffer in \(name)", count: 1,
          freed: "UnsafeMutablePointer<Int> storage", bytes: 984, freeFunction: "dropBuffer()"),
        Line(
          holder: "variable static Shared.cursor.next in \(name)", count: 1,
          freed: "UnsafeMutablePointer<Int> storage", bytes: 1160, freeFunction: "dropNext()"),
      ])
  }

  @Test func elementsThatArraysOfSwiftCount() throws {
    let program = try TestProgram("array_counts.swift", flags: ["-module-name", "app"])
    let (_, lines) = try Self.report(try TracedRun([program.path.string]))
    #expect(
      lines == [
        Line(
          holder: "Array<UnsafeMutablePointer<Int>>[1]", count: 1,
          freed: "UnsafeMutablePointer<Int> storage", bytes: 816, freeFunction: "dropBuffers()")
      ])
  }

  @Test func tasksThatHaveEnded() throws {
    let program = try TestProgram(
      "kept_tasks.swift", flags: ["-parse-as-library", "-module-name", "app"])
    let (report, lines) = try Self.report(try TracedRun([program.path.string]))
    #expect(lines == [])
    #expect(report.counts[.doubtful] ?? 0 >= 20)
  }

  @Test(arguments: ["-Onone", "-O"])
  func objectsThatUnownedReferencesOutlive(option: String) throws {
    let program = try TestProgram("unowned.swift", flags: [option, "-module-name", "app"])
    let (report, lines) = try Self.report(try TracedRun([program.path.string]))
    #expect(lines == [])
    #expect(report.deinitialized.map(\.name) == ["app.Owner"])
    #expect(report.deinitialized.map(\.objects.count) == [1])
    #expect(report.deinitialized.map(\.objects.bytes) == [24])
    #expect(report.deinitialized.map(\.unowned) == [3])
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func theReportOfAReadThatIsFatalLeadsToThem(flags: [String]) throws {
    let document = try report(ofUnowned: "read", flags)
    let object = try #require((document["deinitialized"] as? [[String: Any]])?.first)
    #expect(object["name"] as? String == "app.Owner" && object["unowned"] as? Int == 3)
    #expect(nextCommands(document).first == "memtrace dangling root.mtrace")
    // The message of the runtime is no block of the program's.
    let leaks = try #require(document["leaks"] as? [String: Any])
    #expect((leaks["leaked"] as? [String: Any])?["count"] as? Int == 0)
  }

  @Test(arguments: ["abort", "escape"])
  func theReportOfAnotherAbortDoesNot(argument: String) throws {
    let document = try report(ofUnowned: argument, ["-Onone"])
    #expect((document["deinitialized"] as? [Any])?.isEmpty == true)
    #expect(nextCommands(document).allSatisfy { !$0.contains("memtrace dangling") })
  }

  private func report(ofUnowned argument: String, _ flags: [String]) throws -> [String: Any] {
    let program = try TestProgram("unowned.swift", flags: flags + ["-module-name", "app"])
    let run = try TracedRun(
      [program.path.string, argument], environment: ["SWIFT_BACKTRACE=enable=no"],
      comparesErrors: false)
    let text = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "report", "root.mtrace", "--format", "json"],
      directory: run.directory.path
    ).outputText
    return try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func nextCommands(_ document: [String: Any]) -> [String] {
    (document["nextCommands"] as? [[String: Any]] ?? []).compactMap { $0["command"] as? String }
  }

  @Test(arguments: ["dangling.c", "dangling.cpp", "dangling.swift"])
  func programsWithoutAny(source: String) throws {
    let flags = source.hasSuffix(".swift") ? ["-module-name", "app"] : []
    let program = try TestProgram(source, flags: flags)
    let (report, lines) = try Self.report(try TracedRun([program.path.string, "none"]))
    #expect(lines == [])
    #expect(report.counts[.likely] ?? 0 == 0 && report.counts[.possible] ?? 0 == 0)
  }
}
