import CTraceFormat
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Zeros in place of what was recorded: pages that a machine had not written when it went down.
///
/// Zeros are how a chunk ends as well, so only what lies behind them tells.
@Suite struct ZeroedTests {
  private static let content = Int(MT_FILE_HEADER_SIZE + MT_CHUNK_HEADER_SIZE)

  /// A trace with zeros in place of some of its bytes.
  private func open<Value>(
    _ trace: TraceBuilder, zeroing range: Range<Int>? = nil, _ body: (Trace) throws -> Value
  ) throws -> Value {
    var bytes = trace.bytes()
    for position in range ?? 0..<0 { bytes[position] = 0 }
    let file = try TemporaryFile(bytes)
    return try withExtendedLifetime(file) { try body(Trace(path: file.path)) }
  }

  private func events(_ trace: Trace) throws -> (events: [Event], damage: [Damage]) {
    var events: [Event] = []
    let damage = try trace.forEachEvent { _, event in
      events.append(event)
      return true
    }
    return (events, damage)
  }

  /// One chunk of many events, in one of the encodings.
  private static func chunk(isPredicted: Bool) -> TraceBuilder {
    var trace = TraceBuilder()
    trace.eventChunkLength = 1 << 20
    if isPredicted {
      var stream = PredictedStream(seed: 7)
      trace.appendChunk(
        stream.events(1500), encoding: MT_ENCODING_PREDICTED.rawValue, baseTime: 1000)
    } else {
      for index in UInt64(0)..<1500 { trace.allocate(index << 20, index * index) }
    }
    return trace
  }

  @Test(arguments: [false, true])
  func eventsBeforeZerosAreReadAndTheLossIsTold(isPredicted: Bool) throws {
    let trace = Self.chunk(isPredicted: isPredicted)
    let whole = try open(trace) { try events($0) }
    #expect(whole.damage.isEmpty)
    let bytes = trace.bytes()
    let used = try #require(bytes.lastIndex { $0 != 0 }) - 64
    for start in stride(from: Self.content, to: used - 256, by: 61) {
      let found = try open(trace, zeroing: start..<start + 256) { try events($0) }
      // The last event before the zeros may have lost its end.
      let sure = found.events.dropLast()
      #expect(sure.elementsEqual(whole.events.prefix(sure.count)), "at \(start)")
      let damage = try #require(found.damage.first, "at \(start)")
      #expect((start - 64...start + 64).contains(Int(damage.offset)), "at \(start)")
      #expect(Int(damage.offset + damage.length) == bytes.count, "at \(start)")
    }
  }

  @Test func zerosAtTheEndOfAFullChunkAreToldByItsLastTime() throws {
    var trace = TraceBuilder()
    for index in UInt64(0)..<100 { trace.allocate(index << 20, index) }
    trace.endChunk(of: 1)
    trace.allocate(1, 1)
    let used = try #require(trace.bytes()[..<8192].lastIndex { $0 != 0 }) + 1
    let damage = try open(trace, zeroing: used - 200..<8192) { try $0.replay().coverage.damage }
    #expect(damage.map(\.reason) == ["zeros where events belong"])
    #expect(damage.map { $0.offset + $0.length } == [8192])
    trace.notesLastTimes = false
    let unknown = try open(trace, zeroing: used - 200..<8192) { try $0.replay().coverage.damage }
    #expect(unknown.isEmpty)
  }

