import Foundation
import Testing
import TraceTestSupport

@testable import Reports
@testable import TraceReader

@Suite struct AllocationsReportTests {
  private func report(
    _ result: ReplayResult = SampleTrace.workedExample,
    _ change: (inout AllocationsQuery) -> Void = { _ in }
  ) throws -> AllocationsReport {
    var query = AllocationsQuery()
    change(&query)
    return try AllocationsReport(result, source: SampleTrace().source, query: query)
  }

  @Test func theWorkedExampleIsExactInText() throws {
    expectSnapshot(try report().text(bytes: .exact), "allocations.txt")
  }

  @Test func theWorkedExampleFitsEightyColumns() throws {
    let text = try report().text(width: 80)
    expectSnapshot(text, "allocations-80.txt")
    #expect(text.split(separator: "\n").allSatisfy { $0.displayWidth <= 80 })
  }

  @Test func theWorkedExampleFitsAHundredColumns() throws {
    let text = try report().text(width: 100)
    expectSnapshot(text, "allocations-100.txt")
    #expect(text.split(separator: "\n").allSatisfy { $0.displayWidth <= 100 })
  }

  /// A table of `Mall…KiB` tells nobody anything.
  @Test(arguments: [60, 70])
  func aNarrowTableKeepsTheNamesOfItsRows(width: Int) throws {
    let text = try report().text(width: width)
    #expect(text.split(separator: "\n").allSatisfy { $0.displayWidth <= width })
    #expect(text.contains("\nMalloc-1008 "))
    #expect(!text.contains("Transient/"))
    #expect(text.contains("Transient") == (width >= 70))
    // All columns that were asked for stay.
    let wide = try report { $0.columns = AllocationsColumn.wide }.text(width: width)
    #expect(wide.contains("Transient/"))
  }

  @Test func theWideTableHasAllColumns() throws {
    let report = try report { $0.columns = AllocationsColumn.wide }
    expectSnapshot(report.text(), "allocations-wide.txt")
  }

  @Test func theWorkedExampleIsExactInCSV() throws {
    expectSnapshot(try ReportWriter(format: .csv).output(of: report()), "allocations.csv")
  }

  @Test func theWorkedExampleIsExactInJSON() throws {
    expectSnapshot(try ReportWriter(format: .json).output(of: report()), "allocations.json")
  }

  @Test func theRowsOfTheJSONDocumentKeepTheInvariants() throws {
    struct Document: Decodable {
      struct Row: Decodable {
        var name: String?
        var persistentBytes, transientBytes, totalBytes: UInt64
        var persistentCount, transientCount, totalCount, eventCount: UInt64
      }
      var schema: String
      var version: Int
      var total: Row
      var rows: [Row]
    }
    let text = try ReportWriter(format: .json).output(of: report())
    let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    #expect(document.schema == "memtrace.allocations")
    #expect(document.version == 1)
    #expect(document.rows.map(\.name) == ["Malloc-1008", "Malloc-16"])
    for row in document.rows + [document.total] {
      #expect(row.totalCount == row.persistentCount + row.transientCount)
      #expect(row.totalBytes == row.persistentBytes + row.transientBytes)
      #expect(row.eventCount == row.persistentCount + 2 * row.transientCount)
    }
    #expect(document.total.totalCount == document.rows.map(\.totalCount).reduce(0, +))
  }

  @Test(arguments: AllocationsGrouping.allCases)
  func everyGroupingAddsUpToTheSameTotal(grouping: AllocationsGrouping) throws {
    let whole = try report()
    let grouped = try report { $0.grouping = grouping }
    #expect(grouped.total == whole.total)
    #expect(grouped.rows.map(\.tally.totalCount).reduce(0, +) == 20)
  }

  @Test func rowsAreNamedByTheirGrouping() throws {
    let names = { (grouping: AllocationsGrouping) in
      try report { $0.grouping = grouping }.rows.map(\.name)
    }
    #expect(try names(.stack) == ["make_node  node.c:5", "emit  emit.c:30"])
    #expect(try names(.function) == ["make_node  app", "emit  app"])
    #expect(try names(.image) == ["app"])
    #expect(try names(.thread) == ["app (T1, tid 100)"])
    #expect(try names(.size) == ["513 B–1.00 KiB", "up to 16 B"])
  }

  @Test(arguments: [
    (AllocationsOrder.persistentBytes, "Malloc-1008"), (.persistent, "Malloc-16"),
    (.transient, "Malloc-16"), (.totalBytes, "Malloc-1008"), (.total, "Malloc-16"),
    (.temporary, "Malloc-1008"), (.name, "Malloc-1008"), (.events, "Malloc-16"),
  ])
  func rowsAreSorted(order: AllocationsOrder, first: String) throws {
    #expect(try report { $0.order = order }.rows.first?.name == first)
  }

