import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

@Suite struct SnapshotTests {
  /// A program with a heap, an image, two threads and words in several pages.
  private static func sample() -> TraceBuilder {
    var trace = TraceBuilder()
    trace.image(
      Image(
        index: 3, path: "/usr/bin/app", loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x40_8000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    trace.allocate(0x5000_0010, 32, time: 1005)
    var snapshot = SnapshotBuilder(time: 1010, reason: MT_SNAPSHOT_AT_EXIT, detail: 3)
    snapshot.region(0x40_0000..<0x40_4000, path: "/usr/bin/app", protection: .read, isKept: false)
    snapshot.region(0x40_4000..<0x40_8000)
    snapshot.region(0x5000_0000..<0x5001_0000, path: "[heap]")
    snapshot.region(0x7000_0000..<0x7000_4000)
    snapshot.region(0x7001_0000..<0x7001_4000)
    snapshot.region(0x7002_0000..<0x7002_4000, isRecorder: true)
    snapshot.region(0x7003_0000..<0x7003_4000, path: "/dev/shm/x", isShared: true)
    snapshot.region(0x7fff_0000..<0x7fff_4000, path: "[stack]")
    snapshot.region(0x7fff_8000..<0x7fff_a000, path: "[vdso]", protection: [.read, .execute])
    snapshot.thread(1, tid: 4711, sp: 0x7fff_2008, registers: [1, 2, .max], tlsBase: 0x7000_0740)
    snapshot.thread(2, tid: 4712, sp: 0x7001_3000, tlsBase: 0x7001_3f00)
    snapshot.words(at: 0x40_4ff8, [0x5000_0010])
    snapshot.words(at: 0x40_5000, [0x40_5000, 0x5000_0020])
    snapshot.words(at: 0x5000_0010, [0x5000_0020, 0, 3, 0x8000_0000_5000_0010, .max])
    snapshot.words(at: 0x5000_fff8, [7])
    trace.snapshot(snapshot)
    return trace
  }

  @Test func describesThreadsAndRegions() throws {
    try Self.sample().open { trace in
      let info = try #require(trace.snapshots.first)
      #expect(trace.snapshots.count == 1)
      #expect(info.time == EventTime(1010))
      #expect(info.reason == .exit(3))
      #expect(info.isComplete)
      #expect(info.pauseNanoseconds == 1_500_000)
      #expect(info.threads.map(\.thread) == [1, 2])
      #expect(info.threads[0].registers == [1, 2, .max])
      #expect(info.threads[0].stackStart == 0x7fff_1f88)
      #expect(
        info.regions.map(\.kind) == [
          .image, .image, .heap, .threadLocal, .stack, .recorder, .file, .stack, .kernel,
        ])
      #expect(info.regions.map(\.image) == [3, 3] + Array(repeating: nil, count: 7))
      #expect(info.regions.map(\.thread) == [nil, nil, nil, 1, 2, nil, nil, 1, nil])
      #expect(info.regions[6].isShared && info.regions[6].path == "/dev/shm/x")
      #expect(info.region(containing: 0x5000_ffff)?.kind == .heap)
      #expect(info.region(containing: 0x5001_0000) == nil)
    }
  }

  @Test func findsWordsByAddress() throws {
    try Self.sample().open { trace in
      let memory = try trace.loadSnapshot(0)
      #expect(memory.damagedRuns == 0)
      #expect(memory.wordCount == 8)
      #expect(memory.word(at: 0x40_4ff8) == 0x5000_0010)
      #expect(memory.word(at: 0x40_5000) == 0x40_5000)
      #expect(memory.word(at: 0x40_500f) == 0x5000_0020)
      #expect(memory.word(at: 0x5000_0018) == 0)
      #expect(memory.word(at: 0x5000_0028) == 0x8000_0000_5000_0010)
      #expect(memory.word(at: 0x5000_0030) == .max)
      #expect(memory.word(at: 0x5000_fff8) == 7)
      #expect(memory.word(at: 0) == 0)
      #expect(memory.word(at: .max) == 0)
      #expect(memory.isMapped(0x7fff_3fff))
      #expect(!memory.isMapped(0x7fff_4000))
    }
  }

  @Test func findsTheNextPageFromAnywhere() throws {
    let pages: [UInt64] = [3, 4, 5, 9, 0x7f00, 0x7f01]
    var snapshot = SnapshotBuilder(time: 1010)
    snapshot.region(0..<0x1000_0000)
    for page in pages { snapshot.words(at: page << 12 + 8, [page]) }
    var trace = TraceBuilder()
    trace.snapshot(snapshot)
    try trace.open { trace in
      let memory = try trace.loadSnapshot(0)
      for page in Array(0..<12) + Array(0x7efe..<0x7f04) as [UInt64] {
        let next = pages.first { $0 >= page }
        #expect(memory.firstKeptPage(from: page << 12) == next.map { $0 << 12 })
        #expect(memory.word(at: page << 12 + 8) == (next == page ? page : 0))
      }
    }
  }

  @Test func wordsThatThereIsNoMemoryForAreLeftOut() {
    // A word, and then bytes of which each is that word again.
    let run = [0x11, 0x02] + [UInt8](repeating: 0x01, count: 1023)
    let header: [UInt8] = [0, 0, 1, 0, 0, 0, 0, 0, 0x01, 0x04, 0, 0, 0, 0, 0, 0]
    let chunk =
      [UInt8](repeating: 0, count: ChunkHeader.size) + header + run
      + [UInt8](repeating: 0, count: SnapshotWordDecoder.guardLength)
    func decoded(memoryLimit: Int) -> SnapshotMemory {
      var decoder = SnapshotWordDecoder(
        regions: [SnapshotRegion(start: 0x1_0000, end: 0x10_0000)], expectedCount: .max,
        memoryLimit: memoryLimit)
      chunk.withUnsafeBytes { decoder.decode($0) }
      return decoder.memory
    }
    let page = 512 * 8 + 80
    let (all, cut) = (decoded(memoryLimit: page + 1), decoded(memoryLimit: page))
    #expect(all.wordCount == 1024 && !all.exceedsMemory && all.damagedRuns == 0)
    #expect(cut.wordCount == 512 && cut.exceedsMemory && cut.damagedRuns == 0)
    #expect(cut.word(at: 0x1_0ff8) == 1)
    #expect(ReaderMemory.wordLimit(available: 4 << 30) == 1 << 30)
  }

  @Test func visitsTheWordsOfARange() throws {
    try Self.sample().open { trace in
      let memory = try trace.loadSnapshot(0)
      func visited(_ range: Range<UInt64>) -> [UInt64] {
        var addresses: [UInt64] = []
        memory.forEachWord(in: range) { address, value in
          #expect(memory.word(at: address) == value)
          addresses.append(address)
        }
        return addresses
      }
      #expect(visited(0x40_4ff8..<0x40_5008) == [0x40_4ff8, 0x40_5000])
      #expect(visited(0x5000_0011..<0x5000_0028) == [0x5000_0020])
      #expect(visited(0x5000_0010..<0x5000_0011) == [0x5000_0010])
      #expect(visited(0x5000_0031..<0x5000_fff8) == [])
      #expect(visited(5..<5) == [])
      #expect(visited(0..<UInt64.max).count == 8)
    }
  }

  @Test func cutSnapshotIsNotComplete() throws {
    var trace = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 5, reason: MT_SNAPSHOT_AT_MARK, name: "loaded")
    snapshot.isComplete = false
    snapshot.region(0x1000..<0x2000)
    snapshot.words(at: 0x1000, [0x1008])
    trace.snapshot(snapshot)
    try trace.open { trace in
      #expect(!trace.snapshots[0].isComplete)
      #expect(trace.snapshots[0].reason == .mark("loaded"))
      let memory = try trace.loadSnapshot(0)
      #expect(memory.word(at: 0x1000) == 0x1008)
      #expect(throws: TraceError.self) { try trace.loadSnapshot(1) }
    }
  }

