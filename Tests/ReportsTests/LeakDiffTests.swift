import CTraceFormat
import LeakAnalysis
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// What one trace leaks and another does not.
@Suite struct LeakDiffTests {
  /// One leaked block: its requested bytes, and the line of `make` that allocated it.
  private typealias Leak = (size: UInt64, line: UInt64)

  /// A program that leaks what it is told to, through `make`, and what its report reads.
  private struct Program {
    let trace: Trace
    let source: ReportSource
    let analysis: LeakAnalysis
    private let file: TemporaryFile

    init(_ leaks: [Leak]) throws {
      var builder = TraceBuilder()
      builder.header.startTicks = 0
      builder.process(executable: "/opt/app/app", arguments: ["./app"])
      builder.thread(1, tid: 4711, name: "app")
      var snapshot = SnapshotBuilder(time: 90_000_000)
      snapshot.region(0x500_0000..<0x600_0000, path: "[heap]")
      var address: UInt64 = 0x500_0010
      for (order, leak) in leaks.enumerated() {
        let stack = builder.stack([0x1100 + leak.line, 0x1000])
        builder.allocate(address, leak.size, stack: stack, time: UInt64(order + 1) * 1_000_000)
        address += leak.size + 64
      }
      builder.snapshot(snapshot)
      file = try builder.write()
      trace = try Trace(path: file.path)
      let symbolicator = FakeSymbolicator()
      symbolicator.add("main", at: 0x1000, image: "/opt/app/app")
      for line in UInt64(1)..<9 {
        symbolicator.add("make\(line)", at: 0x1100 + line, image: "/opt/app/app")
      }
      source = ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
      analysis = try trace.leakAnalysis(atSnapshot: 0, source: source)
    }

    func report(since older: Program?, _ query: LeaksQuery = LeaksQuery()) throws -> LeaksReport {
      try LeaksReport(
        analysis, source: source, query: query,
        baseline: older.map {
          LeakBaseline($0.analysis, source: $0.source, query: query, name: "older.mtrace")
        })
    }
  }

  private static func leaks(_ count: Int, _ size: UInt64, line: UInt64 = 1) -> [Leak] {
    Array(repeating: (size, line), count: count)
  }

  /// One place leaks less than before, another one more: the sums by thread or image are alike.
  @Test(arguments: LeaksGrouping.allCases)
  func theVerdictDoesNotDependOnTheRows(grouping: LeaksGrouping) throws {
    let older = try Program(Self.leaks(3, 100, line: 1) + Self.leaks(1, 200, line: 2))
    let newer = try Program(Self.leaks(1, 100, line: 1) + Self.leaks(3, 200, line: 2))
    var query = LeaksQuery()
    query.grouping = grouping
    let report = try newer.report(since: older, query)
    #expect(report.leaked.count == 2)
    #expect(report.leaked.bytes == 400)
    #expect(report.rootLeakCount == 2)
    #expect(report.rows.reduce(0) { $0 + ($1.newCount ?? 0) } == 2)
    #expect(report.rows.reduce(0) { $0 + ($1.newBytes ?? 0) } == 400)
    #expect(report.treeGroups.map(\.instances) == [2])
  }

  @Test func allFiguresAreOfWhatIsNew() throws {
    let report = try Program(Self.leaks(12, 1000)).report(since: Program(Self.leaks(5, 1000)))
    #expect(
      report.headline
        == "Process 4711: 7 leaks for 7000 total leaked bytes that older.mtrace does not have.")
    #expect(report.rootLeakCount == 7)
    #expect(report.treeGroups.map(\.instances) == [7])
    #expect(report.treeGroups.map(\.bytes) == [7000])
    let text = report.text()
    #expect(text.contains("STACK OF 7 INSTANCES OF 'ROOT LEAK: <malloc in make1>':"))
    let lines = try ReportWriter(format: .csv).output(of: report).split(separator: "\r\n")
    #expect(lines[0].hasSuffix(",# New,New Bytes,# Tree,Tree Bytes"))
    #expect(lines[1].hasPrefix("Malloc-1008,12,0x5000010,12000,12,"))
    #expect(lines[1].hasSuffix(",7,7000,,"))
  }

  /// 5 of 100 bytes are known; the newest two have 104 and are in the same category.
  @Test func theNewestOfBlocksThatAreAlikeAreNew() throws {
    let newer = try Program(Self.leaks(5, 100) + Self.leaks(2, 104))
    let report = try newer.report(since: Program(Self.leaks(5, 100)))
    #expect(report.rows.map(\.count) == [7])
    #expect(report.leaked.count == 2)
    #expect(report.leaked.bytes == 208)
  }

  @Test func filtersApplyToBothTraces() throws {
    let older = try Program(Self.leaks(4, 100, line: 1))
    let newer = try Program(Self.leaks(4, 100, line: 1) + Self.leaks(2, 200, line: 2))
    var query = LeaksQuery()
    query.filter.responsible = "make2"
    // The older trace has no such function: nothing is known then.
    #expect(try newer.report(since: older, query).leaked.count == 2)
    query.filter.responsible = "make1"
    #expect(try newer.report(since: older, query).leaked.count == 0)
    query.filter.responsible = "make3"
    #expect(throws: ReportError.self) { try newer.report(since: older, query) }
  }

  @Test func blocksThatTheFilterLeavesOutAreNotKnown() throws {
    // Two of one kind: the first before the time that counts in both traces.
    let program = try Program(Self.leaks(2, 100))
    var query = LeaksQuery()
    query.fromNanoseconds = 2_000_000
    #expect(try program.report(since: nil, query).leaked.count == 1)
    #expect(try program.report(since: try Program(Self.leaks(1, 100)), query).leaked.count == 1)
    #expect(try program.report(since: program, query).leaked.count == 0)
  }

  @Test func aMistypedCategoryIsSaid() throws {
    let program = try Program(Self.leaks(2, 100))
    var query = LeaksQuery()
    query.filter.category = "Maloc-112"
    #expect(
      throws: ReportError.notFound("no category \"Maloc-112\" in this trace; near: Malloc-112")
    ) { try program.report(since: nil, query) }
    query.filter.category = "malloc-1*"
    #expect(try program.report(since: nil, query).leaked.count == 2)
  }
}
