import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Retains and releases of traces made by hand.
@Suite struct RefcountReaderTests {
  private func read(_ builder: TraceBuilder) throws -> (events: [RefcountEvent], damage: [Damage]) {
    let file = try builder.write()
    return try withExtendedLifetime(file) {
      var events: [RefcountEvent] = []
      let damage = try Trace(path: file.path).forEachRefcount {
        events.append($0)
        return true
      }
      return (events, damage)
    }
  }

  @Test func eventsOfAllThreadsComeInTheOrderOfTheirTimes() throws {
    var builder = TraceBuilder()
    for time in UInt64(2000)..<2600 {
      builder.count(
        .retain, 0x1000 + time % 5 * 64, count: time, stack: StackID(UInt32(time % 7) + 2),
        thread: UInt32(time % 3) + 1, time: time)
    }
    let (events, damage) = try read(builder)
    #expect(events.map(\.time.rawValue) == Array(2000..<2600))
    #expect(events.map(\.thread.rawValue) == (2000..<2600).map { UInt32($0 % 3) + 1 })
    #expect(events.map(\.count) == Array(2000..<2600))
    #expect(damage == [])
  }

  @Test func otherReportsDoNotSeeThem() throws {
    var builder = TraceBuilder()
    builder.allocate(0x1000, 32, time: 2000)
    let plain = try builder.write()
    builder.count(.retain, 0x1000, count: 1, time: 2001)
    let counted = try builder.write()
    try withExtendedLifetime((plain, counted)) {
      let (one, other) = (try Trace(path: plain.path), try Trace(path: counted.path))
      #expect(!one.hasRefcounts && other.hasRefcounts)
      #expect(try one.replay().total == other.replay().total)
      #expect(other.coverage == one.coverage)
    }
  }

