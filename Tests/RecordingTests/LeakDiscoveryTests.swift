import Foundation
import LeakAnalysis
import Testing
import TraceReader
import TraceTestSupport

/// What `leaks --format json` says of each snapshot.
struct DiscoveryDocument: Decodable {
  struct Sum: Decodable {
    var count, bytes: UInt64
  }
  struct Discovery: Decodable {
    var leaked, new: Sum
  }
  var discoveries: [Discovery]
}

/// Leaks that appear between the snapshots of a recorded program.
@Suite struct LeakDiscoveryTests {
  @Test func eachSnapshotSaysWhatIsNew() throws {
    let header = TestProgram.sources.removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Sources/CMemtrace/include")
    let run = try TracedRun(
      [try TestProgram("leaks_over_time.c", flags: ["-I\(header)"]).path.string])
    let trace = run.directory.path.appending("root.mtrace").string
    let leaks = [
      BuiltProducts.memtrace.string, "leaks", trace, "--size", "34000-34100",
    ]
    let json = try ProcessRun.run(leaks + ["--format", "json"])
    let document = try JSONDecoder().decode(DiscoveryDocument.self, from: Data(json.output))
    #expect(document.discoveries.map(\.leaked.count) == [0, 1, 1, 4, 4])
    #expect(document.discoveries.map(\.new.count) == [0, 1, 0, 3, 0])
    #expect(document.discoveries.map(\.leaked.bytes) == [0, 34001, 34001, 136_008, 136_008])

    let text = try ProcessRun.run(leaks).outputText
    let track = text.split(separator: "\n").drop { $0 != "Leaked bytes by discovery:" }
    #expect(track.dropFirst().first?.hasSuffix("  132.8 KiB") == true)
    #expect(track.filter { $0.contains("✗") }.count == 3)
  }

  @Test func informationListsTheSnapshots() throws {
    let header = TestProgram.sources.removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Sources/CMemtrace/include")
    let run = try TracedRun(
      [try TestProgram("leaks_over_time.c", flags: ["-I\(header)"]).path.string])
    let trace = try run.root()
    let live = try trace.liveTotals(at: trace.snapshots.map(\.time))
    for (info, total) in zip(trace.snapshots, live) {
      let blocks = try trace.heap(atSnapshot: info.index).blocks
      let own = (0..<blocks.count).filter { blocks.site(of: $0).thread == .recorder }
      #expect(own.isEmpty)
      #expect(blocks.count == Int(total.count))
    }
    let text = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "info", trace.path.string]
    ).outputText
    #expect(text.contains("\nHeap snapshots (5)\n"))
    for name in ["none", "one", "still one", "four"] {
      #expect(text.contains("when the program asked (\"\(name)\")"))
    }
    #expect(text.contains("at exit with status 0"))
  }
}
