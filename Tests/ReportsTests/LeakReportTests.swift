import CTraceFormat
import LeakAnalysis
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// The reports about leaks of one recording, in each of their forms.
@Suite struct LeakReportTests {
  private let sample: LeakRecording

  init() throws {
    sample = try LeakRecording()
  }

  private func leaks(_ change: (inout LeaksQuery) -> Void = { _ in }) throws -> LeaksReport {
    var query = LeaksQuery()
    change(&query)
    return try LeaksReport(sample.analysis(), source: sample.source, query: query)
  }

  @Test func packedAndUnpackedTheLeaksAreTheSame() throws {
    let expected = try leaks().text()
    let packed = try sample.packed()
    #expect(packed.trace.isPacked)
    let unpacked = try packed.unpacked()
    #expect(!unpacked.trace.isPacked)
    for recording in [packed, unpacked] {
      for snapshot in sample.trace.snapshots.indices {
        let (memory, copy) = (
          try sample.trace.loadSnapshot(snapshot), try recording.trace.loadSnapshot(snapshot)
        )
        #expect(copy.wordCount == memory.wordCount)
        memory.forEachWord(in: 0..<UInt64.max) { #expect(copy.word(at: $0) == $1) }
      }
      let report = try LeaksReport(
        recording.analysis(), source: recording.source, query: LeaksQuery())
      #expect(report.text() == expected)
    }
  }

  /// The block is not in the heap any more, for all that is known.
  @Test func whatMayHaveBeenFreedInAMissingPartIsNoLeak() throws {
    let sample = try LeakRecording { trace in
      // Chunks that are cut end with an event that is not whole.
      trace.endChunk(of: 1)
      trace.appendChunk(
        [0xff], encoding: MT_ENCODING_VARINT.rawValue, baseTime: 40_000_000)
      trace.allocate(LeakRecording.heap + 0x8d0, 16, thread: 2, time: 60_000_000)
    }
    let report = try LeaksReport(sample.analysis(), source: sample.source, query: LeaksQuery())
    #expect(report.leaked == BlockSum())
    let rule = try #require(report.systemRules.first { $0.rule == "damaged file" })
    #expect(rule.blocks == BlockSum(count: 7, bytes: 1676))
    #expect(report.text().contains("7 blocks (1.64 KiB) of the damaged file"))
  }

  @Test func theLeaks() throws {
    var report = try leaks()
    report.setDiscoveries(try discoveries(sample, 1), in: sample.trace)
    try expectForms(report, "leaks")
    #expect(report.headline == "Process 4711: 5 leaks for 1596 total leaked bytes.")
  }

  private func discoveries(
    _ recording: LeakRecording, _ index: Int, limit: Int? = nil, category: String? = nil
  ) throws -> [LeakDiscovery] {
    var query = LeaksQuery()
    query.filter.category = category
    var found = try #require(
      try recording.trace.discoveries(
        before: index, source: recording.source, query: query, limit: limit))
    found.add(try recording.analysis(index), source: recording.source, query: query)
    return found.moments
  }

  /// As where a loop is unrolled: the same line allocates at several addresses.
  @Test func stacksThatReadTheSameAreOneRowAndOneTree() throws {
    let (heap, main): (UInt64, UInt64) = (LeakRecording.heap, 0x40_1000)
    let twin = try LeakRecording { builder in
      let unrolled = builder.stack([0x40_1110, main])
      let otherLine = builder.stack([0x40_1120, main])
      let unknownLine = builder.stack([0x40_1130, main])
      let another = builder.stack([0x40_1138, main])
      for (index, stack) in [unrolled, unrolled, otherLine, unknownLine, another].enumerated() {
        builder.allocate(heap + 0x2010 + UInt64(index) * 64, 16, stack: stack, time: 60_000_000)
      }
    }
    twin.symbolicator.add("demoMemoryLeak", at: 0x40_1110, file: "/src/demo.c", line: 21)
    twin.symbolicator.add("demoMemoryLeak", at: 0x40_1120, file: "/src/demo.c", line: 22)
    twin.symbolicator.add("exported", at: 0x40_1130)
    twin.symbolicator.add("exported", at: 0x40_1138)
    let report = try LeaksReport(twin.analysis(), source: twin.source, query: LeaksQuery())

    let rows = report.rows.filter { $0.responsible?.name == "demoMemoryLeak" }
    #expect(rows.map(\.responsible?.line) == [21, 22])
    #expect(rows.map(\.count) == [4, 1])
    #expect(rows.first?.address == heap + 0x110)
    let trees = report.treeGroups.filter { $0.frames.first?.name == "demoMemoryLeak" }
    #expect(trees.map(\.frames.first?.line) == [21, 22])
    #expect(trees.map(\.instances) == [4, 1])
    // Where no line is known, the address is what tells calls apart.
    #expect(report.rows.filter { $0.responsible?.name == "exported" }.map(\.count) == [1, 1])
  }

