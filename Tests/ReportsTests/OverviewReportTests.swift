import Symbolication
import Testing
import TraceTestSupport

@testable import Reports
@testable import TraceReader

/// The page of `memtrace report`.
@Suite struct OverviewReportTests {
  /// Of the places of the sample the page shows those that it is worth changing.
  @Test(arguments: [(UInt64(99), false), (100, true)])
  func fewTemporaryAllocationsAreNotShown(_ count: UInt64, _ isShown: Bool) throws {
    var result = ReplayResult()
    result.sites = [
      SampleTrace.site(stack: 4, size: 16, count: 100, freed: 100, temporary: count, peak: 1),
      SampleTrace.site(stack: 5, size: 16, count: 7, freed: 7, temporary: 7, peak: 1),
    ]
    SampleTrace.complete(&result)
    let report = try OverviewReport(result, source: SampleTrace().source)
    #expect(report.hotspots.map(\.temporaryCount) == [count, 7])
    let lines = report.text().split(separator: "\n")
    let rows = lines.drop { !$0.hasPrefix("Temporary allocations") }.prefix {
      !$0.hasPrefix("Next")
    }
    #expect(rows.count == (isShown ? 3 : 0))
  }

  /// In MiB: what was in memory, and what images can have taken of it.
  @Test(arguments: [
    (15, 0, false), (40, 0, true), (40, 16, true), (40, 22, false), (60, 99, false),
  ])
  func whatWasInMemoryIsSaid(_ resident: UInt64, _ images: UInt64, _ isOther: Bool) throws {
    var sample = SampleTrace()
    sample.summary.peakResidentBytes = resident << 20
    var source = sample.source
    source.imageBytes = images << 20
    let report = try OverviewReport(SampleTrace.workedExample, source: source)
    let line = report.text().split(separator: "\n").first { $0.hasPrefix("Resident memory: ") }
    let text = "Resident memory: peak \(resident).00 MiB, with code and files; the heap's peak was "
    #expect(line?.hasPrefix(text) == true)
    let commands = report.nextCommands.map(\.command)
    let command = "memtrace mappings -- \(report.trace.commandLine)"
    #expect(commands.contains(command) == isOther)
  }

  @Test func whatWasNeverTouchedIsSaid() throws {
    var sample = SampleTrace()
    sample.summary.peakResidentBytes = 4
    let report = try OverviewReport(SampleTrace.workedExample, source: sample.source)
    #expect(report.text().contains("\nResident memory: peak 4 B; of the heap's peak, "))
  }

  /// That nothing is said of leaks must not look as if there were none.
  @Test func whyLeaksAreUnknownIsSaid() throws {
    func lines(_ ending: TraceEnding) throws -> [Substring] {
      var sample = SampleTrace()
      sample.summary.ending = EndingSummary(ending)
      let report = try OverviewReport(
        SampleTrace.workedExample, leaksUnknown: "no snapshot; take one", source: sample.source)
      return report.text().split(separator: "\n")
    }
    let ended = try lines(.unknown)
    #expect(ended.contains("Leaks unknown: no snapshot; take one"))
    #expect(
      ended[1]
        == "The process has written no end: it was killed, crashed, or still runs; 34 events "
        + "recorded in 2.000 s.")
    #expect(
      try lines(.running)[1] == "The process is still running; 34 events recorded in 2.000 s.")
    // After a crash nobody asks for them.
    #expect(try !lines(.signal(11)).contains { $0.hasPrefix("Leaks unknown") })
  }

  /// An address that no block ever had has no life.
  @Test(arguments: [
    (0x1000 as UInt64, "the life of that block"), (0x9000, "what happened at that address"),
  ])
  func theHistoryOfAnErrorIsCalledWhatItIs(address: UInt64, purpose: String) throws {
    var builder = TraceBuilder()
    builder.allocate(0x1000, 16)
    builder.free(0x1000)
    builder.free(address)
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: "app.mtrace", symbolicator: FakeSymbolicator())
    let report = try OverviewReport(trace.replay(), source: source)
    let command = "memtrace history app.mtrace 0x\(String(address, radix: 16)) --stacks"
    #expect(report.nextCommands.first { $0.command == command }?.purpose == purpose)
  }

  /// Of the forty processes of a server each says what it is for.
  @Test func aFolderListsProcessesByTheirTitles() throws {
    let source = SampleTrace().source
    let titles = [
      nil, "postgres: checkpointer",
      "/usr/lib/chromium/chromium --type=renderer --crashpad-handler-pid=0",
    ]
    let rows = try titles.map { title in
      var row = try TracesReport.Row(ReplayResult(), source: source)
      row.trace.title = title
      return row
    }
    let lines = TracesReport(folder: "server", traces: rows).text().split(separator: "\n")
    #expect(
      lines[2...4].map { $0.prefix(40) } == [
        "app                                     ",
        "postgres: checkpointer                  ",
        "chromium --type=renderer --crashpad-han…",
      ])
  }

  /// The processes of a build lack the same, each of them.
  @Test func whatSeveralTracesOfAFolderLackIsToldOnce() throws {
    let source = SampleTrace().source
    let rows = try (1...3).map { number in
      var row = try TracesReport.Row(ReplayResult(), source: source)
      row.trace.file = "build/cc1.\(number).mtrace"
      row.warnings = ["2 events were lost"] + (number == 3 ? ["cut short"] : [])
      return row
    }
    #expect(
      TracesReport(folder: "build", traces: rows).text().contains(
        """

        build/cc1.1.mtrace and 2 more: 2 events were lost
        build/cc1.3.mtrace: cut short

        """))
  }
}
