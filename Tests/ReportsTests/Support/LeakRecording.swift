import CTraceFormat
import LeakAnalysis
import Symbolication
import SystemPackage
import TraceReader
import TraceTestSupport

@testable import Reports

/// A recording with two snapshots, one at a mark and one at the end, and one of everything that
/// the reports about leaks talk about.
///
/// ```
/// cache (variable) -> list -> node           reachable
/// hint (variable)  -> middle of text         possible
/// two blocks of demoMemoryLeak               root leaks, the second only at the end
/// Parent <-> Child -> name                   root cycle
/// a block of the dynamic loader              not counted
/// ```
struct LeakRecording {
  static let heap: UInt64 = 0x500_0000
  static let cache: UInt64 = 0x40_4010
  static let node = heap + 0x50
  /// Where `cache` points, too: free unless a test puts a block there.
  static let recorders = heap + 0x1010
  /// Where a block there points: likewise.
  static let heldByRecorder = heap + 0x1090

  let file: TemporaryFile
  let trace: Trace
  let symbolicator: FakeSymbolicator

  /// Makes the recording, with what `change` adds to it.
  init(_ change: (inout TraceBuilder) -> Void = { _ in }) throws {
    var builder = TraceBuilder()
    Self.describe(&builder)
    Self.fill(&builder)
    change(&builder)
    file = try builder.write()
    trace = try Trace(path: file.path)
    symbolicator = FakeSymbolicator()
    symbolicator.add("main", at: 0x40_1000, file: "/src/app.c", line: 10)
    symbolicator.add("demoMemoryLeak", at: 0x40_1100, file: "/src/demo.c", line: 21)
    symbolicator.add("make_family", at: 0x40_1200, file: "/src/family.c", line: 7)
    symbolicator.add("insert", at: 0x40_1300, file: "/src/list.c", line: 33)
    symbolicator.add("_dl_new_object", at: 0x7f_0000_1000, image: "/lib64/ld-linux-x86-64.so.2")
    symbolicator.addVariable("cache", at: Self.cache..<Self.cache + 8)
    symbolicator.addVariable("hints", at: Self.cache + 8..<Self.cache + 40)
  }

  private init(_ file: TemporaryFile, like other: LeakRecording) throws {
    self.file = file
    trace = try Trace(path: file.path)
    symbolicator = other.symbolicator
  }

  /// The same recording, packed.
  func packed() throws -> LeakRecording {
    try rewritten { file throws(TraceError) in
      _ = try TracePacker(trace, level: 3, symbols: []).write(to: file)
    }
  }

  /// The same recording, which is packed, unpacked again.
  func unpacked() throws -> LeakRecording {
    try rewritten { file throws(TraceError) in _ = try TraceUnpacker(trace).write(to: file) }
  }

  private func rewritten(
    _ write: (FileDescriptor) throws(TraceError) -> Void
  ) throws -> LeakRecording {
    let file = try TemporaryFile([])
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    defer { try? descriptor.close() }
    try write(descriptor)
    return try LeakRecording(file, like: self)
  }

  /// What reports read.
  var source: ReportSource {
    ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
  }

  /// The analysis of a snapshot.
  func analysis(_ snapshot: Int = 1) throws -> LeakAnalysis {
    LeakAnalysis(try trace.heap(atSnapshot: snapshot))
  }

  private static func describe(_ builder: inout TraceBuilder) {
    builder.header.startTicks = 0
    builder.header.endTicks = 80_000_000
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x41_0000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    builder.thread(1, tid: 4711, name: "app")
    for (id, name) in [(1, "app.Parent"), (2, "app.Child")] {
      builder.type(
        BlockType(
          id: TypeID(rawValue: UInt32(id)), kind: .swiftClass, name: name,
          words: [0x40_3000 + UInt64(id) * 0x100], definition: Address(0x40_2800),
          instanceSize: 32), code: MT_TYPE_SWIFT_CLASS.rawValue)
    }
  }

  private static func fill(_ builder: inout TraceBuilder) {
    let main: UInt64 = 0x40_1000
    let insert = builder.stack([0x40_1300, main])
    let demo = builder.stack([0x40_1100, main])
    let family = builder.stack([0x40_1200, main])
    let loader = builder.stack([0x7f_0000_1000, main])
    builder.allocate(heap + 0x10, 48, .init(rawValue: 10), stack: insert, time: 1_000_000)
    builder.allocate(node, 24, stack: insert, time: 2_000_000)
    builder.allocate(heap + 0x90, 100, stack: insert, time: 3_000_000)
    builder.allocate(heap + 0x110, 16, stack: demo, time: 10_000_000)
    builder.allocate(heap + 0x150, 32, stack: family, time: 20_000_000)
    builder.allocate(heap + 0x190, 32, stack: family, time: 21_000_000)
    builder.allocate(heap + 0x1d0, 1500, stack: family, time: 22_000_000)
    builder.allocate(heap + 0x810, 64, stack: loader, time: 23_000_000)
    builder.allocate(heap + 0x890, 16, stack: demo, time: 50_000_000)
    let warm = SnapshotBuilder(time: 30_000_000, reason: MT_SNAPSHOT_AT_MARK, name: "warm")
    builder.snapshot(filled(warm))
    builder.snapshot(filled(SnapshotBuilder(time: 79_000_000)))
  }

  /// One more snapshot of the same memory.
  static func snapshot(_ time: UInt64) -> SnapshotBuilder { filled(SnapshotBuilder(time: time)) }

  private static func filled(_ snapshot: SnapshotBuilder) -> SnapshotBuilder {
    var snapshot = snapshot
    snapshot.region(0x40_3000..<0x40_4000, path: "/opt/app/app", protection: .read)
    snapshot.region(0x40_4000..<0x40_5000, path: "/opt/app/app")
    snapshot.region(heap..<heap + 0x1_0000, path: "[heap]")
    snapshot.region(0x7ffe_0000_0000..<0x7ffe_0001_0000, path: "[stack]")
    snapshot.thread(1, tid: 4711, sp: 0x7ffe_0000_8000)
    snapshot.words(at: cache, [heap + 0x10, 0, heap + 0x90 + 40, recorders])
    snapshot.words(at: recorders, [heldByRecorder])
    snapshot.words(at: 0x7ffe_0000_8018, [heap + 0x10])
    snapshot.words(at: heap + 0x10, [0, 0, node])
    snapshot.words(at: heap + 0x150, [0x40_3100, 3, heap + 0x190])
    snapshot.words(at: heap + 0x190, [0x40_3200, 3, heap + 0x1d0, heap + 0x150])
    return snapshot
  }
}