  @Test func theFirstSnapshotHasNoDiscoveries() throws {
    let found = try sample.trace.discoveries(
      before: 0, source: sample.source, query: LeaksQuery())
    #expect(found == nil)
  }

  @Test func eachSnapshotTellsWhatIsNew() throws {
    let moments = try discoveries(sample, 1)
    #expect(moments.map(\.leaked.count) == [4, 5])
    #expect(moments.map(\.new.count) == [4, 1])
    #expect(moments.map(\.new.bytes) == [1580, 16])
  }

  /// An earlier snapshot does not know what came later: that is no mistyped name.
  @Test func whatCameLaterWasNotFoundBefore() throws {
    let later = try LeakRecording { builder in
      builder.allocate(LeakRecording.heap + 0x2010, 777, stack: .none, time: 60_000_000)
    }
    let moments = try discoveries(later, 1, category: "Malloc-784")
    #expect(moments.map(\.leaked.count) == [0, 1])
    #expect(moments.map(\.new.bytes) == [0, 777])
  }

  @Test func ofManySnapshotsSomeAreLookedAt() throws {
    let many = try LeakRecording { builder in
      for time in UInt64(0)..<20 {
        builder.snapshot(SnapshotBuilder(time: 79_000_001 + time, reason: MT_SNAPSHOT_INTERVAL))
      }
    }
    let last = try many.analysis(21)
    let query = LeaksQuery()
    let all = try discoveries(many, 21)
    #expect(all.map(\.snapshot) == Array(0...21))
    let some = try discoveries(many, 21, limit: 4)
    #expect(some.map(\.snapshot) == [0, 7, 14, 21])
    let one = try discoveries(many, 21, limit: 1)
    #expect(one.map(\.snapshot) == [21])
    var report = try LeaksReport(last, source: many.source, query: query)
    report.setDiscoveries(some, in: many.trace)
    #expect(report.text().contains("by discovery, 4 of 22 snapshots; --top 0 takes all:\n"))
    report.setDiscoveries(all, in: many.trace)
    #expect(report.text().contains("by discovery:\n"))
  }

