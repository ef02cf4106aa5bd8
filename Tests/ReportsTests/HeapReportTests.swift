import CTraceFormat
import Symbolication
import Testing
import TraceTestSupport

@testable import Reports
@testable import TraceReader

/// The classes of a snapshot made by hand.
@Suite struct HeapReportTests {
  private let file: TemporaryFile
  private let trace: Trace
  private let symbolicator = FakeSymbolicator()

  init() throws {
    file = try Self.recording().write()
    trace = try Trace(path: file.path)
    symbolicator.add("main", at: 0x1000, image: "/opt/app/app")
    symbolicator.add("make", at: 0x1100, image: "/opt/app/app")
    symbolicator.add("parse", at: 0x1200, image: "/opt/app/app")
  }

  /// Two nodes by their words, one node by its stack alone, an error box, and two blocks of C.
  private static func recording() -> TraceBuilder {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0, start: Address(0x1000), end: Address(0x9000),
        textStart: Address(0x1000), textEnd: Address(0x2000)))
    builder.thread(1, tid: 7, name: "app")
    let make = builder.stack([0x1100, 0x1000])
    let parse = builder.stack([0x1200, 0x1000])
    let node = BlockType(
      id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.Node<Swift.Int>", words: [0x4010],
      definition: Address(0x4100), instanceSize: 32)
    let failure = BlockType(
      id: TypeID(rawValue: 2), kind: .swiftError, name: "app.Failure", words: [0x5010],
      definition: Address(0x5100))
    builder.type(node, code: 1)
    builder.type(failure, code: 4)
    builder.typed(TypeSighting(stack: make, size: 32, type: node.id))
    for index in UInt64(0)..<3 {
      builder.allocate(0x20_0000 + index * 64, 32, stack: make, time: 10 + index)
    }
    builder.allocate(0x20_0200, 56, stack: parse, time: 20)
    builder.allocate(0x20_0300, 100, stack: parse, time: 21)
    builder.allocate(0x20_0400, 1000, stack: parse, time: 22)
    var snapshot = SnapshotBuilder(time: 30)
    snapshot.region(0x20_0000..<0x20_1000, path: "[heap]")
    snapshot.words(at: 0x20_0000, [0x4010, 3])
    snapshot.words(at: 0x20_0040, [0x4010, 3])
    snapshot.words(at: 0x20_0200, [0x5010, 3, 0x5100])
    builder.snapshot(snapshot)
    builder.free(0x20_0000, stack: make, time: 40)
    return builder
  }

  /// Names and counts, as `app.Node<Int> 2`.
  private func rows(of builder: TraceBuilder) throws -> [String] {
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let report = try HeapReport(
      trace, source: ReportSource(trace, file: nil, symbolicator: symbolicator),
      query: HeapQuery())
    return report.rows.map { "\($0.name) \($0.count)" }.sorted()
  }

  /// A generic function allocates objects of many types with one stack, of which few were looked at.
  @Test func objectsAreNotNamedAfterOthersOfTheirStack() throws {
    var builder = Self.recording()
    let (make, fail) = (
      builder.stack([0x1100, 0x1000]), builder.stack([0x1200, 0x1100, 0x1000])
    )
    builder.typed(TypeSighting(stack: fail, size: 48, type: TypeID(rawValue: 2)))
    builder.allocate(0x20_0500, 32, stack: make, time: 50)
    builder.allocate(0x20_0600, 48, stack: fail, time: 51)
    builder.allocate(0x20_0700, 48, stack: fail, time: 52)
    var snapshot = SnapshotBuilder(time: 60)
    snapshot.region(0x20_0000..<0x20_1000, path: "[heap]")
    snapshot.words(at: 0x20_0500, [0x4210, 3])
    snapshot.words(at: 0x20_0600, [0x5010, 3, 0x5200])
    builder.snapshot(snapshot)
    #expect(
      try rows(of: builder) == [
        "Error box<app.Failure> 1", "app.Node<Int> 2", "malloc in make 1", "malloc in parse 4",
      ])
  }

  /// What the runtime of Swift keeps of types in tables of C++ may begin with the address of one.
  @Test func objectsOfSwiftAreNotAllocatedByOperatorNew() throws {
    var builder = Self.recording()
    let grow = builder.stack([0x1200, 0x1100, 0x1000])
    builder.typed(TypeSighting(stack: grow, size: 64, type: TypeID(rawValue: 1)))
    builder.allocate(0x20_0500, 64, Operation(MT_OP_NEW), stack: grow, time: 50)
    builder.allocate(0x20_0600, 64, Operation(MT_OP_NEW), stack: grow, time: 51)
    var snapshot = SnapshotBuilder(time: 60)
    snapshot.region(0x20_0000..<0x20_1000, path: "[heap]")
    snapshot.words(at: 0x20_0500, [0x4010, 0x20_0400])
    builder.snapshot(snapshot)
    #expect(
      try rows(of: builder) == [
        "app.Node<Int> 2", "malloc in parse 3", "operator new in parse 2",
      ])
  }

  /// The program allocated them by functions of its own.
  @Test func announcedBlocksAreNotCalledByTheFunctionOfMemtrace() throws {
    var builder = Self.recording()
    let take = builder.stack([0x1200, 0x1100, 0x1000])
    builder.noteAnnounced()
    builder.announce(0x20_0400 + 64, 48, stack: take, time: 50)
    var snapshot = SnapshotBuilder(time: 60)
    snapshot.region(0x20_0000..<0x20_1000, path: "[heap]")
    builder.snapshot(snapshot)
    #expect(
      try rows(of: builder) == ["app.Node<Int> 2", "malloc in parse 3", "pool block in parse 1"])
  }

  @Test func pythonObjectsHaveTheirClass() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1100])
    let (list, node, heap): (UInt64, UInt64, UInt64) = (0x7f00_1000, 0x50_0100, 0x50_0000)
    // A plain object, one with the collector's links, one with two more words; an array with a
    // class in it, a block too small for its class, and the class of an unknown kind.
    for (index, size) in [UInt64(32), 72, 96, 64, 8, 32].enumerated() {
      builder.allocate(0x50_1000 + UInt64(index) * 0x100, size, stack: stack, time: 10)
    }
    var snapshot = SnapshotBuilder(time: 30)
    snapshot.region(heap..<heap + 0x1_0000, path: "[heap]")
    snapshot.addClass("list", at: list)
    snapshot.addClass("Node", at: node)
    snapshot.addClass("Other", at: 0x50_0200, kind: 99)
    snapshot.words(at: 0x50_1000, [0, list])
    snapshot.words(at: 0x50_1100, [heap + 0x20, heap + 0x40, 2, node])
    snapshot.words(at: 0x50_1200, [heap + 0x20, 0, heap + 0x20, heap + 0x40, 1, node])
    snapshot.words(at: 0x50_1300, [heap + 0x60, node, heap + 0x80, list])
    snapshot.words(at: 0x50_1400, [0, list])
    snapshot.words(at: 0x50_1500, [1, 0x50_0200])
    builder.snapshot(snapshot)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    let report = try HeapReport(trace, source: source, query: HeapQuery())
    let python = report.rows.filter { $0.language == "Python" }
    #expect(python.map { "\($0.name) \($0.count) \($0.bytes)" } == ["Node 2 168", "list 1 32"])
    #expect(report.totalCount == 6)
    let types = SnapshotTypeNames(source)
    let image = try trace.heap(atSnapshot: 0)
    #expect(types.category(of: 1, in: image).name == "Node")
    #expect(types.category(of: 3, in: image).name == "Malloc-64")
  }

  /// What a freed object has left in memory that an extension then gets says nothing of its block.
  @Test func objectsOfPythonAreAllocatedByItsRuntime() throws {
    var builder = TraceBuilder()
    let (runtime, library) = ("/usr/lib/libpython3.11.so.1.0", "/opt/app/ext.so")
    let symbols = FakeSymbolicator()
    symbols.add("PyObject_Malloc", at: 0x3100, image: runtime)
    symbols.add("make", at: 0x5100, image: library)
    for (index, (path, start)) in [(runtime, UInt64(0x3000)), (library, 0x5000)].enumerated() {
      builder.image(
        Image(
          index: UInt32(index), path: path, loadBias: 0, start: Address(start),
          end: Address(start + 0x1000), textStart: Address(start),
          textEnd: Address(start + 0x800)))
    }
    for (index, pc) in [UInt64(0x3100), 0x5100].enumerated() {
      builder.allocate(
        0x50_1000 + UInt64(index) * 0x100, 32, stack: builder.stack([pc, 0x5200]), time: 10)
    }
    var snapshot = SnapshotBuilder(time: 30)
    snapshot.region(0x50_0000..<0x51_0000, path: "[heap]")
    snapshot.addClass("type", at: 0x3900)
    snapshot.addClass("list", at: 0x3a00)
    snapshot.words(at: 0x50_1000, [0, 0x3a00])
    snapshot.words(at: 0x50_1100, [0, 0x3a00])
    builder.snapshot(snapshot)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: symbols)
    let report = try HeapReport(trace, source: source, query: HeapQuery())
    #expect(report.rows.map(\.name).sorted() == ["list", "malloc in make"])
  }

  /// They have no metadata, which would tell where they are from.
  @Test func blocksOfTheSwiftRuntimeAreOfTheLibraryThatAllocatedThem() throws {
    var builder = TraceBuilder()
    let runtime = "/usr/lib/swift/linux/libswiftCore.so"
    let symbols = FakeSymbolicator()
    symbols.add("_ZN5swift9RefCountsINS_1AEE17allocateSideTableEb", at: 0x3100, image: runtime)
    symbols.add("main", at: 0x1000, image: "/opt/app/app")
    builder.image(
      Image(
        index: 0, path: runtime, loadBias: 0, start: Address(0x3000), end: Address(0x4000),
        textStart: Address(0x3000), textEnd: Address(0x4000)))
    builder.type(
      BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.Node", words: [0x4010],
        definition: Address(0x3200), instanceSize: 32), code: 1)
    builder.allocate(0x50_1000, 32, stack: builder.stack([0x3100, 0x1000]), time: 10)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let report = try HeapReport(
      trace, source: ReportSource(trace, file: nil, symbolicator: symbols), query: HeapQuery())
    #expect(report.rows.map(\.name) == ["Swift side table"])
    #expect(report.rows.first?.image == runtime)
  }

  /// One by its table of virtual functions, one by the function that made it.
  @Test func aClassHasOneRowWhereverItsNameComesFrom() throws {
    var builder = TraceBuilder()
    let app = "/opt/app/app"
    let symbols = FakeSymbolicator()
    symbols.add("main", at: 0x1000, image: app)
    symbols.add(
      "_ZSt11make_uniqueI1PJEENSt8__detail9_MakeUniqIT_E15__single_objectEDpOT0_", at: 0x1100,
      image: app)
    symbols.add(
      "_ZSt11make_uniqueIA_1PENSt8__detail9_MakeUniqIT_E7__arrayEm", at: 0x1200, image: app)
    builder.image(
      Image(
        index: 0, path: app, loadBias: 0, start: Address(0x1000), end: Address(0x9000),
        textStart: Address(0x1000), textEnd: Address(0x2000)))
    let type = BlockType(
      id: TypeID(rawValue: 1), kind: .cxxClass, name: "1P", words: [0x4010],
      definition: Address(0x4100), instanceSize: 0)
    builder.type(type, code: UInt32(MT_TYPE_CXX_CLASS.rawValue))
    let (plain, made) = (builder.stack([0x1000]), builder.stack([0x1100, 0x1000]))
    builder.typed(TypeSighting(stack: plain, size: 16, type: type.id))
    let new = Operation(rawValue: 10)
    builder.allocate(0x50_1000, 16, new, stack: plain, time: 10)
    builder.allocate(0x50_2000, 16, new, stack: made, time: 11)
    builder.allocate(0x50_3000, 64, new, stack: builder.stack([0x1200, 0x1000]), time: 12)
    builder.allocate(0x50_4000, 99, new, stack: builder.stack([0x1000]), time: 13)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let rows = try HeapReport(
      trace, source: ReportSource(trace, file: nil, symbolicator: symbols), query: HeapQuery()
    ).rows
    #expect(
      rows.map { "\($0.name) \($0.count) \($0.bytes) \($0.language) \($0.image ?? "")" }.sorted()
        == [
          "P 2 32 C++ /opt/app/app", "P[] 1 64 C++ /opt/app/app",
          "operator new in main 1 99 C++ /opt/app/app",
        ])
  }

  /// No image defines them, so it is the one that uses them, where there is only one.
  @Test func containersAreOfWhoUsesThem() throws {
    var builder = TraceBuilder()
    let symbols = FakeSymbolicator()
    let make = "_ZSt11make_uniqueIA_1PENSt8__detail9_MakeUniqIT_E7__arrayEm"
    let other = "_ZSt11make_uniqueIA_1QENSt8__detail9_MakeUniqIT_E7__arrayEm"
    for (index, name) in ["app", "libapp.so"].enumerated() {
      let start = UInt64(index + 1) * 0x1_0000
      symbols.add("main", at: start + 0x100, image: "/opt/\(name)")
      symbols.add(make, at: start + 0x200, image: "/opt/\(name)")
      symbols.add(other, at: start + 0x300, image: "/opt/\(name)")
      builder.image(
        Image(
          index: UInt32(index), path: "/opt/\(name)", loadBias: 0, start: Address(start),
          end: Address(start + 0x1000), textStart: Address(start), textEnd: Address(start + 0x1000))
      )
    }
    builder.image(
      Image(
        index: 2, path: "/usr/lib/libstdc++.so.6", loadBias: 0, start: Address(0x3_0000),
        end: Address(0x3_1000), textStart: Address(0x3_0000), textEnd: Address(0x3_1000)))
    let new = Operation(rawValue: 10)
    for (index, leaf) in [UInt64(0x1_0200), 0x2_0200, 0x2_0300].enumerated() {
      builder.allocate(
        0x50_1000 + UInt64(index) * 0x100, 64, new,
        stack: builder.stack([leaf, leaf & 0xf_0000 + 0x100]), time: 10)
    }
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let report = try HeapReport(
      trace, source: ReportSource(trace, file: nil, symbolicator: symbols), query: HeapQuery())
    #expect(
      report.rows.map { "\($0.name) \($0.count) \($0.image ?? "")" }
        == ["P[] 2 ", "Q[] 1 /opt/libapp.so"])
    var page = TextPage()
    report.write(to: &page)
    #expect(page.text.contains("P[]         C++   < multiple >"))
    #expect(page.text.contains("Q[]         C++   libapp.so"))
  }

  @Test func instancesOfGObjectHaveTheirClass() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1100])
    let (plain, data): (UInt64, UInt64) = (0x50_0100, 0x50_0200)
    // One at the beginning; one behind its private data, in which a class is; a table of classes, a
    // block too small, and one at the end of all addresses, as only a damaged trace has it.
    builder.allocate(0xffff_ffff_ffff_fff0, 39, stack: stack, time: 10)
    for (index, size) in [UInt64(32), 80, 48, 16].enumerated() {
      builder.allocate(0x50_1000 + UInt64(index) * 0x100, size, stack: stack, time: 10)
    }
    var snapshot = SnapshotBuilder(time: 30)
    snapshot.region(0x50_0000..<0x51_0000, path: "[heap]")
    snapshot.addClass("SamplePlain", at: plain, kind: 2)
    snapshot.addClass("SamplePrivate", at: data, kind: 2)
    snapshot.words(at: 0x50_1000, [plain, 3])
    snapshot.words(at: 0x50_1100, [0x50_1000, plain, 0, 0, 0, 0, data])
    snapshot.words(at: 0x50_1200, [0, 0, plain, data, data, plain])
    snapshot.words(at: 0x50_1300, [plain, 1])
    builder.snapshot(snapshot)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    let report = try HeapReport(trace, source: source, query: HeapQuery())
    #expect(report.text().contains("Found:  2 GObject classes\n"))
    let rows = report.rows
    #expect(
      rows.filter { $0.language == "GObject" }.map { "\($0.name) \($0.count) \($0.bytes)" }
        == ["SamplePrivate 1 80", "SamplePlain 1 32"])
  }

  private func report(_ change: (inout HeapQuery) -> Void = { _ in }) throws -> HeapReport {
    try report(on: trace, change)
  }

  private func report(
    on trace: Trace, _ change: (inout HeapQuery) -> Void = { _ in }
  ) throws -> HeapReport {
    var query = HeapQuery()
    change(&query)
    let source = ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
    return try HeapReport(trace, source: source, query: query)
  }

  @Test func classesAreCountedAsOfTheSnapshot() throws {
    let report = try report()
    #expect(report.snapshot?.index == 0)
    #expect(report.totalCount == 6)
    #expect(report.totalBytes == 3 * 32 + 56 + 1100)
    #expect(
      report.rows.map(\.name) == ["app.Node<Int>", "malloc in parse", "Error box<app.Failure>"])
    #expect(report.rows.map(\.count) == [3, 2, 1])
    #expect(report.rows.map(\.bytes) == [96, 1100, 56])
    #expect(report.rows.map(\.seenCount) == [2, 0, 1])
    #expect(report.rows.map(\.language) == ["Swift", "C", "Swift"])
  }

  @Test func blocksAreListedByAddress() throws {
    let report = try report { ($0.listsObjects, $0.top) = (true, 4) }
    #expect(report.objectCount == 6)
    #expect(report.objects.count == 4)
    #expect(report.objects.map(\.address) == [0x20_0000, 0x20_0040, 0x20_0080, 0x20_0200])
    #expect(report.objects.map(\.name).last == "Error box<app.Failure>")
    // Those of a class, found behind others.
    let boxes = try self.report { ($0.listsObjects, $0.name) = (true, "Error*") }
    #expect(boxes.objectCount == 1)
    #expect(boxes.objects.map(\.address) == [0x20_0200])
    #expect(try self.report().objects.isEmpty)
  }

  @Test func blocksFitANarrowTerminal() throws {
    let text = try report { ($0.listsObjects, $0.top) = (true, 4) }.text(width: 40)
    let table = text.split(separator: "\n").drop { !$0.contains("ADDRESS") }
    #expect(
      table.prefix(5).joined(separator: "\n") == """
        ADDRESS  SIZE STRONG WEAK CLASS_NAME
        0x200000   32             app.Node<Int>
        0x200040   32             app.Node<Int>
        0x200080   32             app.Node<Int>
        0x200200   56             Error b…ilure>
        """)
  }

  /// Without a snapshot the blocks come in the order of allocation.
  @Test func liveBlocksAreListedByAddress() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1100])
    for index in UInt64(0)..<100 {
      builder.allocate(0x60_0000 - index * 64, index, stack: stack, time: 10 + index)
    }
    builder.free(0x60_0000 - 98 * 64, stack: stack, time: 200)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    let result = try trace.replay(options)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    var query = HeapQuery()
    (query.listsObjects, query.top) = (true, 3)
    // Twice: the blocks of a result that somebody has are not sorted in place.
    for _ in 0..<2 {
      let report = try HeapReport(result, source: source, query: query)
      #expect(report.objects.map(\.size) == [99, 97, 96])
      #expect(report.objectCount == 99)
    }
    #expect(result.liveBlocks.map(\.size) == (0..<100).filter { $0 != 98 })
  }

  @Test func theTextAndTheDocumentsAreExact() throws {
    expectSnapshot(try report().text(), "heap.txt")
    expectSnapshot(try ReportWriter(format: .json).output(of: report()), "heap.json")
    expectSnapshot(try ReportWriter(format: .csv).output(of: report()), "heap.csv")
  }

  @Test func sizesCanHaveRowsOfTheirOwn() throws {
    let rows = try report {
      $0.separatesSizes = true
      $0.order = .bytes
      $0.name = "malloc in *"
    }.rows
    #expect(rows.map(\.size) == [1000, 100])
  }

  @Test func whatIsNotThereIsSaid() throws {
    #expect(throws: ReportError.notFound("the trace has no snapshot 1: it has only snapshot 0")) {
      try report { $0.snapshot = .number(1) }
    }
    #expect(throws: ReportError.self) { try report { $0.name = "Nobody" } }
  }

  @Test func withoutASnapshotTypesFollowFromStacks() throws {
    let source = ReportSource(trace, file: nil, symbolicator: symbolicator)
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    let report = try HeapReport(trace.replay(options), source: source, query: HeapQuery())
    #expect(report.snapshot == nil)
    #expect(report.rows.map(\.name) == ["malloc in parse", "app.Node<Int>"])
    #expect(report.rows.map(\.count) == [3, 2])
    #expect(report.rows.map(\.seenCount) == [0, 0])
  }

  @Test func theSumsAreOfAllRowsWhateverIsShown() throws {
    let all = try report()
    #expect(all.classes.map(\.language) == ["Swift"])
    #expect(all.classes.map(\.count) == [2])
    #expect(all.seenCount == 3)
    #expect(all.derivedCount == 3)
    let text = try report { $0.top = 1 }.text()
    #expect(text.contains("Found:  2 Swift classes\n"))
    #expect(text.contains("The types of 3 blocks were read in the blocks themselves; those of 3 "))
  }

  @Test func aSampleIsWeighted() throws {
    var builder = Self.recording()
    builder.header.sampleInterval = 64
    let file = try builder.write()
    let report = try report(on: Trace(path: file.path))
    // One block of s bytes stands for 1 / (1 - exp(-(s + 1) / 64)): 2.480 of 32, 1.696 of 56, 1.260
    // of 100 and 1.000 of 1000.
    #expect(
      report.rows.map(\.name) == ["app.Node<Int>", "malloc in parse", "Error box<app.Failure>"])
    #expect(report.rows.map(\.count) == [7, 2, 2])
    #expect(report.rows.map(\.bytes) == [238, 1126, 95])
    #expect(report.rows.map(\.seenCount) == [5, 0, 2])
    #expect(report.totalCount == 11)
    #expect(report.totalBytes == 1459)
    #expect(report.rows.allSatisfy { ($0.countMargin ?? 0) > 0 })
    #expect((report.totalBytesMargin ?? 0) > 0)
    let text = report.text()
    #expect(text.contains("Estimated from a sample of 1 in 64 B; ± is the margin"))
    #expect(text.contains("7 ±"))
    let csv = try ReportWriter(format: .csv).output(of: report)
    #expect(
      csv.hasPrefix("Count,Bytes,Average,Class,Full Name,Type,Binary,Size,Seen,Count Margin,"))
  }

  /// The second snapshot was cut: as for leaks, the whole one before it counts.
  @Test func aCutSnapshotIsTakenOnlyWhenAskedFor() throws {
    var builder = Self.recording()
    var cut = SnapshotBuilder(time: 50)
    cut.isComplete = false
    builder.snapshot(cut)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    #expect(trace.snapshots.map(\.isComplete) == [true, false])
    #expect(try report(on: trace).snapshot?.index == 0)
    #expect(try report(on: trace) { $0.snapshot = .number(1) }.snapshot?.index == 1)
    #expect(try trace.snapshotIndex() == 0)
    #expect(try report(on: trace) { $0.snapshot = .moment("100%") }.snapshot?.index == 1)
  }

  @Test func withoutASnapshotNoneCanBeChosen() throws {
    let trace = try SampleRecording().trace
    for (choice, error) in [
      (SnapshotChoice.number(0), "the trace has no snapshot 0: it has none"),
      (.moment("50%"), "the trace has no snapshot up to 50%: it has none"),
    ] {
      #expect(throws: ReportError.notFound(error)) {
        try report(on: trace) { $0.snapshot = choice }
      }
    }
  }
}