  @Test func topHidesRowsButNotTheirNumbers() throws {
    let report = try report { $0.top = 1 }
    #expect(report.rows.count == 1)
    #expect(report.total.totalCount == 20)
    #expect(report.text().contains("\n… 1 more; --top 0 shows all\n"))
  }

  /// It is drawn of the whole part of the trace, whatever names are asked for.
  @Test func theTrackSaysWhetherItCountsMoreThanTheTable() throws {
    func title(_ change: (inout AllocationsQuery) -> Void) throws -> String? {
      try report { change(&$0) }.text().split(separator: "\n").first { $0.contains("ive bytes  ") }
        .map { String($0.prefix { $0 != " " }) }
    }
    #expect(try title { _ in } == "Live")
    #expect(try title { $0.filter.category = "Malloc-16" } == "All")
    #expect(try title { $0.filter.lifespan = .transient } == "All")
  }

  @Test func lifespansSplitTheBlocks() throws {
    let persistent = try report { $0.filter.lifespan = .persistent }.total
    #expect((persistent.totalCount, persistent.transientCount) == (6, 0))
    #expect(persistent.totalBytes == 1060)
    let transient = try report { $0.filter.lifespan = .transient }.total
    #expect((transient.totalCount, transient.persistentCount) == (14, 0))
    #expect(transient.totalBytes == 4120)
  }

  @Test func filtersChooseSites() throws {
    #expect(try report { $0.filter.category = "malloc-16" }.total.totalCount == 15)
    #expect(try report { $0.filter.category = "Malloc-*" }.total.totalCount == 20)
    #expect(try report { $0.filter.responsible = "make" }.total.totalCount == 5)
    #expect(try report { $0.filter.image = "app" }.total.totalCount == 20)
    #expect(try report { $0.filter.thread = "T1" }.total.totalCount == 20)
    #expect(try report { $0.filter.thread = "100" }.total.totalCount == 20)
  }

  @Test func filtersThatExcludeEachOtherLeaveNothing() throws {
    let report = try report {
      $0.filter.category = "Malloc-16"
      $0.filter.responsible = "make"
      $0.filter.image = "app"
    }
    #expect(report.total.totalCount == 0)
  }

  @Test func theScopeIsNamed() throws {
    let error = #expect(throws: ReportError.self) {
      try report {
        $0.filter.category = "Malloc-17"
        $0.filter.scope = ["size 12 B"]
      }
    }
    #expect(
      error?.description
        == "no category \"Malloc-17\" in this part of the trace; near: Malloc-16, Malloc-1008")
  }

  @Test(arguments: [
    (
      "category", "Malloc-17",
      "no category \"Malloc-17\" in this trace; near: Malloc-16, Malloc-1008"
    ),
    ("category", "zzz", "no category \"zzz\" in this trace; there are Malloc-16, Malloc-1008"),
    ("thread", "wrker", "no thread \"wrker\" in this trace; there is app"),
    ("image", "libc", "no responsible library \"libc\" in this trace; there is app"),
    (
      "responsible", "mke_node",
      "no responsible function \"mke_node\" in this trace; near: make_node"
    ),
  ])
  func namesThatFitNothingAreErrors(option: String, name: String, message: String) throws {
    let error = #expect(throws: ReportError.self) {
      try report { query in
        switch option {
        case "category": query.filter.category = name
        case "thread": query.filter.thread = name
        case "image": query.filter.image = name
        default: query.filter.responsible = name
        }
      }
    }
    #expect(error?.description == message)
  }

  @Test func anEmptyTraceSaysSoInOneLine() throws {
    #expect(
      try report(ReplayResult()).text() == """
        Allocations of ./app --once (pid 100)
        No allocations to show.

        """)
  }

  @Test func whatTheTraceDoesNotHoldIsSaid() throws {
    var result = SampleTrace.workedExample
    result.coverage.eventsDropped = 1200
    result.coverage.stacksCut = 2
    result.coverage.bypassed = [
      "malloc: /usr/bin/node", "_Znwm: /usr/bin/app", "odd", "free: /usr/bin/node",
      "_ZdlPv: /usr/bin/node", "realloc: /usr/bin/node", "_ZdlPv: /usr/bin/app",
    ]
    let text = try report(result).text()
    #expect(
      text.hasSuffix(
        """

        Coverage: 1,200 events were not recorded
        Coverage: 2 events have a stack deeper than --depth: frames are left out
        Coverage: calls that bypass the recorder: malloc, free, operator delete(void*) and 1 more of /usr/bin/node
        Coverage: calls that bypass the recorder: operator new(unsigned long) and operator delete(void*) of /usr/bin/app
        Coverage: calls that bypass the recorder: odd

        """))
  }

  @Test func coloursAppearOnlyWhenAskedFor() throws {
    #expect(!(try report().text().contains("\u{1b}")))
    #expect(try report().text(isColoured: true).contains("\u{1b}[36mMalloc-16\u{1b}[0m"))
  }
}