  @Test(
    arguments: [
      [0x71, 1, 2, 3],  // eight bytes of value, three there
      [0x80, 0x80],  // a gap that does not end
      [0x10, 0x00, 5],  // a gap of nothing: not even the first word
      [0x11, 2, 0x11, 2],  // at address 0, where nothing is mapped
    ] as [[UInt8]])
  func badRunIsPassedOver(_ bytes: [UInt8]) throws {
    var trace = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 5)
    snapshot.region(0x1000..<0x2000)
    snapshot.run(bytes)
    snapshot.words(at: 0x1ff8, [9])
    trace.snapshot(snapshot)
    try trace.open { trace in
      let memory = try trace.loadSnapshot(0)
      #expect(memory.damagedRuns == 1)
      #expect(memory.wordCount == 1)
      #expect(memory.word(at: 0x1ff8) == 9)
    }
  }

  @Test func threadsThatWentOnAreTold() throws {
    let states: [SnapshotThread.State] = [.taker, .parked, .blockingSignals, .silent, .unknown(9)]
    var trace = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 5)
    for (index, state) in states.enumerated() {
      snapshot.thread(UInt32(index), tid: 4711, state: state, sp: 0)
    }
    trace.snapshot(snapshot)
    try trace.open { trace in
      #expect(trace.snapshots[0].threads.map(\.state) == states)
      #expect(trace.snapshots[0].threads.map(\.stoodStill) == [true, true, false, false, false])
    }
  }

  @Test func formatExampleDecodesAsDocumented() throws {
    var trace = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 5)
    snapshot.region(0x5000..<0x6000)
    snapshot.words(at: 0x5580, [0x5590, 0, 0x55a0])
    trace.snapshot(snapshot)
    let bytes = trace.bytes()
    // After the chunk header and the run's: section 8.2 of docs/trace-format.md.
    #expect(Array(bytes[8192 + 64 + 16..<8192 + 64 + 20]) == [0x91, 0x20, 0x12, 0x20])
    try trace.open { trace in
      let memory = try trace.loadSnapshot(0)
      #expect(memory.word(at: 0x5580) == 0x5590)
      #expect(memory.word(at: 0x5590) == 0x55a0)
    }
  }

  /// Many pages, dense and sparse, against a dictionary.
  @Test func agreesWithADictionary() throws {
    var random = SeededGenerator(seed: 42)
    var expected: [UInt64: UInt64] = [:]
    for page in 0..<300 as Range<UInt64> {
      let base = page < 200 ? 0x10_0000 + page * 4096 : 0x4000_0000 + page * page * 4096
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        expected[base + .random(in: 0..<512, using: &random) * 8] =
          UInt64.random(in: 1 ... .max, using: &random)
          >> UInt64.random(in: 0..<64, using: &random) | 1
      }
    }
    var trace = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 5)
    snapshot.region(0x10_0000..<0x8000_0000)
    for (address, word) in expected { snapshot.words(at: address, [word]) }
    trace.snapshot(snapshot)
    try trace.open { trace in
      let memory = try trace.loadSnapshot(0)
      #expect(memory.wordCount == expected.count)
      #expect(expected.allSatisfy { memory.word(at: $0.key) == $0.value })
      var seen: [UInt64] = []
      memory.forEachWord(in: 0x10_0000..<0x8000_0000) { address, _ in seen.append(address) }
      #expect(seen == expected.keys.sorted())
      for _ in 0..<2000 {
        let address = UInt64.random(in: 0x10_0000..<0x5000_0000, using: &random) & ~7
        #expect(memory.word(at: address) == expected[address] ?? 0)
      }
    }
  }
}
