import Testing
import TraceReader

/// Heap snapshots at the end of a process: whole, true, and unnoticed.
@Suite(.serialized) struct SnapshotTests {
  /// The addresses of the blocks of a size that were live at the end.
  private static func liveBlocks(_ trace: Trace, size: UInt64) throws -> [UInt64] {
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

  @Test func sayWhoHoldsWhat() throws {
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
    #expect(own.contains { $0.path?.hasSuffix("libmemtrace.so") == true })
    #expect(own.contains { $0.path?.hasSuffix(".mtrace") == true })
    #expect(
      !info.regions.contains { $0.kind != .recorder && $0.path?.hasSuffix(".mtrace") == true })
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
    #expect(trace.snapshots.first?.isComplete == true)
    #expect(trace.snapshots.first?.threads.allSatisfy(\.stoodStill) == true)
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

  /// Compiled with `memtrace.h`, which programs need nothing else for.
  private static func hazards() throws -> TestProgram {
    let header = TestProgram.sources.removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Sources/CInterpose/include")
    return try TestProgram("snapshot_hazards.c", flags: ["-I\(header)"])
  }

  @Test(arguments: [
    // Snapshots taken by the program, with the one at its end.
    ("not-dumpable", 1), ("threads", 21), ("children", 21), ("ids", 21), ("handlers", 21),
    ("vfork", 1), ("wait", 21), ("in-handler", 1),
  ])
  func hazardIsSurvived(which: String, count: Int) throws {
    let run = try TracedRun([try Self.hazards().path.string, which], timeout: 120)
    let trace = try run.root()
    #expect(trace.snapshots.count == count)
    #expect(trace.snapshots.allSatisfy(\.isComplete))
    #expect(trace.header.snapshotsDone == UInt32(count))
    // Ten blocks that a global array holds.
    let memory = try trace.loadSnapshot(count - 1)
    let blocks = Set(try Self.liveBlocks(trace, size: 32001))
    var held = Set<UInt64>()
    for region in trace.snapshots[count - 1].regions where region.kind == .image {
      memory.forEachWord(in: region.start..<region.end) { _, word in
        if blocks.contains(word) { held.insert(word) }
      }
    }
    #expect(blocks.count == 10)
    #expect(held == blocks)
  }

  @Test func childrenHaveSnapshotsOfTheirOwn() throws {
    let run = try TracedRun([try Self.hazards().path.string, "children"], timeout: 120)
    let children = try run.traces.map { try Trace(path: $0) }.filter {
      $0.header.flags.contains(.forked)
    }
    #expect(!children.isEmpty)
    #expect(children.allSatisfy { $0.snapshots.map(\.reason) == [.underscoreExit(3)] })
  }
}
