import Testing
import TraceTestSupport

@testable import TraceReader

/// What is left of a packed trace that is cut or damaged.
@Suite struct PackedDamageTests {
  private static let packed = Result { try make().packed() }
  private static let count: UInt64 = 200_000
  private let packed: [UInt8]
  private let frames: [SeekTable.Frame]

  /// Random events, each of many bytes, so that they fill several frames.
  private static func make() -> TraceBuilder {
    var builder = TraceBuilder()
    builder.eventChunkLength = 600 << 10
    builder.process(executable: "/usr/bin/true", arguments: ["true"])
    var random = SeededGenerator(seed: 5)
    for _ in 0..<count {
      builder.allocate(random.next() >> 17, random.next() >> 20)
    }
    return builder
  }

  /// The frames are those of the header, the records, five of events, and the index.
  init() throws {
    packed = try Self.packed.get()
    let file = try TemporaryFile(packed)
    frames = try #require(try SeekTable(endOf: DiskFile(path: file.path))).frames
  }

  private func events(_ bytes: [UInt8]) throws -> (count: UInt64, coverage: Coverage) {
    try withTrace(bytes) { trace in
      #expect(trace.process.executablePath == "/usr/bin/true")
      let result = try trace.replay()
      return (result.eventCount, result.coverage)
    }
  }

  @Test func framesLieOneBehindTheOther() throws {
    #expect(frames.count == 8)
    #expect(frames[0].size == 4096)
    for (frame, next) in zip(frames, frames.dropFirst()) {
      #expect(frame.end == next.offset)
      #expect(frame.position + UInt64(frame.length) == next.position)
    }
    #expect(try events(packed).count == Self.count)
  }

  /// Where the header's bytes are in the file, behind 10 of its frame.
  private static let header = 10..<(10 + 4096)

  @Test func anyDamageOfTheHeaderIsNoticed() throws {
    let packed = try SampleTraces.small().packed()
    for position in stride(from: Self.header.lowerBound, to: Self.header.upperBound + 4, by: 7) {
      var bytes = packed
      bytes[position] ^= 0x10
      let file = try TemporaryFile(bytes)
      guard let trace = try? Trace(path: file.path) else { continue }
      #expect(trace.coverage.damage.first?.offset == 0, "byte \(position)")
    }
  }