  /// A program that is being recorded goes on while its trace is read.
  @Test func whatIsWrittenWhileItIsReadIsNoDamage() throws {
    let bytes = Self.chunk(isPredicted: false).bytes()
    var earlier = bytes
    let start = Self.content + 1000
    for position in start..<bytes.count { earlier[position] = 0 }
    let file = try TemporaryFile(earlier)
    try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      let handle = try FileDescriptor.open(file.path, .writeOnly)
      var (count, written) = (0, 0)
      let damage = try trace.forEachEvent { _, _ in
        if count == 0 {
          written = (try? handle.writeAll(toAbsoluteOffset: Int64(start), bytes[start...])) ?? 0
        }
        count += 1
        return true
      }
      try handle.close()
      #expect(written == bytes.count - start)
      #expect((1..<1500).contains(count))
      #expect(damage.isEmpty)
    }
  }

  @Test func whatAnUnfinishedEventLeavesIsNoDamage() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 1)
    var bytes = trace.bytes()
    let used = try #require(bytes.lastIndex { $0 != 0 }) + 1
    for position in used + 1..<used + 60 { bytes[position] = 0xff }
    let file = try TemporaryFile(bytes)
    let result = try withExtendedLifetime(file) { try Trace(path: file.path).replay() }
    #expect(result.total.totalCount == 1)
    #expect(result.coverage == Coverage())
  }

  @Test func recordsBeforeZerosAreRead() throws {
    var trace = TraceBuilder()
    for index in 0..<40 { trace.note(kind: 1, text: "note \(index)") }
    try open(trace, zeroing: Self.content + 400..<Self.content + 800) { trace in
      #expect(trace.notes.count == 10)
      #expect(trace.notes.map(\.text) == (0..<10).map { "note \($0)" })
      #expect(
        trace.coverage.damage == [
          Damage(
            offset: UInt64(Self.content + 400), length: 4096 - 464,
            reason: "zeros where records belong")
        ])
    }
    // The type of a record is written last.
    try open(trace, zeroing: Self.content + 39 * 40 + 4..<Self.content + 39 * 40 + 6) { trace in
      #expect(trace.notes.count == 39)
      #expect(trace.coverage.damage.isEmpty)
    }
  }

  @Test func stackNodesBeforeZerosAreRead() throws {
    var trace = TraceBuilder()
    trace.appendNodeChunk(
      [0x1d, 0x80, 0x40] + Array(repeating: [0x19, 0x20], count: 100).joined(), firstID: 2)
    trace.allocate(0x1000, 10, stack: StackID(22))
    trace.allocate(0x2000, 10, stack: StackID(23))
    trace.allocate(0x3000, 10, stack: StackID(102))
    let start = Self.content + 3 + 20 * 2
    try open(trace, zeroing: start..<start + 100) { trace in
      #expect(trace.stacks.count == 21)
      let coverage = try trace.replay().coverage
      #expect(
        coverage.damage == [
          Damage(
            offset: UInt64(start), length: UInt64(8192 - start),
            reason: "zeros where stack nodes belong")
        ])
      #expect(coverage.stacksLost == 2)
    }
    let whole = try open(trace) { try $0.replay().coverage }
    #expect(whole == Coverage())
  }

  @Test func referenceCountsBeforeZerosAreRead() throws {
    var trace = TraceBuilder()
    for time in UInt64(2000)..<2400 {
      trace.count(.retain, 0x1000 + time * 64, count: time, stack: StackID(2), time: time)
    }
    for (start, least) in [(Self.content, 0), (Self.content + 900, 100)] {
      try open(trace, zeroing: start..<start + 300) { trace in
        var count = 0
        let damage = trace.forEachRefcount { _ in
          count += 1
          return true
        }
        #expect(count >= least)
        #expect(damage.map { $0.offset + $0.length } == [8192])
        #expect(abs(Int(damage[0].offset) - start) < 64)
      }
    }
  }

  @Test func wordsOfASnapshotBehindZerosAreCounted() throws {
    var trace = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 1040)
    snapshot.region(0x10_0000..<0x20_0000)
    for index in UInt64(0)..<20 { snapshot.words(at: 0x10_0000 + index << 13, [1, 2, 3]) }
    trace.snapshot(snapshot)
    let words = 8192 + Int(MT_CHUNK_HEADER_SIZE)
    try open(trace, zeroing: words + 120..<words + 240) { trace in
      let memory = try trace.loadSnapshot(0)
      #expect(memory.wordCount == 15)
      #expect(memory.damagedRuns == 1)
    }
  }

  /// Three event chunks of one block each, at 4096, 8192 and 12288.
  private var threeChunks: TraceBuilder {
    var trace = TraceBuilder()
    for index in UInt64(1)...3 {
      trace.allocate(index << 12, index)
      trace.endChunk(of: 1)
    }
    return trace
  }

  @Test(arguments: [4096, 8192, 12288])
  func aChunkThatWasBegunAndIsNotThereIsDamage(_ offset: Int) throws {
    let damage = Damage(
      offset: UInt64(offset), length: 4096, reason: "zeros where a chunk belongs")
    let zeroed = offset..<offset + 4096
    let found = try open(threeChunks, zeroing: zeroed) { $0.coverage.damage }
    #expect(found == [damage])
    // Packing leaves zeros out, but not these.
    let packed = try open(threeChunks, zeroing: zeroed) { try $0.packed() }
    try withTrace(packed) { trace in
      let result = try trace.replay()
      #expect(result.total.totalCount == 2)
      #expect(result.coverage.damage == [damage])
    }
  }
}
