import CTraceFormat
import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// `dangling` of the built executable, on traces made by hand.
@Suite struct DanglingCommandTests {
  private let directory: ScratchDirectory

  /// A folder with `app.mtrace`: at the mark `early` nothing is freed, at the end a variable points to a block that is.
  init() throws {
    directory = try ScratchDirectory()
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x41_0000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    builder.thread(1, tid: 4711, name: "app")
    builder.allocate(0x500_0010, 48, time: 10)
    builder.allocate(0x500_0110, 16, time: 20)
    builder.snapshot(
      Self.snapshot(SnapshotBuilder(time: 30, reason: MT_SNAPSHOT_AT_MARK, name: "early")))
    builder.free(0x500_0110, time: 40)
    builder.snapshot(Self.snapshot(SnapshotBuilder(time: 100)))
    try write(builder, "app.mtrace")
    try write(TraceBuilder(), "none.mtrace")
  }

  private static func snapshot(_ snapshot: SnapshotBuilder) -> SnapshotBuilder {
    var snapshot = snapshot
    snapshot.region(0x40_4000..<0x40_5000, path: "/opt/app/app")
    snapshot.region(0x500_0000..<0x501_0000, path: "[heap]")
    snapshot.words(at: 0x40_4000, [0x500_0010, 0x500_0110])
    return snapshot
  }

  private func write(_ builder: TraceBuilder, _ name: String) throws {
    try Data(builder.bytes()).write(to: URL(filePath: directory.path.appending(name).string))
  }

  private func run(_ words: [String], status: Int32) throws -> ProcessRun {
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words,
      environment: ["PATH=/usr/bin:/bin", "COLUMNS=100", "LANG=C"], directory: directory.path)
    #expect(run.status == status, "\(words): \(run.errorText)")
    return run
  }

  @Test func theLastSnapshotCountsUnlessAnotherIsAskedFor() throws {
    let last = try run(["dangling", "app.mtrace"], status: 0).outputText
    #expect(
      last.hasPrefix(
        "Process 4711: no sure pointer into a freed block, and 1 possible one.\n"))
    #expect(last.contains("Next: memtrace history app.mtrace 0x5000110 "))
    let early = try run(["dangling", "app.mtrace", "--at", "early"], status: 0).outputText
    #expect(early.hasPrefix("Process 4711: no pointers into freed blocks.\n"))
  }

  @Test func theOtherForms() throws {
    let rows = try run(["dangling", "app.mtrace", "--format", "csv"], status: 0)
      .outputText.split(separator: "\r\n")
    #expect(rows.count == 2)
    #expect(
      rows[1].hasPrefix(
        "possible,1,variable app + 0x4008,variable,,0x404008,0x5000110,Malloc-16,1,16,start,"))
    let json = try run(["dangling", "app.mtrace", "--format", "json"], status: 0).outputText
    #expect(json.contains("\"schema\" : \"memtrace.dangling\""))
  }

  @Test func withoutASnapshotNothingCanBeFound() throws {
    let run = try run(["dangling", "none.mtrace"], status: 64)
    #expect(
      run.errorText.hasPrefix(
        "memtrace: none.mtrace has no heap snapshot, so pointers into freed blocks cannot be found: "
      ))
  }
}