  @Test func aHeaderWithADamagedFigureIsUsed() throws {
    var bytes = packed
    // The number of events that packing noted, which nothing needs.
    bytes[Self.header.lowerBound + 512] ^= 1
    let (count, coverage) = try events(bytes)
    #expect(count == Self.count)
    #expect(coverage.damageCount == 1)
    let reason = try #require(coverage.damage.first?.reason)
    #expect(reason.hasPrefix("the header is not what was written"))
    try withTrace(bytes) { try #expect($0.unpacked().lost == 4096) }
  }

  @Test func aDamagedVersionIsNoOtherVersion() throws {
    var bytes = packed
    bytes[Self.header.lowerBound + 9] ^= 4
    let file = try TemporaryFile(bytes)
    let error = #expect(throws: TraceError.self) { try Trace(path: file.path) }
    #expect(error?.status == .corrupt && error?.context == "the file header is damaged")
  }

  /// As they were before the header had a checksum.
  @Test func olderPackedTracesAreRead() throws {
    var bytes = packed
    bytes[4] &= ~0x04
    bytes.removeSubrange(Self.header.upperBound..<(Self.header.upperBound + 4))
    // The length of the first frame is in the first entry of the seek table.
    let entry = bytes.count - 9 - 8 * frames.count
    #expect(bytes[entry..<(entry + 4)].elementsEqual([0x0e, 0x10, 0, 0]))
    bytes[entry] -= 4
    let (count, coverage) = try events(bytes)
    #expect(count == Self.count && coverage.damageCount == 0)
    bytes.removeLast(4)
    #expect(try events(bytes).count == Self.count)
  }

  /// The lower halves of 0x796398cd432797cc and, of nothing, 0xef46db3751d8e999.
  @Test func theChecksumIsThatOfZstd() throws {
    let bytes = (0..<4096).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
    let compressor = try ZstdCompressor(level: 1)
    #expect(try compressor.checksum(of: bytes) == [0xcc, 0x97, 0x27, 0x43])
    #expect(try compressor.checksum(of: []) == [0x99, 0xe9, 0xd8, 0x51])
  }

  @Test func withoutSeekTableTheFramesAreFound() throws {
    let last = try #require(frames.last)
    let bytes = Array(packed.prefix(Int(last.position) + Int(last.length)))
    let (count, coverage) = try events(bytes)
    #expect(count == Self.count)
    #expect(try coverage == events(packed).coverage)
  }

  @Test func aCutFileHasTheFramesThatAreWhole() throws {
    let third = frames[5]
    let before = try events(Array(packed.prefix(Int(third.position))))
    #expect(before.count > 80_000 && before.count < 150_000)
    let inside = try events(Array(packed.prefix(Int(third.position) + 1000)))
    #expect(inside.count == before.count)
    #expect(inside.coverage.missingBytes > 0)
  }

  @Test(arguments: [true, false])
  func aDamagedFrameCostsItsOwnEventsOnly(hasSeekTable: Bool) throws {
    let damaged = frames[3]
    var bytes = packed
    let middle = Int(damaged.position) + Int(damaged.length) / 2
    for position in middle..<middle + 64 { bytes[position] ^= 0x55 }
    if !hasSeekTable { bytes.removeLast(4) }
    let (count, coverage) = try events(bytes)
    #expect(count > 100_000 && count < 180_000)
    #expect(coverage.damageCount >= 1)
    #expect(coverage.damage.first?.reason.contains("damaged") == true)
  }

  @Test func bytesThatAreMissingInTheMiddleAreSteppedOver() throws {
    let damaged = frames[3]
    var bytes = packed
    let start = Int(damaged.position) + 20
    bytes.removeSubrange(start..<start + 777)
    let (count, coverage) = try events(bytes)
    #expect(count > 100_000 && count < 180_000)
    #expect(coverage.damageCount >= 1)
  }

  /// The frames of a packed trace, behind that of the header.
  private static func frames(of packed: [UInt8]) throws -> [SeekTable.Frame] {
    let file = try TemporaryFile(packed)
    return try #require(try SeekTable(endOf: DiskFile(path: file.path))).frames
  }

  @Test(arguments: [true, false])
  func lostNamesAreDamage(hasSeekTable: Bool) throws {
    var bytes = try SampleTraces.small().packed(symbols: [[7, 8, 9]])
    try withTrace(bytes) { #expect(!$0.lacksSymbols && $0.symbolContents.count == 1) }
    let frames = try Self.frames(of: bytes)
    bytes[Int(frames[1].position) + Int(frames[1].length) / 2] ^= 0x55
    if !hasSeekTable { bytes.removeLast(4) }
    try withTrace(bytes) { trace in
      #expect(trace.symbolContents.isEmpty)
      #expect(trace.lacksSymbols)
      #expect(trace.coverage.damage.map(\.offset) == [4096])
    }
  }

  @Test func otherDamageCostsNoNames() throws {
    var bytes = try SampleTraces.small().packed(symbols: [[7, 8, 9]])
    let frames = try Self.frames(of: bytes)
    bytes[Int(frames[3].position) + Int(frames[3].length) / 2] ^= 0x55
    try withTrace(bytes) { trace in
      #expect(trace.coverage.damageCount > 0)
      #expect(!trace.lacksSymbols)
    }
    try withTrace(Array(bytes.prefix(Int(frames[2].position)))) { #expect(!$0.lacksSymbols) }
  }

  @Test func theWordsOfADamagedFrameAreMissing() throws {
    var builder = TraceBuilder()
    var snapshot = SnapshotBuilder(time: 5)
    snapshot.region(0x100_0000..<0x200_0000)
    var random = SeededGenerator(seed: 3)
    // So many that they have a frame to themselves.
    let words = (0..<130_000).map { _ in random.next() | 1 << 63 }
    snapshot.words(at: 0x100_0000, words)
    builder.snapshot(snapshot)
    var bytes = try builder.packed()
    let whole = try withTrace(bytes) { try $0.loadSnapshot(0) }
    #expect(whole.wordCount == words.count && whole.damagedRuns == 0)
    let frame = try #require(Self.frames(of: bytes).first { $0.size > 1 << 20 })
    bytes[Int(frame.position) + Int(frame.length) / 2] ^= 0x55
    try withTrace(bytes) { trace in
      let memory = try trace.loadSnapshot(0)
      #expect(memory.wordCount == 0 && memory.damagedRuns == 1)
      #expect(trace.snapshots[0].isComplete)
      #expect(trace.snapshots[0].wordCount == UInt64(words.count))
    }
  }

  @Test func unpackingSaysWhatIsLost() throws {
    var bytes = packed
    bytes[Int(frames[3].position) + 500] ^= 1
    try withTrace(bytes) { trace in
      let (plain, lost) = try trace.unpacked()
      #expect(lost == UInt64(frames[3].size))
      #expect(UInt64(plain.count) == frames[7].end)
    }
  }

  @Test func unpackingSaysWhatACutFileLacks() throws {
    for end in [frames[5].position, frames[5].position + 100, frames[6].position - 1] {
      try withTrace(Array(packed.prefix(Int(end)))) { trace in
        let (plain, lost) = try trace.unpacked()
        #expect(lost == frames[7].end - frames[5].offset)
        #expect(UInt64(plain.count) == frames[5].offset)
      }
    }
  }
}
