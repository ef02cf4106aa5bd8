import Foundation
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// Each report of the same recording, whole, in each of its forms.
@Suite struct RecordingReportTests {
  private let sample: SampleRecording
  private let result: ReplayResult

  init() throws {
    sample = try SampleRecording()
    result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
  }

  @Test func theOnePageReport() throws {
    try expectForms(OverviewReport(result, source: sample.source), "report", csv: false)
  }

  @Test func aTemporaryRecordingIsToBeRepeatedFirst() throws {
    var source = sample.source
    source.trace.file = nil
    let commands = try OverviewReport(result, source: source).nextCommands.map(\.command)
    #expect(commands.first == "memtrace record -o app.mtrace -- ./app --once 'two words'")
    #expect(commands.last == "memtrace allocations app.mtrace --live-at peak")
  }

  @Test(
    arguments: [
      (TraceEnding.signal(11), [], "--zombies --redzones"), (.abort, [.zombies], "--redzones"),
      (.signal(11), [.redzones], "--zombies"), (.signal(11), [.zombies, .redzones], "--guard"),
      (.signal(11), [.guarded], "--zombies --redzones"),
      (.signal(11), Set(HeapCheck.allCases), nil),
      (.signal(15), [], nil), (.exit(1), [], nil),
    ] as [(TraceEnding, Set<HeapCheck>, String?)])
  func aCrashThatNothingExplainsIsWorthALookAtTheHeap(
    ending: TraceEnding, made: Set<HeapCheck>, options: String?
  ) throws {
    var source = sample.source
    source.trace.ending = EndingSummary(ending)
    var harmless = result
    (harmless.errors, harmless.errorCounts) = ([], [:])
    (harmless.failedAllocations, harmless.failedAllocationCount) = ([], 0)
    func suggested(_ result: ReplayResult) throws -> [String] {
      try OverviewReport(result, source: source, checks: made).nextCommands.map(\.command)
        .filter { $0.hasSuffix(" -- ./app --once 'two words'") && $0.contains("errors") }
    }
    let command = options.map { "memtrace errors \($0) -- ./app --once 'two words'" }
    #expect(try suggested(harmless) == [command].compactMap { $0 })
    #expect(try suggested(result) == [])
    let text = ErrorsReport(harmless, source: source, checks: made).text()
    #expect(text.contains("\n  \(command ?? "memtrace ")") == (command != nil))
    #expect(
      text.contains("nothing recorded says why.\n")
        == source.trace.ending.isCrash)
    #expect(!ErrorsReport(result, source: source, checks: made).text().contains("says why"))
  }

  @Test func anUnexplainedCrashIsNamedWhereNoErrorIs() throws {
    var source = sample.source
    source.trace.ending = EndingSummary(.signal(11))
    var harmless = result
    (harmless.errors, harmless.errorCounts) = ([], [:])
    (harmless.failedAllocations, harmless.failedAllocationCount) = ([], 0)
    let lines = ErrorsReport(harmless, source: source).text().split(separator: "\n")
    #expect(lines[0].hasPrefix("No memory errors in ./app"))
    #expect(
      lines[1] == "The process was killed by signal 11 (SIGSEGV); nothing recorded says why.")
    #expect(lines[2].hasPrefix("   The last event recorded is free_sized, on app (T1, "))
    #expect(lines.contains("Next:"))
    (harmless.failedAllocations, harmless.failedAllocationCount) = (
      result.failedAllocations, result.failedAllocationCount
    )
    let failed = ErrorsReport(harmless, source: source).text().split(separator: "\n")
    #expect(
      failed[1] == "The process was killed by signal 11 (SIGSEGV); perhaps because "
        + "\(result.failedAllocationCount == 1 ? "an allocation" : "allocations") failed, see below."
    )
    let filtered = ErrorsReport(result, source: source, kinds: [.overRelease])
    #expect(!filtered.text().contains("says why"))
  }

  @Test func theErrors() throws {
    try expectForms(ErrorsReport(result, source: sample.source), "errors")
  }

  @Test func eventsOfOneTimeAreRightAfterEachOther() throws {
    var builder = TraceBuilder()
    builder.thread(1, tid: 100, name: "app")
    builder.allocate(0x1000, 24, time: 5000)
    builder.free(0x1000, time: 9000)
    builder.free(0x1000, time: 9000)
    let text = try Self.errors(of: builder)
    let place = "by free on app (T1, tid 100) at 00:00.000.008"
    #expect(text.contains("Freed first \(place), 4.0 µs later\n"))
    #expect(text.contains("Freed again \(place), right after\n"))
  }

  /// As where a loop is unrolled: one line frees at several addresses, which no report shows.
  @Test func errorsWhoseStacksReadTheSameAreShownOnce() throws {
    var builder = TraceBuilder()
    let symbols = FakeSymbolicator()
    symbols.add("make", at: 0x1010, file: "/src/app.c", line: 3)
    symbols.add("drop", at: 0x1020, file: "/src/app.c", line: 7)
    symbols.add("drop", at: 0x1028, file: "/src/app.c", line: 7)
    symbols.add("drop", at: 0x1030, file: "/src/app.c", line: 8)
    let make = builder.stack([0x1010])
    // Initialisers of Swift that are inlined have no place, generic code has a file and no line.
    for pc: UInt64 in [0x1038, 0x1040] {
      symbols.add("init", at: pc)
      symbols.add("map", at: pc, file: "<compiler-generated>")
    }
    for (index, pc) in [0x1020, 0x1020, 0x1028, 0x1030, 0x1038, 0x1040].enumerated() {
      let (address, drop) = (0x5000 + UInt64(index) * 64, builder.stack([UInt64(pc)]))
      builder.allocate(address, 24, stack: make)
      builder.free(address, stack: drop)
      builder.free(address, stack: drop)
      builder.add(.failed, size: 1 << 40, stack: drop, function: .malloc)
    }
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: symbols)
    let report = ErrorsReport(try trace.replay(), source: source)
    #expect(report.entries.map(\.count) == [3, 1, 2])
    #expect(report.entries.map(\.offending.frames.first?.line) == [7, 8, nil])
    #expect(report.entries.first?.address == 0x5000)
    #expect(report.entryCount == 3)
    #expect(report.totalCount == 6)
    #expect(report.failures.map(\.count) == [3, 1, 2])
    #expect(report.failureCount == 6)
  }

  @Test func aReallocIsCalledARealloc() throws {
    var builder = TraceBuilder()
    builder.allocate(0x1000, 24)
    builder.reallocate(0x1008, to: 0x2000, 30)
    builder.reallocate(0x7000, to: 0x3000, 30)
    let text = try Self.errors(of: builder)
    #expect(text.contains("Invalid realloc of 0x1008, 8 B inside a block of 24 B"))
    #expect(text.contains("Invalid realloc of 0x7000, which was never allocated"))
    #expect(text.contains("Reallocated by realloc on "))
    #expect(text.contains("To fix: realloc 0x1000, the pointer that malloc returned"))
  }

  @Test func aBlockFromBeforeAForkHasNoAllocation() throws {
    var builder = TraceBuilder()
    builder.header.flags = .forked
    builder.free(0x1000)
    builder.free(0x1000)
    builder.reallocate(0x1000, to: 0x2000, 30)
    let text = try Self.errors(of: builder)
    let first = "Double free of 0x1000, a block of the process that forked\n   Freed first by free"
    #expect(text.contains(first))
    #expect(
      text.contains("realloc of the freed block 0x1000, a block of the process that forked\n"))
  }

  @Test func aVariableIsNotToBeFreed() throws {
    var builder = TraceBuilder()
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0x6000, start: Address(0x6000),
        end: Address(0x8000), textStart: Address(0x6000), textEnd: Address(0x7000)))
    for (index, address) in [UInt64(0x7010), 0x7100, 0x9000].enumerated() {
      builder.free(address, stack: builder.stack([0x100 + UInt64(index)]))
    }
    let symbols = FakeSymbolicator()
    symbols.addVariable("table", at: 0x7000..<0x7020)
    let text = try Self.errors(of: builder, symbols)
    let never = "which was never allocated"
    #expect(text.contains("Invalid free of 0x7010, \(never): variable table + 16 in app\n"))
    #expect(text.contains("Invalid free of 0x7100, \(never): app + 0x1100\n"))
    #expect(text.contains("Invalid free of 0x9000, \(never)\n"))
    #expect(text.contains("malloc and its kin returned, not a variable or constant of app\n"))
  }

  @Test func whatIsOnTheStackIsNotToBeFreed() throws {
    var builder = TraceBuilder()
    builder.header.mainStack = 0x7ffd_0000_1000
    builder.thread(1, tid: 4711, name: "app")
    let addresses: [UInt64] = [0x7ffd_0000_0ff0, 0x7ffd_0000_1008, 0x7ff0_0000_0000]
    for (index, address) in addresses.enumerated() {
      builder.free(address, stack: builder.stack([0x100 + UInt64(index)]))
    }
    let text = try Self.errors(of: builder)
    let never = "which was never allocated"
    #expect(text.contains("of 0x7ffd00000ff0, \(never): stack of app (T1, tid 4711)\n"))
    #expect(text.contains("of 0x7ffd00001008, \(never): arguments or environment of the pro"))
    #expect(text.contains("of 0x7ff000000000, \(never)\n"))
    #expect(text.contains("malloc and its kin returned, not a variable of a function\n"))
    #expect(text.contains("returned, not an argument of main or what getenv returned\n"))
  }

  @Test func aForkedChildMayRunOnAnotherStack() throws {
    var builder = TraceBuilder()
    builder.header.flags = .forked
    builder.header.mainStack = 0x7ffd_0000_1000
    builder.thread(1, tid: 4711, name: "app")
    builder.allocate(0x7ffd_0000_0800, 16)
    builder.free(0x7ffd_0000_0800)
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let place = MemoryPlaces(trace).place(at: 0x7ffd_0000_0ff0, time: EventTime(1000))
    #expect(place?.text == "stack of the main thread")
  }

  private static func errors(
    of builder: TraceBuilder, _ symbols: FakeSymbolicator = FakeSymbolicator()
  ) throws -> String {
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: symbols)
    return ErrorsReport(try trace.replay(), source: source).text()
  }

  @Test func theUnfreedBlocks() throws {
    try expectForms(
      UnfreedReport(result, source: sample.source, query: UnfreedQuery()), "unfreed")
  }

  @Test func theHistoryOfADoubleFree() throws {
    try expectForms(
      HistoryReport(
        sample.trace, address: Address(0x20_0010), source: sample.source, showsStacks: true),
      "history")
  }

  @Test func theHistoryOfAnAddressInsideABlock() throws {
    let report = try HistoryReport(
      sample.trace, address: Address(0x20_0404), source: sample.source)
    expectSnapshot(report.text(), "history-inside.txt")
  }

  @Test func theHistoryOfAReallocatedBlockKnowsWhoReallocated() throws {
    let report = try HistoryReport(
      sample.trace, address: Address(0x20_0500), source: sample.source)
    #expect(report.entries.map(\.eventType) == ["realloc"])
    #expect(report.entries.first?.responsible?.name == "handle_request")
  }

  @Test func theHistoryOfABlockThatReallocLeftAsItWasHasOneRowOfIt() throws {
    var builder = TraceBuilder()
    builder.thread(1, tid: 100, name: "app")
    let stack = builder.stack([0x1000])
    builder.allocate(0x1000, 100)
    builder.add(.reallocBegin, address: 0x1000, stack: stack)
    builder.add(.reallocFail, size: 1 << 62)
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    let report = try HistoryReport(trace, address: Address(0x1000), source: source)
    #expect(report.entries.map(\.eventType) == ["malloc", "realloc failed"])
    #expect(report.entries.map(\.delta) == [1, 0])
    #expect(report.entries.map(\.live) == [1, 1])
    #expect(report.entries.map(\.size) == [100, 100])
    #expect(report.entries[1].category == report.entries[0].category)
    #expect(report.entries[1].event.frames.count == 1)
  }

  @Test func theHistoryKeepsTheOrderOfEventsOfOneTime() throws {
    var builder = TraceBuilder()
    builder.thread(1, tid: 100, name: "app")
    for size: UInt64 in [24, 32] {
      builder.allocate(0x1000, size, time: 5000)
      builder.free(0x1000, time: 5000)
    }
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    let report = try HistoryReport(trace, address: Address(0x1000), source: source)
    #expect(report.entries.map(\.eventType) == ["malloc", "free", "malloc", "free"])
    #expect(report.entries.map(\.size) == [24, 24, 32, 32])
    #expect(report.entries.map(\.live) == [1, 0, 1, 0])
  }

  @Test func aLongHistoryKeepsItsEnd() throws {
    let report = try HistoryReport(
      sample.trace, address: Address(0x20_0010), source: sample.source, top: 1)
    #expect(report.entries.map(\.live) == [-1])
    #expect(report.text().contains("\nThe last 1 of 3 events.\n"))
    #expect(report.text().contains("\n2  free (not live)"))
  }

  @Test func theHistoryOfNothingSaysWhereTheBlocksAre() throws {
    let report = HistoryReport(
      address: 1, [], coverage: Coverage(), source: sample.source)
    let fact = "No block of ./app --once 'two words' (pid 4711) ever covered 0x1.\n"
    #expect(
      report.text()
        == fact + "Its blocks with their addresses: memtrace allocations server.mtrace --blocks\n")
    var source = sample.source
    source.trace.file = nil
    #expect(
      HistoryReport(address: 1, [], coverage: Coverage(), source: source).text()
        == fact + "Addresses differ from run to run: keep a trace (memtrace record), and look into "
        + "that.\n")
  }

  @Test func aSampleGivesEstimatesWithTheirMargins() throws {
    let sample = try SampleRecording(sampleInterval: 4096)
    let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    let source = sample.source
    var query = AllocationsQuery()
    query.columns = AllocationsColumn.wide
    let allocations = try AllocationsReport(result, source: source, query: query)
    let tree = try CallTreeReport(result, source: source, query: CallTreeQuery())

    expectSnapshot(
      try OverviewReport(result, source: source).text(), "sampled-report.txt")
    try expectForms(allocations, "sampled-allocations")
    try expectForms(
      UnfreedReport(result, source: source, query: UnfreedQuery()), "sampled-unfreed")
    expectSnapshot(tree.text(), "sampled-call-tree.txt")
    expectSnapshot(ErrorsReport(result, source: source).text(), "sampled-errors.txt")
    expectSnapshot(InfoReport(sample.trace, source: source).text(), "sampled-info.txt")
  }

  @Test func aRecordingWithPausesSaysWhatItsFiguresAreOf() throws {
    let sample = try SampleRecording(
      switches: [(1_000_000, false), (30_000_000, true), (50_000_000, false)])
    let source = sample.source
    let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    expectSnapshot(try OverviewReport(result, source: source).text(), "paused-report.txt")
    try expectForms(
      AllocationsReport(result, source: source, query: AllocationsQuery()), "paused-allocations")
    expectSnapshot(ErrorsReport(result, source: source).text(), "paused-errors.txt")
    expectSnapshot(InfoReport(sample.trace, source: source).text(), "paused-info.txt")
    let blocks = try BlocksReport(
      sample.trace, source: source, request: ReplayRequest(), query: BlocksQuery())
    #expect(blocks.text().contains("\nRecorded for 59.0 ms of 80.0 ms, in 2 parts; "))
    // Frees that no allocation comes before prove nothing.
    #expect(result.errors.map(\.kind) == [.mismatched, .wrongSize(12)])
  }

  @Test func aRecordingThatWasNeverResumedSaysSo() throws {
    let sample = try SampleRecording(switches: [])
    let windows = try #require(sample.source.trace.windows)
    #expect(
      windows.text(durationNanoseconds: 80_000_000)
        == "Recording was paused all the time: nothing was recorded. 'memtrace resume PID' begins it."
    )
    let whole = try SampleRecording()
    #expect(whole.source.trace.windows == nil)
  }

  @Test(arguments: [AllocationsColumn.standard, AllocationsColumn.wide])
  func theTableOfASampleFitsEightyColumns(columns: [AllocationsColumn]) throws {
    let sample = try SampleRecording(sampleInterval: 4096)
    let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    var query = AllocationsQuery()
    query.columns = columns
    let report = try AllocationsReport(result, source: sample.source, query: query)
    var page = TextPage(style: TextStyle(width: 80))
    report.writeTable(to: &page)
    #expect(page.text.split(separator: "\n").allSatisfy { $0.displayWidth <= 80 })
    // Seven columns of numbers leave no room for margins, five do.
    #expect(page.text.contains("±") == (columns == AllocationsColumn.standard))
    #expect(page.text.contains("no room for the margins") == (columns == AllocationsColumn.wide))
    query.columns = [.totalBytes, .bar]
    let chosen = try AllocationsReport(result, source: sample.source, query: query)
    #expect(chosen.text(width: 80).contains("Transient/Total"))
  }

  @Test func theNamesOfRowsByTypeCanBeAskedFor() throws {
    var query = AllocationsQuery()
    query.grouping = .type
    for name in try AllocationsReport(result, source: sample.source, query: query).rows.map(\.name)
    {
      query.filter.category = name
      let report = try AllocationsReport(result, source: sample.source, query: query)
      #expect(report.rows.map(\.name).contains(name))
    }
    query.filter.category = "malloc in make_node"
    let rows = try AllocationsReport(result, source: sample.source, query: query).rows
    #expect(rows.map(\.name) == ["malloc in make_node"])
    // Whoever has seen such a name there, or in leaks, asks other reports for it.
    query.grouping = .category
    let sizes = try AllocationsReport(result, source: sample.source, query: query).rows
    #expect(sizes.map(\.name) == ["Malloc-64", "Malloc-16"])
    var unfreed = UnfreedQuery()
    unfreed.filter.category = "malloc in make_*"
    let stacks = try UnfreedReport(result, source: sample.source, query: unfreed)
    #expect(stacks.totalBytes == 64)
  }

  @Test func transientBlocksOfASampleKeepTheirMargin() throws {
    let sample = try SampleRecording(sampleInterval: 4096)
    let result = try sample.trace.replay()
    var query = AllocationsQuery()
    query.filter.category = "Malloc-32"
    let all = try AllocationsReport(result, source: sample.source, query: query)
    query.filter.lifespan = .transient
    let transient = try AllocationsReport(result, source: sample.source, query: query)
    query.filter.category = "Malloc-128"
    query.filter.lifespan = .persistent
    let persistent = try AllocationsReport(result, source: sample.source, query: query)

    // Four blocks of 24 bytes: 4 × 4096 / 25 of them, ± 1.96 × √4 × 4096 / 25.
    #expect(all.total.totalCount == 657)
    #expect(transient.total == all.total)
    #expect(TallyVariance.wholeMargin(all.total.variance?.totalCount ?? 0) == 642)
    #expect(persistent.total.variance?.totalBytes == persistent.total.variance?.liveBytes)
    #expect((persistent.total.variance?.totalBytes ?? 0) > 0)
  }

  @Test func leaksAreNotLookedForInASample() throws {
    let sample = try SampleRecording(sampleInterval: 4096)
    let error = #expect(throws: ReportError.self) { try sample.trace.snapshotIndex() }
    #expect(
      error?.description
        == "leaks cannot be told in a sample of 1 in 4 KiB: that takes every block; record without "
        + "--sample")
  }

  @Test func theHistoryOfABlockOutsideTheSampleSaysSo() throws {
    let sample = try SampleRecording(sampleInterval: 512 << 10)
    let report = try HistoryReport(sample.trace, address: Address(1), source: sample.source)
    let lines = report.text().split(separator: "\n")
    #expect(
      lines.first
        == "No block in a sample of 1 in 512 KiB of ./app --once 'two words' (pid 4711) ever covered 0x1."
    )
  }

  @Test func theCallTree() throws {
    try expectForms(
      CallTreeReport(result, source: sample.source, query: CallTreeQuery()), "call-tree")
  }

  @Test func theInvertedCallTreeOfUserCodeByThread() throws {
    var query = CallTreeQuery()
    query.options.isInverted = true
    query.options.hidesSystem = true
    query.options.separatesThreads = true
    let report = try CallTreeReport(result, source: sample.source, query: query)
    expectSnapshot(report.text(), "call-tree-inverted.txt")
  }

  @Test func theBlocks() throws {
    let report = try BlocksReport(
      sample.trace, source: sample.source, request: ReplayRequest(), query: BlocksQuery())
    try expectForms(report, "blocks")
    #expect(report.rows.count == Int(result.total.totalCount))
    #expect(report.rows.filter(\.isLive).count == Int(result.total.liveCount))
  }

  @Test func theBlocksFitANarrowTerminal() throws {
    let report = try BlocksReport(
      sample.trace, source: sample.source, request: ReplayRequest(), query: BlocksQuery())
    let table = report.text(width: 32).split(separator: "\n").dropFirst()
    #expect(
      table.prefix(4).joined(separator: "\n") == """
                            Responsible
        Address        Size Caller
        0x1000000 100.0 MiB read_a….c:33
        0x200010       16 B make_n…e.c:5
        """)
  }

  @Test func theBlocksFitEightyColumns() throws {
    let report = try BlocksReport(
      sample.trace, source: sample.source, request: ReplayRequest(), query: BlocksQuery())
    let text = report.text(width: 80)
    #expect(text.split(separator: "\n").allSatisfy { $0.displayWidth <= 80 })
    #expect(!text.contains("Library"))
    #expect(report.text(width: 120).contains("Library"))
  }

  @Test func theLiveBlocksAreThoseOfTheReplay() throws {
    var query = BlocksQuery()
    query.filter.lifespan = .persistent
    query.bySize = true
    let report = try BlocksReport(
      sample.trace, source: sample.source, request: ReplayRequest(), query: query)
    #expect(report.rows.map(\.size) == [100 << 20, 128, 64])
    #expect(report.rows.filter(\.isLive).count == 3)
    query.top = 2
    let cut = try BlocksReport(
      sample.trace, source: sample.source, request: ReplayRequest(), query: query)
    #expect(cut.rows.map(\.size) == [100 << 20, 128])
    #expect(cut.rowCount == 3)
    #expect(cut.text().contains("… 1 more block; --top 0 shows all"))
  }

  @Test func theInformation() throws {
    let relatives = [
      InfoReport.Relative(file: "server.4713.mtrace", pid: 4713, relation: "child")
    ]
    var report = InfoReport(
      sample.trace, source: sample.source, relatives: relatives,
      coverage: try sample.trace.eventCoverage())
    report.file.bytes = 4096
    try expectForms(report, "info")
    report.hasReadEvents = false
    #expect(
      report.text().contains(
        "\nCoverage: nothing is known to be missing. The events were not read: --all does.\n"))
  }

  @Test func theInformationTellsOfDamagedEvents() throws {
    var builder = TraceBuilder()
    builder.allocate(0x1000, 64)
    builder.add(.failed, size: 40, stack: .none, function: .free)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let report = InfoReport(
      trace, source: ReportSource(trace, file: nil, symbolicator: FakeSymbolicator()),
      coverage: try trace.eventCoverage())
    #expect(report.coverage.warnings.count == 1)
    #expect(!report.text().contains("complete"))
  }

  @Test func theInformationListsTheFirstOfManyTraces() throws {
    let relatives = (0..<1500).map { number in
      InfoReport.Relative(file: "server.\(number).mtrace", pid: UInt32(number), relation: "child")
    }
    var report = InfoReport(sample.trace, source: sample.source, relatives: relatives)
    #expect(report.text().contains("server.19.mtrace"))
    #expect(!report.text().contains("server.20.mtrace"))
    #expect(report.text().contains("Other traces:     1,480 more; --all lists them\n"))
    report.listsAll = true
    #expect(report.text().contains("server.1499.mtrace"))
  }

  @Test func theInformationListsSnapshotsAndMarks() throws {
    let leaks = try LeakRecording()
    let live = try leaks.trace.liveTotals(at: leaks.trace.snapshots.map(\.time))
    #expect(live.map(\.count) == [8, 9])
    #expect(live.map(\.bytes) == [1816, 1832])
    // In whatever order they are asked for.
    #expect(
      try leaks.trace.liveTotals(at: [EventTime(79_000_000), .distantPast, EventTime(1_000_000)])
        .map(\.count) == [9, 0, 1])
    var report = InfoReport(
      leaks.trace, source: leaks.source, live: live,
      coverage: try leaks.trace.eventCoverage())
    report.file.bytes = 4096
    try expectForms(report, "info-snapshots")
    let narrow = report.text(width: 40).split(separator: "\n").map(String.init)
    let tables = narrow.filter { $0.hasPrefix("  ") }
    #expect(
      tables.joined(separator: "\n") == """
          Thread  TID Name Began         Ended
          T1     4711 app  00:00.000.000
          Start     Build ID  Path
          0x400000  none      /opt/app/app
          Time          Taken           Coverage
          00:00.030.000 at the … "warm" complete
          00:00.079.000 at exit…tatus 0 complete
        """)
    report.snapshots[0].summary.isComplete = false
    #expect(
      report.text().contains(
        "\nCoverage: nothing is known to be missing but parts of 1 heap snapshot, listed "
          + "above.\n"))
    let without = InfoReport(leaks.trace, source: leaks.source).text()
    #expect(!without.contains("# Blocks"))
  }

  @Test func theDump() throws {
    var text = ""
    try TraceDump(sample.trace).write { piece in
      text += piece
      return true
    }
    expectSnapshot(text, "dump.txt")
  }

  @Test func theDumpAsJSONHasOneObjectPerLine() throws {
    var text = ""
    try TraceDump(sample.trace, format: .jsonLines).write { piece in
      text += piece
      return true
    }
    expectSnapshot(text, "dump.jsonl")
    for line in text.split(separator: "\n") {
      _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
    }
  }

  @Test func theDumpIsFiltered() throws {
    var lines: [Substring] = []
    let dump = TraceDump(sample.trace, kinds: [.event], eventLimit: 2)
    try dump.write { piece in
      lines += piece.split(separator: "\n")
      return true
    }
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.hasPrefix("EVENT ") })
  }
}
