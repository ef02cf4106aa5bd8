import Testing
import TraceReader

/// Heap snapshots at the end of a process: whole, true, and unnoticed.
@Suite(.serialized) struct SnapshotTests {
  /// The addresses of the blocks of a size that were live at the end.
  static func liveBlocks(_ trace: Trace, size: UInt64) throws -> [UInt64] {
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    return try trace.replay(options).liveBlocks.filter { $0.size == size }
      .map(\.address.rawValue)
  }

  @Test func holdsThePointersOfTheHeap() throws {
    let run = try TracedRun([try TestProgram("snapshot_list.c").path.string])
    let trace = try run.root()
    let info = try #require(trace.snapshots.first)
    let memory = try trace.loadSnapshot(0)
    #expect(trace.snapshots.count == 1)
    #expect(info.reason == .exit(5))
    #expect(info.isComplete)
    #expect(info.skippedBytes == 0)
    #expect(memory.wordCount == Int(info.wordCount))
    #expect(memory.damagedRuns == 0)

    let holder = try #require(try Self.liveBlocks(trace, size: 31001).first)
    let nodes = Set(try Self.liveBlocks(trace, size: 31002))
    var seen = Set<UInt64>()
    var node = memory.word(at: holder)
    while node != 0, seen.insert(node).inserted { node = memory.word(at: node) }
    #expect(nodes.count == 1000)
    #expect(seen == nodes)
  }

  @Test func saysWhoHoldsWhat() throws {
    let run = try TracedRun([try TestProgram("snapshot_list.c").path.string])
    let trace = try run.root()
    let info = try #require(trace.snapshots.first)
    let memory = try trace.loadSnapshot(0)
    /// What kinds of memory hold the address, outside the heap.
    func holders(of address: UInt64) -> Set<SnapshotRegionKind> {
      var kinds = Set<SnapshotRegionKind>()
      for region in info.regions where region.kind != .heap {
        memory.forEachWord(in: region.start..<region.end) { place, word in
          if word == address, place >= info.threads[0].sp || region.kind != .stack {
            kinds.insert(region.kind)
          }
        }
      }
      return kinds
    }
    let holder = try #require(try Self.liveBlocks(trace, size: 31001).first)
    let local = try #require(try Self.liveBlocks(trace, size: 31003).first)
    #expect(holders(of: holder) == [.image])
    #expect(holders(of: local) == [.threadLocal])
    // The program's exit handler ran before.
    #expect(try Self.liveBlocks(trace, size: 31004).isEmpty)
    #expect(info.region(containing: holder)?.kind == .heap)
  }

  @Test func leavesTheRecorderOut() throws {
    let run = try TracedRun([try TestProgram("snapshot_list.c").path.string])
    let trace = try run.root()
    let info = try #require(trace.snapshots.first)
    let memory = try trace.loadSnapshot(0)
    let own = info.regions.filter { $0.kind == .recorder }
    let paths = own.compactMap(\.path)
    #expect(paths.contains { $0.hasSuffix("libmemtrace.so") })
    #expect(paths.contains { $0.hasSuffix(".mtrace") })
    let others = info.regions.filter { $0.kind != .recorder }.compactMap(\.path)
    #expect(!others.contains { $0.hasSuffix(".mtrace") })
    for region in own {
      memory.forEachWord(in: region.start..<region.end) { place, _ in
        Issue.record("a word of the recorder at \(place)")
      }
    }
  }

  @Test(arguments: [
    ("return", SnapshotReason.exit(11)), ("exit", .exit(12)), ("_exit", .underscoreExit(13)),
    ("_Exit", .underscoreExit(14)), ("quick_exit", .quickExit(15)), ("abort", .abort),
    ("thread", .exit(16)), ("main-thread-first", .exit(16)),
  ])
  func isTakenAtTheEnd(way: String, reason: SnapshotReason) throws {
    let program = try TestProgram("endings.c")
    let run = try TracedRun(
      [program.path.string, way], start: .preload(["MEMTRACE_OUTPUT=root.mtrace"]))
    let trace = try run.root()
    #expect(trace.snapshots.map(\.reason) == [reason])
    let info = try #require(trace.snapshots.first)
    #expect(info.isComplete)
    #expect(info.threads.allSatisfy { $0.stoodStill })
  }

  @Test func isNotTakenWhereItIsNotWanted() throws {
    let program = try TestProgram("endings.c")
    let run = try TracedRun(
      [program.path.string, "exit"], environment: ["MEMTRACE_SNAPSHOT_AT_EXIT=0"])
    #expect(try run.root().snapshots.isEmpty)
  }

  @Test func threadsDoNotNotice() throws {
    let run = try TracedRun([try TestProgram("snapshot_threads.c").path.string], timeout: 120)
    let info = try #require(try run.root().snapshots.first)
    #expect(run.recorded.status == 9)
    #expect(info.isComplete)
    #expect(info.threads.filter { $0.state == .taker }.count == 1)
    #expect(info.threads.filter { $0.state == .parked }.count == 40)
    #expect(info.threads.allSatisfy { info.region(containing: $0.sp)?.kind == .stack })
    #expect(info.threads.allSatisfy { $0.tlsBase != 0 })
  }
}