  @Test func missingWordsAreTold() throws {
    let heap = try sample.analysis().heap
    #expect(heap.missingWords == 0)
    #expect(SnapshotSummary(heap, clock: sample.trace.clock).warnings.isEmpty)
    var info = heap.info
    info.wordCount += 3
    let damaged = HeapImage(info: info, memory: heap.memory, blocks: heap.blocks)
    let summary = SnapshotSummary(damaged, clock: sample.trace.clock)
    #expect(summary.missingWords == 3)
    #expect(
      summary.warnings == [
        "3 words of the snapshot could not be read: what they point to counts as leaked"
      ])
  }

  @Test func onlyCycles() throws {
    let report = try leaks { $0.onlyCycles = true }
    #expect(report.headline == "Process 4711: 3 leaks for 1564 total leaked bytes.")
    #expect(report.rootCycleCount == 1 && report.rootLeakCount == 0)
    let lines = try #require(report.treeGroups.first?.trees.first).map { $0.text(.human) }
    #expect(
      lines == [
        "3 (1.53K) ROOT CYCLE: <app.Parent 0x5000150> [32], strong 1, unowned 0, weak 0",
        "2 (1.50K) +16 --> ROOT CYCLE: <app.Child 0x5000190> [32], strong 1, unowned 0, weak 0",
        "1 (1.46K) +16 --> <malloc in make_family 0x50001d0> [1,500]",
        "+24 --> CYCLE BACK TO <app.Parent 0x5000150> [32]",
      ])
  }

  @Test func theSystemsLeaksWhenAskedFor() throws {
    let report = try leaks { $0.includesSystem = true }
    #expect(report.leaked.count == 6)
    #expect(report.system.count == 0)
    let rule = try #require(report.systemRules.first)
    #expect(rule.rule == "dynamic loader" && rule.blocks.count == 1)
    #expect(rule.rows.map(\.count) == [1])
    #expect(report.text().contains("Counted only with --all, dynamic loader: its tables"))
  }

  @Test(arguments: [
    ("MallocExtension::Register(MallocExtension*)", true), ("HeapProfilerStart", false),
  ])
  func theFirstObjectOfTcmallocIsNoLeakOfTheProgram(_ function: String, _ isKept: Bool) {
    let frames = [
      ReportFrame(name: function, image: "/usr/lib/libtcmalloc_minimal.so.4"),
      ReportFrame(name: "_dl_init", image: "/lib64/ld-linux-x86-64.so.2"),
    ]
    #expect((SystemLeaks.rule(for: frames)?.name == "tcmalloc") == isKept)
  }

  /// Of a continuation that is dropped the runtime says so; a message of the program is its own.
  @Test(arguments: [
    (["malloc", "strdup", "swift_reportError"], true),
    (["malloc", "swift_asprintf(char**, char const*, ...)", "swift_reportError"], true),
    (["malloc", "swift::fatalErrorv(unsigned int, char const*, __va_list_tag*)"], true),
    (["malloc", "strdup", "report(_:)", "swift_reportError"], false),
  ])
  func messagesOfTheSwiftRuntimeAreNoLeaksOfTheProgram(_ functions: [String], _ isKept: Bool) {
    let frames = functions.map { ReportFrame(name: $0, image: "/app/server") }
    #expect((SystemLeaks.rule(for: frames)?.name == "Swift runtime") == isKept)
  }

  /// What a test forgets is its own business, though XCTest called it.
  @Test(arguments: [
    ("XCTMainMisc(_:arguments:observers:)", true), ("XCTestSuite.init(name:)", true),
    ("closure #1 in XCTMainMisc(_:arguments:observers:)", true),
    ("XCTestExpectation.init(description:)", false), ("XCTestCase.invokeTest()", false),
  ])
  func suitesOfXCTestAreNoLeaksOfTheProgram(_ function: String, _ isHarness: Bool) {
    let frame = { (name: String, image: String) in ReportFrame(name: name, image: image) }
    let harness = [
      frame("swift_slowAlloc", "/opt/swift/libswiftCore.so"),
      frame("swift_allocObject", "/opt/swift/libswiftCore.so"),
      frame(function, "/opt/swift/libXCTest.so"), frame("main", "/app/tests"),
    ]
    #expect((SystemLeaks.rule(for: harness) != nil) == isHarness)
    // With --full-names.
    let whole = harness.map { frame in
      var whole = frame
      (whole.name, whole.nameInShort) = ("XCTest." + frame.name, frame.name)
      return whole
    }
    #expect((SystemLeaks.rule(for: whole) != nil) == isHarness)
    let own = [
      frame("swift_allocObject", "/opt/swift/libswiftCore.so"), frame("test", "/app/tests"),
    ]
    #expect(SystemLeaks.rule(for: own + harness) == nil)
  }

  @Test(arguments: [
    (
      LeaksGrouping.type,
      ["app.Parent", "malloc in make_family", "malloc in demoMemoryLeak", "app.Child"],
      [1, 1, 2, 1]
    ),
    (.function, ["make_family", "demoMemoryLeak"], [3, 2]),
    (.image, ["app"], [5]),
    (.thread, ["app (T1, tid 4711)"], [5]),
  ])
  func otherRows(grouping: LeaksGrouping, names: [String], counts: [UInt64]) throws {
    let report = try leaks { $0.grouping = grouping }
    #expect(report.rows.map(\.name) == names)
    #expect(report.rows.map(\.count) == counts)
  }

  @Test func eachBlockOnItsOwn() throws {
    let report = try leaks {
      $0.grouping = .block
      $0.includesSystem = true
    }
    let heap = LeakRecording.heap
    // The greatest first, then by name: app.Child before app.Parent.
    #expect(
      report.rows.map(\.address)
        == [heap + 0x1d0, heap + 0x810, heap + 0x190, heap + 0x150, heap + 0x110, heap + 0x890])
    #expect(report.rows.map(\.bytes) == [1500, 64, 32, 32, 16, 16])
    #expect(report.rows.map(\.rootCount) == [0, 1, 1, 1, 1, 1])
    #expect(report.rows.map(\.count) == [1, 1, 1, 1, 1, 1])
    #expect(report.systemRules.flatMap { $0.rows.map(\.address) } == [heap + 0x810])
    let possible = try leaks().possibleRows
    #expect(possible.compactMap(\.heldBy).count == 1)
    #expect(report.possibleRows.map(\.heldBy) == possible.map(\.heldBy))
    #expect(report.possibleRows.map(\.rootCount) == [1])
  }

  @Test func someBlocksOnTheirOwn() throws {
    let report = try leaks {
      $0.grouping = .block
      $0.top = 2
    }
    #expect(report.rows.map(\.bytes) == [1500, 32])
    #expect(report.rows.count == 2 && report.rowCount == 5)
    #expect(report.leaked.count == 5 && report.leaked.bytes == 1596)
    #expect(report.text().contains("… 3 more rows; --top 0 shows all"))
  }

  @Test func newBlocksOnTheirOwn() throws {
    var query = LeaksQuery()
    query.grouping = .block
    let older = LeakBaseline(
      try sample.analysis(0), source: sample.source, query: query, name: "older.mtrace")
    let report = try LeaksReport(
      sample.analysis(), source: sample.source, query: query, baseline: older)
    #expect(report.rows.map(\.address) == [LeakRecording.heap + 0x890])
    #expect(report.rows.map(\.newCount) == [1])
    #expect(report.rows.map(\.newBytes) == [16])
    #expect(report.leaked.count == 1)
    #expect(report.text().contains("# New"))
  }

  @Test func filters() throws {
    #expect(try leaks { $0.filter.responsible = "demo" }.leaked.count == 2)
    #expect(try leaks { $0.filter.category = "app.Par*" }.rows.map(\.name) == ["app.Parent"])
    #expect(try leaks { $0.fromNanoseconds = 40_000_000 }.leaked.count == 1)
    #expect(try leaks { $0.sizes = ByteRange("1k+") }.leaked.count == 1)
    #expect(throws: ReportError.self) { try leaks { $0.filter.responsible = "nobody" } }
    // Reachable blocks only, which is no mistake.
    #expect(try leaks { $0.filter.category = "Malloc-48" }.leaked.count == 0)
    #expect(
      throws: ReportError.notFound("no category \"app.Paren\" in this trace; near: app.Parent")
    ) {
      try leaks { $0.filter.category = "app.Paren" }
    }
  }

  @Test func whatAnotherTraceHasIsNotNew() throws {
    let older = LeakBaseline(
      try sample.analysis(0), source: sample.source, query: LeaksQuery(), name: "older.mtrace")
    let report = try LeaksReport(
      sample.analysis(), source: sample.source, query: LeaksQuery(),
      baseline: older)
    #expect(report.rows.map(\.newCount) == [1])
    #expect(report.rows.map(\.count) == [2])
    #expect(report.treeGroups.map(\.instances) == [1])
    #expect(report.rootLeakCount == 1 && report.rootCycleCount == 0)
    #expect(
      report.headline
        == "Process 4711: 1 leak for 16 total leaked bytes that older.mtrace does not have.")
  }

  @Test func nothingLeaked() throws {
    let report = try leaks { $0.sizes = ByteRange("1m+") }
    #expect(report.text().hasPrefix("Process 4711: 0 leaks for 0 total leaked bytes.\n"))
    #expect(report.rows.isEmpty && report.treeGroups.isEmpty)
  }

  @Test func theOnePageReportNamesLeaks() throws {
    let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    let report = try OverviewReport(
      result, leaks: OverviewReport.leaks(sample.analysis(), source: sample.source),
      source: sample.source)
    expectSnapshot(report.text(), "report-leaks.txt")
    #expect(report.nextCommands.map(\.command).contains("memtrace leaks app.mtrace"))
  }

  @Test func noLeaksIsSaidOfTheSnapshotThatWasLookedAt() throws {
    func text(_ change: (inout SnapshotSummary) -> Void) throws -> String {
      let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
      var report = try OverviewReport(
        result, leaks: OverviewReport.leaks(sample.analysis(), source: sample.source),
        source: sample.source)
      report.leaks = try leaks { $0.sizes = ByteRange("1m+") }
      report.leaks.map {
        var snapshot = $0.snapshot
        change(&snapshot)
        report.leaks?.snapshot = snapshot
      }
      return report.text()
    }
    let unqualified = "No leaks: everything that was not freed can still be reached.\n"
    #expect(try text { _ in }.contains(unqualified))
    let moment = "No leaks at the snapshot at 00:00.079.000 "
    #expect(
      try text {
        $0.kind = "interval"
        $0.reason = "at an interval"
      }.contains(
        moment + "(at an interval): everything that was live then could still be reached.\n"))
    let moving = try text { $0.movingThreads = 1 }
    #expect(moving.contains(moment + "(at exit with status 0): everything that was live then"))
    #expect(moving.contains("Snapshot: 1 thread could not be stopped for the snapshot"))
    #expect(try text { $0.isComplete = false }.contains("Snapshot: the snapshot was cut off"))
  }

  /// What called the place that leaks does not matter, nor where in its function it is inlined.
  @Test func leaksOfOnePlaceAreAddedUp() {
    func row(_ name: String, _ function: String, _ stack: UInt32, _ count: UInt64) -> LeakRow {
      let frame = SymbolicatedFrame(
        programCounter: Address(1), function: FunctionName(plain: function), imagePath: "/opt/app",
        imageOffset: UInt64(stack))
      return LeakRow(
        name: name, count: count, bytes: count * 16, address: 0, size: 16, timeNanoseconds: 0,
        stack: stack, responsible: ReportFrame(frame, fullNames: false))
    }
    let places = LeakPlace.find([
      row("Node", "make", 7, 9), row("Node", "grow", 5, 4), row("Node", "make", 3, 2),
      row("Leaf", "make", 4, 1),
    ])
    #expect(
      places.map { "\($0.name) \($0.responsible?.name ?? "") \($0.stack) \($0.stackCount)" }
        == ["Node make 7 2", "Node grow 5 1", "Leaf make 4 1"])
    #expect(places.map(\.count) == [11, 4, 1])
    #expect(places.map(\.bytes) == [176, 64, 16])
  }

  @Test func slicesMayHideLeaks() throws {
    let remark =
      "2 slabs of GLib's slices (992 B) may hide leaks: what lies in one, and what that leads to, "
      + "counts as held. Record with G_SLICE=always-malloc to find these.\n"
    var report = try leaks()
    #expect(!report.text().contains("slab"))
    report.snapshot.slices = BlockSum(count: 2, bytes: 992)
    #expect(report.text().contains(remark))
    let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    var overview = try OverviewReport(
      result, leaks: OverviewReport.leaks(sample.analysis(), source: sample.source),
      source: sample.source)
    overview.leaks = report
    #expect(overview.text().contains(remark))
  }

  @Test func whatWasAllocatedInAPauseIsNotCalledLeakFree() throws {
    let paused = try LeakRecording { builder in
      builder.header.flags.insert(.pausable)
      builder.pause(false, time: 1_000_000)
      builder.pause(true, time: 60_000_000)
    }
    let windows = "\nRecorded for 59.0 ms of 80.0 ms; blocks allocated while recording was paused "
    var query = LeaksQuery()
    query.sizes = ByteRange("1m+")
    let leaks = try LeaksReport(paused.analysis(), source: paused.source, query: query)
    #expect(leaks.text().contains(windows))
    let tree = ReferenceTreeReport(
      try paused.analysis(), source: paused.source, includesRecorder: false, limit: nil)
    #expect(tree.text().contains(windows))
    let result = try paused.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    var report = try OverviewReport(
      result, leaks: OverviewReport.leaks(paused.analysis(), source: paused.source),
      source: paused.source)
    report.leaks = leaks
    #expect(
      report.text().contains(
        "No leaks: of what was recorded, everything that was not freed can still be reached.\n"))
  }

  /// Nothing is recorded of what a program allocates with jemalloc that is linked into it.
  @Test(arguments: [
    ("malloc: app", "of what was recorded, everything"), ("_Znwm: app", "everything"),
  ])
  func theOverviewAnswersOnlyForWhatWasRecorded(note: String, what: String) throws {
    let recording = try LeakRecording { builder in
      builder.note(kind: UInt32(MT_NOTE_BYPASSED.rawValue), text: note)
    }
    var query = LeaksQuery()
    query.sizes = ByteRange("1m+")
    let report = try OverviewReport(
      recording.trace.replay(ReplayRequest(), keepsLiveBlocks: true),
      leaks: LeaksReport(recording.analysis(), source: recording.source, query: query),
      source: recording.source)
    #expect(report.text().contains("No leaks: \(what) that was not freed can still be reached.\n"))
  }

  @Test func theNextCommandRecordsAnAllocatorOfTheProgramsOwn() throws {
    var builder = TraceBuilder()
    builder.process(executable: "/usr/bin/app", arguments: ["app", "--once"])
    builder.note(kind: UInt32(MT_NOTE_BYPASSED.rawValue), text: "malloc: /usr/bin/app")
    builder.snapshot(SnapshotBuilder(time: 50_000))
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: "app.mtrace", symbolicator: FakeSymbolicator())
    let analysis = LeakAnalysis(try trace.heap(atSnapshot: 0))
    let text = try OverviewReport(
      trace.replay(ReplayRequest(), keepsLiveBlocks: true),
      leaks: OverviewReport.leaks(analysis, source: source), source: source
    ).text()
    #expect(text.contains("\nNo allocations were recorded.\n\nNext:\n"))
    #expect(text.contains("  memtrace record --bundled-allocator -- app --once"))
    #expect(!text.contains("No leaks"))
  }

  /// All blocks that its missing part points to would look leaked.
  @Test func aSnapshotThatWasCutIsNotTakenUnasked() throws {
    var builder = TraceBuilder()
    var cut = SnapshotBuilder(time: 50_999)  // shown without the nanoseconds
    cut.isComplete = false
    builder.snapshot(cut)
    builder.note(kind: 7, text: "no space left", value: 28, time: 50_000)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let error = #expect(throws: ReportError.self) { try trace.snapshotIndex() }
    let text = error?.description ?? ""
    #expect(text.contains("was cut off (no space left), so leaks cannot be told"))
    let time = text.split(separator: "--at ").last?.split(separator: " ").first.map(String.init)
    #expect(try trace.snapshotIndex(.moment(#require(time))) == 0)
  }

  @Test func snapshotsKnowWhetherTheyAreOfTheEnd() throws {
    #expect(try leaks().snapshot.isAtEnd)
    let warm = try LeaksReport(sample.analysis(0), source: sample.source, query: LeaksQuery())
    #expect(!warm.snapshot.isAtEnd)
    let result = try sample.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    let report = try OverviewReport(
      result, leaks: OverviewReport.leaks(sample.analysis(0), source: sample.source),
      source: sample.source)
    #expect(
      report.text().contains(
        "Leaked at the snapshot at 00:00.030.000 (at the mark \"warm\"), nothing points to it"))
  }

  @Test func theRecordersBlocksCountOnlyWhenAskedFor() throws {
    let recorded = try LeakRecording { builder in
      builder.allocate(LeakRecording.recorders, 80, thread: 0, time: 4_000_000)
      builder.allocate(LeakRecording.heldByRecorder, 40, time: 5_000_000)
    }
    var query = LeaksQuery()
    let plain = try LeaksReport(recorded.analysis(), source: recorded.source, query: query)
    query.includesSystem = true
    let all = try LeaksReport(recorded.analysis(), source: recorded.source, query: query)
    #expect(all.live.count == plain.live.count + 1)
    #expect(all.live.bytes == plain.live.bytes + 80)
    #expect(sum(all) == sum(plain) + 1)
    let tree = ReferenceTreeReport(
      try recorded.analysis(), source: recorded.source, limit: nil)
    let fullTree = ReferenceTreeReport(
      try recorded.analysis(), source: recorded.source, includesRecorder: true, limit: nil)
    #expect(fullTree.reachable.count == tree.reachable.count + 1)
    #expect(fullTree.reachable.bytes == tree.reachable.bytes + 80)
    // What it holds stays, below the variable.
    #expect(tree.reachable.bytes == 48 + 24 + 100 + 40)
    let heap = try HeapReport(recorded.trace, source: recorded.source, query: HeapQuery())
    #expect(heap.totalCount == plain.live.count)
  }

  private func sum(_ report: LeaksReport) -> UInt64 {
    report.reachable.reduce(0) { $0 + $1.blocks.count }
  }

  @Test func whoHoldsABlock() throws {
    try expectForms(
      try TraceTreeReport(
        sample.analysis(), address: LeakRecording.node + 8, source: sample.source, limit: nil),
      "trace-tree")
  }

  @Test func whoHoldsALeak() throws {
    let report = try TraceTreeReport(
      sample.analysis(), address: LeakRecording.heap + 0x150, source: sample.source, limit: nil)
    #expect(report.state == "leaked")
    #expect(report.holders.map(\.name) == ["app.Child"])
    #expect(report.holders.map(\.offset) == [24])
  }

  @Test func treesOfLongNamesFitATerminalAndKeepTheirAddresses() throws {
    let name = "std::map<std::string, std::vector<std::string>> node"
    var holders = try TraceTreeReport(
      sample.analysis(), address: LeakRecording.node + 8, source: sample.source, limit: nil)
    for index in holders.holders.indices where holders.holders[index].root == nil {
      holders.holders[index].name = name
    }
    let held = holders.text(width: 60).split(separator: "\n")
    #expect(held.contains { $0.hasSuffix("0x5000010> [48]") && $0.count == 60 })
    #expect(holders.text().contains("+16 of <\(name) 0x5000010> [48]"))

    var leaks = try leaks()
    leaks.treeGroups[0].trees[0][0].name = name
    let tree = leaks.text(width: 100).split(separator: "\n").first {
      $0.contains(" ROOT ") && $0.contains("std::map")
    }
    let line = try #require(tree)
    #expect(line.count == 100)
    #expect(line.hasSuffix(" 0x5000150> [32], strong 1, unowned 0, weak 0"))
  }

  /// They were counted as blocks of that line, under its name.
  @Test func whatIsDeeperThanTheReferenceTreeIsInTheSumsOfItsLastLine() throws {
    let recorded = try list(of: 8, heldAt: LeakRecording.cache + 8)
    let tree = ReferenceTreeReport(
      try recorded.analysis(2), source: recorded.source, limit: nil)
    let last = try #require(tree.lines.first { $0.depth == 5 && $0.name == "malloc in insert" })
    #expect(last.count == 1)
    #expect((last.totalCount, last.totalBytes) == (8, 4 * 24 + 4 * 8))
    #expect(tree.lines.reduce(0) { $0 + $1.count } < tree.reachable.count)
  }

  /// A recording with a list in addition: so many elements, the first held by what is at `head`, each with its
  /// name.
  private func list(of count: Int, heldAt head: UInt64?) throws -> LeakRecording {
    let first = LeakRecording.heap + 0x3010
    return try LeakRecording { builder in
      let insert = builder.stack([0x40_1300, 0x40_1000])
      let copy = builder.stack([0x40_1200, 0x40_1000])
      var snapshot = LeakRecording.snapshot(79_500_000)
      if let head { snapshot.words(at: head, [first]) }
      for index in 0..<UInt64(count) {
        let element = first + index * 96
        builder.allocate(element, 24, stack: insert, time: 60_000_000 + index)
        builder.allocate(element + 48, 8, stack: copy, time: 60_000_000 + index)
        let next = index + 1 < count ? element + 96 : 0
        snapshot.words(at: element, [element + 48, 0, next])
      }
      builder.snapshot(snapshot)
    }
  }

  private func leakedTree(of count: Int) throws -> [LeakTreeLine] {
    let recording = try list(of: count, heldAt: nil)
    let report = try LeaksReport(
      recording.analysis(2), source: recording.source, query: LeaksQuery())
    return try #require(report.treeGroups.first { $0.count == 2 * count }).trees[0]
  }

  @Test func ofLongListsTheFirstTwoAndTheLastHaveLines() throws {
    let tree = try leakedTree(of: 500)
    #expect(
      tree.map { $0.text(ByteStyle.human) } == [
        "1,000 (15.6K) ROOT LEAK: <malloc in insert 0x5003010> [24]",
        "1 (8 bytes) +0 --> <malloc in make_family 0x5003040> [8]",
        "998 (15.6K) +16 --> <malloc in insert 0x5003070> [24]",
        "1 (8 bytes) +0 --> <malloc in make_family 0x50030a0> [8]",
        "994 (15.5K) in a row, each at +16 of the one before",
        "2 (32 bytes) +16 --> <malloc in insert 0x500eb30> [24]",
        "1 (8 bytes) +0 --> <malloc in make_family 0x500eb60> [8]",
      ])
    #expect(tree.map(\.depth) == [0, 1, 1, 2, 2, 3, 4])
    #expect(tree[4].role == .row)
  }

  @Test(arguments: [(6, 12), (7, 7)])
  func shortListsAreWrittenOut(_ count: Int, _ lines: Int) throws {
    #expect(try leakedTree(of: count).count == lines)
  }

  @Test func holdersThatAreElementsOfAListAreNotWrittenOut() throws {
    let recording = try list(of: 100, heldAt: LeakRecording.cache + 8)
    let first = LeakRecording.heap + 0x3010
    let report = try TraceTreeReport(
      recording.analysis(2), address: first + 99 * 96, source: recording.source, limit: nil)
    #expect(report.holders.count == 100)
    let lines = report.text().split(separator: "\n")
    let tree = lines.drop { $0 != "Held by:" }.dropFirst()
    #expect(
      Array(tree) == [
        "    +16 of <malloc in insert 0x50054d0> [24]",
        "       +16 of <malloc in insert 0x5005470> [24]",
        "          … 96 more like it, in a row",
        "             +16 of <malloc in insert 0x5003010> [24]",
        "                variable hints in app",
      ])
  }

  @Test func whereHoldersAreLeftOutTheShortestWayToARootIsShown() throws {
    let recording = try list(of: 100, heldAt: LeakRecording.cache + 8)
    let first = LeakRecording.heap + 0x3010
    let report = try TraceTreeReport(
      recording.analysis(2), address: first + 2 * 96, source: recording.source, limit: 1)
    let tree = report.text().split(separator: "\n").drop { !$0.hasPrefix("Held by") }
    #expect(
      Array(tree) == [
        "Held by, on the shortest way to a root:",
        "    +16 of <malloc in insert 0x5003070> [24]",
        "    +16 of <malloc in insert 0x5003010> [24]",
        "    variable hints in app",
        "All that holds it:",
        "    +16 of <malloc in insert 0x5003070> [24]",
        "    … more holders; --top 0 shows all",
      ])
  }

  @Test func nobodyHoldsWhatIsNotThere() throws {
    #expect(throws: ReportError.self) {
      try TraceTreeReport(sample.analysis(), address: 8, source: sample.source, limit: nil)
    }
  }

  @Test func whatTheRootsHold() throws {
    try expectForms(
      ReferenceTreeReport(try sample.analysis(), source: sample.source, limit: nil),
      "reference-tree")
  }

  @Test func snapshotsAreFoundByMarkAndTime() throws {
    #expect(try sample.trace.snapshotIndex() == 1)
    #expect(try sample.trace.snapshotIndex(.moment("warm")) == 0)
    #expect(try sample.trace.snapshotIndex(.moment("40ms")) == 0)
    #expect(throws: ReportError.self) { try sample.trace.snapshotIndex(.moment("10ms")) }
    #expect(throws: ReportError.self) { try sample.trace.snapshotIndex(.moment("cold")) }
    #expect(try sample.trace.snapshotIndex(.number(0)) == 0)
    #expect(
      throws: ReportError.notFound("the trace has no snapshot 2: it has 0 to 1")
    ) { try sample.trace.snapshotIndex(.number(2)) }
  }

  @Test func whereNoSnapshotIsTheEndOfTheProcessSaysWhy() throws {
    let error = #expect(throws: ReportError.self) {
      try SampleRecording().trace.snapshotIndex()
    }
    let text = try #require(error?.description)
    #expect(text.contains("has no heap snapshot"))
    #expect(
      text.contains("the process \(EndingSummary(try SampleRecording().trace.ending).text); "))
  }

  @Test func whereNoSnapshotIsARecordingThatNeverBeganIsSaid() throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.header.endKind = UInt32(MT_END_EXIT.rawValue)
    builder.header.flags.insert(.pausable)
    let file = try TemporaryFile(builder.bytes())
    let error = #expect(throws: ReportError.self) {
      try Trace(path: file.path).snapshotIndex()
    }
    #expect(
      try #require(error?.description).hasSuffix(
        "; recording was paused all the time: 'memtrace resume PID' begins it"))
  }

  @Test func whereNoSnapshotIsACutFileIsSaid() throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.header.endKind = UInt32(MT_END_EXIT.rawValue)
    let file = try TemporaryFile(builder.bytes().dropLast(16))
    let error = #expect(throws: ReportError.self) {
      try Trace(path: file.path).snapshotIndex()
    }
    #expect(
      try #require(error?.description).hasSuffix(
        "; the file was cut: 16 bytes are missing at its end, where it may have been"))
  }

  @Test func whereNoSnapshotIsADamagedFileIsSaid() throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.header.endKind = UInt32(MT_END_EXIT.rawValue)
    var bytes = builder.bytes()
    bytes[4096] ^= 1
    let file = try TemporaryFile(bytes)
    let error = #expect(throws: ReportError.self) {
      try Trace(path: file.path).snapshotIndex()
    }
    #expect(
      try #require(error?.description).hasSuffix(
        "; the file is damaged in 1 place, where it may have been"))
  }

  @Test(arguments: [
    (MT_END_EXIT, "when the program ends by exit()"), (MT_END_UEXIT, "with MEMTRACE_SNAPSHOT of"),
    (MT_END_EXEC, "look into the trace of that program"), (MT_END_SIGNAL, "--snapshot-on-crash"),
    (MT_END_NONE, "--snapshot-interval"),
  ])
  func aWayToASnapshotFitsTheEndOfTheProcess(end: mt_end_kind, way: String) throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.header.endKind = UInt32(end.rawValue)
    let file = try builder.write()
    let error = #expect(throws: ReportError.self) {
      try Trace(path: file.path).snapshotIndex()
    }
    #expect(try #require(error?.description).contains(way))
  }

  @Test func noWayToASnapshotAtTheEndIsToldWhereTheProcessWasKilled() throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.header.endKind = UInt32(MT_END_SIGNAL.rawValue)
    builder.header.endStatus = 9
    let file = try TemporaryFile(builder.bytes())
    let error = #expect(throws: ReportError.self) {
      try Trace(path: file.path).snapshotIndex()
    }
    #expect(
      try #require(error?.description).hasSuffix(
        "the process was killed by signal 9 (SIGKILL); no process can take one then: take some "
          + "while it runs, with --snapshot-interval or --snapshot-on-request"))
  }

  @Test(arguments: [
    (UInt64(1), "1 byte"), (816, "816 bytes"), (1486, "1.45K"), (45_056, "44.0K"),
    (156_672, "153K"), (1_048_576, "1.00M"), (1_048_000, "1023K"),
  ])
  func bytesAsLeaksOfMacOSWritesThem(bytes: UInt64, text: String) {
    #expect(LeakBytes.text(bytes, .human) == text)
  }
}
