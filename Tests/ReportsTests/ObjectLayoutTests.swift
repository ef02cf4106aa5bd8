import CTraceFormat
import LeakAnalysis
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// What the names of Swift's own classes tell of their objects.
@Suite struct ObjectLayoutTests {
  private static let (heap, globals, metadata): (UInt64, UInt64, UInt64) =
    (0x500_0000, 0x40_4000, 0x40_3000)

  /// The blocks of a trace that are leaked: an object of a class with 48 bytes is held, and leads from the word
  /// behind them to another block.
  private func leaked(nextTo name: String) throws -> [UInt64] {
    var builder = TraceBuilder()
    builder.header.flags.formUnion([.usableSizes, .usableSizesOfObjects])
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x41_0000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    builder.type(
      BlockType(
        id: TypeID(rawValue: 1), kind: .swiftClass, name: name, words: [Self.metadata],
        definition: Address(0x40_2800), instanceSize: 24), code: MT_TYPE_SWIFT_CLASS.rawValue)
    builder.allocate(Self.heap + 0x10, 48, time: 1)
    builder.allocate(Self.heap + 0x50, 32, time: 2)
    var snapshot = SnapshotBuilder(time: 10)
    snapshot.region(0x40_3000..<0x40_4000, path: "/opt/app/app", protection: .read)
    snapshot.region(Self.globals..<Self.globals + 0x1000, path: "/opt/app/app")
    snapshot.region(Self.heap..<Self.heap + 0x1_0000, path: "[heap]")
    snapshot.words(at: Self.globals, [Self.heap + 0x10])
    snapshot.words(
      at: Self.heap + 0x10, [Self.metadata, 3, 0, 0, 0, 0, Self.heap + 0x50])
    builder.snapshot(snapshot)
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    let analysis = try trace.leakAnalysis(atSnapshot: 0, source: source)
    return (0..<analysis.heap.blocks.count).filter {
      analysis.reachability.state(of: $0) == .unreached
    }.map { analysis.heap.blocks.address(of: $0) }
  }

  @Test(
    "What stands behind the components of a key path was there before",
    arguments: ["Key", "PartialKey", "WritableKey", "ReferenceWritableKey"])
  func keyPaths(_ kind: String) throws {
    #expect(try leaked(nextTo: "Swift.\(kind)Path<app.Node, Swift.Int>") == [Self.heap + 0x50])
  }

  @Test("Behind the elements of other classes there may be more")
  func buffers() throws {
    #expect(try leaked(nextTo: "Swift.ManagedBuffer<Swift.Int, app.Node>") == [])
  }
}