  @Test func theRecordsSayWhatWasRecorded() throws {
    var builder = TraceBuilder()
    builder.refcounts(MT_REFCOUNTS_ASKED, patterns: "Node,A*")
    builder.refcounts(MT_REFCOUNTS_OFF, patterns: "Node,A*", text: "/bin/app: it is stripped")
    builder.refcounts(MT_REFCOUNTS_ON, patterns: "Node,A*", text: "/lib/libswiftCore.so")
    let file = try builder.write()
    try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      #expect(
        trace.refcountRecording
          == RefcountRecording(
            patterns: "Node,A*", runtimes: ["/lib/libswiftCore.so"],
            refusals: ["/bin/app: it is stripped"]))
      #expect(trace.coverage.refcountRefusals == ["/bin/app: it is stripped"])
    }
  }

  @Test(
    arguments: [
      // Site 3, call written, distance, count written; but call 9.
      [0x3f, 1, 0, 4, 9, 2, 1], [0x80, 1], [0x20, 1], [0xff], [0x01, 1],
      [0x3f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
    ] as [[UInt8]])
  func whatIsNoEventEndsTheChunk(bytes: [UInt8]) throws {
    var builder = TraceBuilder()
    builder.appendChunk(
      bytes, encoding: MT_ENCODING_PREDICTED.rawValue, baseTime: 2000, kind: MT_CHUNK_REFCOUNTS)
    builder.count(.retain, 0x1000, count: 1, thread: 2, time: 3000)
    let (events, damage) = try read(builder)
    #expect(events.map(\.time.rawValue) == [3000])
    #expect(damage.count == 1)
  }

  @Test func anyBytesAreRead() throws {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<200 {
      var builder = TraceBuilder()
      let bytes = (0..<600).map { _ in UInt8.random(in: 0...255, using: &random) }
      builder.appendChunk(
        bytes, encoding: MT_ENCODING_PREDICTED.rawValue, baseTime: .max - 100,
        kind: MT_CHUNK_REFCOUNTS)
      let (events, _) = try read(builder)
      #expect(events.count < 600)
    }
  }

  @Test func aCutTraceHasTheEventsBeforeTheCut() throws {
    var builder = TraceBuilder()
    for time in UInt64(2000)..<2600 { builder.count(.retain, 0x1000, count: 1, time: time) }
    let bytes = builder.bytes()
    let end = try #require(bytes.lastIndex { $0 != 0 })
    let file = try TemporaryFile(Array(bytes[..<(end - 1000)]))
    try withExtendedLifetime(file) {
      var count = 0
      let damage = try Trace(path: file.path).forEachRefcount { event in
        #expect(event.time.rawValue == 2000 + UInt64(count))
        count += 1
        return true
      }
      #expect(count > 300 && count < 600)
      #expect(damage == [])
    }
  }

  // MARK: Over-releases

  private func errors(_ builder: TraceBuilder) throws -> [MemoryError] {
    let file = try builder.write()
    return try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      var result = try trace.replay()
      trace.addOverreleases(to: &result)
      #expect(result.errorCounts.values.reduce(0, +) == result.errors.reduce(0) { $0 + $1.count })
      return result.errors
    }
  }

  @Test func aReleaseAfterTheFreeIsAnError() throws {
    var builder = TraceBuilder()
    let (make, drop, again) = (
      builder.stack([0x1100]), builder.stack([0x1200]), builder.stack([0x1300])
    )
    builder.allocate(0x8000, 32, stack: make, time: 2000)
    builder.count(.retain, 0x8000, count: 1, stack: drop, time: 2010)
    builder.count(.release, 0x8000, count: 2, stack: drop, time: 2020)
    builder.count(.release, 0x8000, count: 1, stack: drop, time: 2030)
    builder.free(0x8000, stack: drop, time: 2030)
    builder.count(.release, 0x8000, count: 77, stack: again, time: 2040)
    let found = try errors(builder)
    let error = try #require(found.first)
    #expect(found.count == 1 && error.kind == .overRelease)
    #expect(error.block?.allocation.stack == make && error.firstFree?.stack == drop)
    #expect(error.offending.stack == again && error.offending.operation.name == "swift_release")
    #expect(error.refcounts.map(\.time.rawValue) == [2010, 2020, 2030, 2040])
  }

  /// Each of them had the events of its object up to it, before those that are alike were counted as one.
  @Test func thousandsOfReleasesThatAreAlikeTakeNoTime() throws {
    var builder = TraceBuilder()
    let again = builder.stack([0x1300])
    builder.allocate(0x8000, 32, time: 2000)
    builder.free(0x8000, time: 2010)
    for time in UInt64(2020)..<14_020 {
      builder.count(.release, 0x8000, count: .max, stack: again, time: time)
    }
    var found: [MemoryError] = []
    let time = try SpentResources.threadTime { found = try errors(builder) }
    #expect(found.map(\.count) == [10_000])
    #expect(found.map { $0.refcounts.map(\.time.rawValue) } == [[2020]])
    #expect(time < .seconds(10))
  }

  /// Also where what is freed is handed out again at once: times are not that fine.
  @Test(arguments: [[2020, 2030, 2040], [2011, 2011, 2011]] as [[UInt64]])
  func aReleaseIsAnErrorWhenAnotherBlockLiesThere(timesOfOthers: [UInt64]) throws {
    var builder = TraceBuilder()
    let (make, drop, other) = (
      builder.stack([0x1100]), builder.stack([0x1200]), builder.stack([0x1300])
    )
    builder.allocate(0x8000, 32, stack: make, time: 2000)
    builder.count(.release, 0x8000, count: 1, stack: drop, time: 2010)
    builder.free(0x8000, stack: drop, time: 2011)
    builder.allocate(0x8000, 24, stack: other, time: timesOfOthers[0])
    builder.free(0x8000, stack: other, time: timesOfOthers[1])
    builder.allocate(0x8000, 24, stack: other, time: timesOfOthers[2])
    builder.count(.release, 0x8000, count: .max, stack: drop, time: 2050)
    let error = try #require(try errors(builder).first)
    #expect(error.block?.size == 32 && error.block?.allocation.stack == make)
    #expect(error.firstFree?.time.rawValue == 2011 && error.firstFree?.stack == drop)
    #expect(error.refcounts.map(\.time.rawValue) == [2010, 2050])
  }

  @Test func theFreeOfAnObjectWithoutEarlierEventsIsFound() throws {
    var builder = TraceBuilder()
    let (make, drop) = (builder.stack([0x1100]), builder.stack([0x1200]))
    builder.allocate(0x8000, 32, stack: make, time: 2000)
    builder.free(0x8000, stack: drop, time: 2010)
    builder.count(.release, 0x8000, count: .max, stack: drop, time: 2020)
    let error = try #require(try errors(builder).first)
    #expect(error.block?.allocation.stack == make && error.firstFree?.time.rawValue == 2010)
  }

  @Test func aReleaseWithoutAnyReferenceIsAnError() throws {
    var builder = TraceBuilder()
    builder.allocate(0x8000, 32, time: 2000)
    builder.count(.release, 0x8000, count: 1, time: 2010)
    // The deinitializer may retain and release its object.
    builder.count(.retain, 0x8000, count: 0, time: 2011)
    builder.count(.release, 0x8000, count: 1, time: 2012)
    builder.count(.release, 0x8000, count: 0, time: 2013)
    let found = try errors(builder)
    #expect(found.map(\.offending.time.rawValue) == [2013])
    #expect(found.first?.firstFree == nil)
  }

  @Test func aLaterObjectAtTheSameAddressIsNone() throws {
    var builder = TraceBuilder()
    for round in UInt64(0)..<3 {
      let time = 2000 + round * 100
      builder.allocate(0x8000, 32, time: time)
      builder.count(.release, 0x8000, count: 1, time: time + 10)
      builder.free(0x8000, time: time + 20)
    }
    #expect(try errors(builder) == [])
  }

  @Test func whereEventsAreMissingNothingIsConcluded() throws {
    var builder = TraceBuilder()
    builder.header.counters[Int(MT_COUNT_EVENTS_DROPPED.rawValue)] = 1
    builder.allocate(0x8000, 32, time: 2000)
    builder.count(.release, 0x8000, count: 1, time: 2010)
    builder.free(0x8000, time: 2020)
    builder.count(.release, 0x8000, count: 1, time: 2030)
    #expect(try errors(builder) == [])
  }

  // MARK: Counts in snapshots

  private static let words: [(UInt64, ObjectCounts?)] = [
    (3, ObjectCounts(strong: 1, unowned: 0, weak: 0)),
    (0xa_0000_0007, ObjectCounts(strong: 6, unowned: 2, weak: 0)),
    (0x1_0000_0005, ObjectCounts(strong: 0, unowned: 2, weak: 0, isTakenDown: true)),
    (0x8000_0004_ffff_ffff, nil), (0, nil), (1, nil),
  ]

  @Test(arguments: words)
  func countsInTheObject(word: UInt64, counts: ObjectCounts?) throws {
    #expect(try read(object: [0x5010, word], sideTable: []) == counts)
  }

  @Test func countsSayWhetherTheObjectIsGone() {
    #expect(
      Self.words.compactMap { $0.1?.text } == [
        "strong 1, unowned 0, weak 0", "strong 6, unowned 2, weak 0",
        "strong 0, unowned 2, weak 0, deinitialized",
      ])
  }

  @Test func countsInTheSideTable() throws {
    let word: UInt64 = 0x20_0100 >> 3 | 3 << 62
    let bits: UInt64 = 1 << 33 | 2 << 1 | 1
    let good: [UInt64] = [0x20_0000, 0, bits, 3 | 0xdead << 32]
    #expect(
      try read(object: [0x5010, word], sideTable: good)
        == ObjectCounts(strong: 2, unowned: 1, weak: 2))
    #expect(try read(object: [0x5010, word], sideTable: [0x20_0040, 0, bits, 3]) == nil)
    #expect(try read(object: [0x5010, word], sideTable: [0x20_0000, 0, bits, 0]) == nil)
  }

  private func read(object: [UInt64], sideTable: [UInt64]) throws -> ObjectCounts? {
    var builder = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 30)
    snapshot.region(0x5000..<0x6000, path: "/opt/app")
    snapshot.region(0x20_0000..<0x20_1000, path: "[heap]")
    snapshot.words(at: 0x20_0000, object)
    snapshot.words(at: 0x20_0100, sideTable)
    builder.snapshot(snapshot)
    let file = try builder.write()
    return try withExtendedLifetime(file) {
      ObjectCounts(at: 0x20_0000, in: try Trace(path: file.path).loadSnapshot(0))
    }
  }
}
