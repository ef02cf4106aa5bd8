import LeakAnalysis
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// The report about pointers into freed blocks, in each of its forms.
///
/// ```
/// hints + 16 (variable) -> freed node          likely
/// variable without a name -> freed text        possible
/// stack -> freed node                          doubtful
/// hints + 24 (variable) -> block of a handler  freed as the process ended
/// ```
@Suite struct DanglingReportTests {
  private static let text = LeakRecording.heap + 0x2010
  private static let atExit = LeakRecording.heap + 0x3010

  private func recording() throws -> LeakRecording {
    let recording = try LeakRecording { builder in
      let insert = builder.stack([0x40_1300, 0x40_1000])
      let drop = builder.stack([0x40_1400, 0x40_1000])
      let exit = builder.stack([0x40_1400, 0x7f_0000_2000])
      builder.allocate(LeakRecording.recorders, 16, stack: insert, thread: 2, time: 3_000_000)
      builder.allocate(Self.text, 200, stack: insert, thread: 2, time: 3_000_000)
      builder.allocate(Self.atExit, 80, stack: insert, thread: 2, time: 3_000_000)
      builder.free(LeakRecording.recorders, stack: drop, thread: 2, time: 60_000_000)
      builder.free(Self.text, stack: drop, thread: 2, time: 61_000_000)
      builder.free(Self.atExit, stack: exit, thread: 2, time: 78_000_000)
      var last = LeakRecording.snapshot(79_500_000)
      last.words(at: 0x40_4100, [Self.text])
      last.words(at: 0x7ffe_0000_8020, [LeakRecording.recorders])
      last.words(at: LeakRecording.cache + 32, [Self.atExit])
      builder.snapshot(last)
    }
    recording.symbolicator.add("drop", at: 0x40_1400, file: "/src/list.c", line: 50)
    recording.symbolicator.add("exit", at: 0x7f_0000_2000, image: "/lib64/libc.so.6")
    return recording
  }

  private func report(_ change: (inout DanglingQuery) -> Void = { _ in }) throws -> DanglingReport {
    var query = DanglingQuery()
    change(&query)
    let recording = try recording()
    let found = try DanglingPointers(recording.analysis(2), in: recording.trace)
    return DanglingReport(found, source: recording.source, query: query)
  }

  @Test func thePointers() throws {
    let report = try report()
    try expectForms(report, "dangling")
    #expect(report.counts == [.likely: 1, .possible: 1, .doubtful: 1])
    #expect(report.exitCount == 1)
    #expect(
      report.headline == "Process 4711: 1 pointer into a freed block, and 1 possible one.")
  }

  @Test func theTableFitsANarrowTerminal() throws {
    let table = try report().text(width: 40).split(separator: "\n").filter { $0.hasPrefix("  ") }
    #expect(
      table.suffix(3).joined(separator: "\n") == """
            Held     Freed    Freed    Such
          # By       Block    In       As
          1 vari…100 mall…ert drop…:50 0x5002010
        """)
  }

  @Test func everything() throws {
    let report = try report { $0.includesDoubtful = true }
    expectSnapshot(report.text(), "dangling-all.txt")
    #expect(report.rows.map(\.isFromExit) == [false, false, false, true])
    #expect(report.rows.map(\.confidence) == [.likely, .possible, .doubtful, .likely])
  }

  @Test func rowsThatAreLeftOutAreCounted() throws {
    let report = try report { $0.top = 1 }
    #expect(report.rows.count == 1)
    #expect(report.rowCount == 2)
    #expect(report.text().contains("… 1 more row; --top 0 shows all"))
  }

  /// Python keeps dead objects for those to come.
  @Test(arguments: [false, true])
  func objectsOfPythonSayLess(isPython: Bool) throws {
    let list: UInt64 = 0x40_4800
    let recording = try LeakRecording { builder in
      builder.allocate(Self.text, 200, thread: 2, time: 3_000_000)
      builder.free(Self.text, thread: 2, time: 60_000_000)
      var last = LeakRecording.snapshot(79_500_000)
      if isPython { last.addClass("list", at: list) }
      last.words(at: LeakRecording.node, [0, list, Self.text])
      builder.snapshot(last)
    }
    let found = try DanglingPointers(recording.analysis(2), in: recording.trace)
    let report = DanglingReport(found, source: recording.source, query: DanglingQuery())
    #expect(report.rows.map(\.confidence) == [isPython ? .possible : .likely])
    #expect(report.rows.first?.holder == (isPython ? "list + 16" : "malloc in insert + 16"))
  }

  @Test func objectsThatUnownedReferencesOutliveHaveATable() throws {
    let recording = try LeakRecording { builder in
      // The deinitializer of the second one runs, and has retained it.
      for offset in [0, 64] as [UInt64] {
        builder.allocate(LeakRecording.recorders + offset, 32, thread: 2, time: 3_000_000)
      }
      var last = LeakRecording.snapshot(79_500_000)
      last.words(at: LeakRecording.recorders, [0x40_3200, 0x1_0000_0005, 0])
      last.words(at: LeakRecording.recorders + 64, [0x40_3200, 0x3_0000_0003, 0])
      builder.snapshot(last)
    }
    let found = try DanglingPointers(recording.analysis(2), in: recording.trace)
    let report = DanglingReport(found, source: recording.source, query: DanglingQuery())
    let text = report.text()
    #expect(
      text.contains(
        """

        Deinitialized, but referenced as unowned (to read such a reference is fatal):
          #  Object     Bytes  Unowned  Such As
          1  app.Child   32 B        2  0x5001010
        Next: memtrace leaks app.mtrace --trace-tree 0x5001010 shows who has them

        """))
    #expect(report.headline == "Process 4711: no pointers into freed blocks.")
  }

  @Test func eachByteIsLiveOnce() throws {
    let recording = try LeakRecording { builder in
      let pool = LeakRecording.heap + 0x4000
      builder.noteAnnounced()
      builder.allocate(pool, 1000, thread: 2, time: 79_000_000)
      builder.announce(pool + 64, 300, thread: 2, time: 79_100_000)
      builder.snapshot(LeakRecording.snapshot(79_500_000))
    }
    let analysis = try recording.analysis(2)
    let found = try DanglingPointers(analysis, in: recording.trace)
    let report = DanglingReport(found, source: recording.source, query: DanglingQuery())
    let leaks = try LeaksReport(analysis, source: recording.source, query: LeaksQuery())
    let poolless = try LeakRecording { $0.snapshot(LeakRecording.snapshot(79_500_000)) }
    let others = try LeaksReport(
      poolless.analysis(2), source: poolless.source, query: LeaksQuery())
    #expect(report.live.count == others.live.count + 2)
    #expect(report.live.bytes == others.live.bytes + 1000)
    #expect(report.live == leaks.live)
  }

  @Test func withoutAnyTheReportSaysSo() throws {
    let recording = try LeakRecording()
    let found = try DanglingPointers(recording.analysis(0), in: recording.trace)
    let report = DanglingReport(found, source: recording.source, query: DanglingQuery())
    #expect(report.rows.isEmpty)
    #expect(report.headline == "Process 4711: no pointers into freed blocks.")
  }
}
