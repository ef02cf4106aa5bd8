import CTraceFormat
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// The checksums of chunks, against the words of docs/trace-format.md.
@Suite struct ChecksumTests {
  /// The definition, word by word.
  private static func defined(_ bytes: [UInt8], sequence: UInt64, lastTime: UInt64) -> UInt64 {
    func mix(_ lane: UInt64, _ word: UInt64) -> UInt64 {
      let product = (lane ^ word) &* 0x9e37_79b9_7f4a_7c15
      return product << 29 | product >> 35
    }
    var lanes = [sequence, lastTime, ~sequence, ~lastTime]
    let padded = bytes + Array(repeating: 0, count: (32 - bytes.count % 32) % 32)
    for (index, start) in stride(from: 0, to: padded.count, by: 8).enumerated() {
      let word = padded[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      lanes[index % 4] = mix(lanes[index % 4], word)
    }
    return max(lanes.reduce(UInt64(bytes.count)) { mix($0, $1) }, 1)
  }

  private static func sum(_ bytes: [UInt8], sequence: UInt64, lastTime: UInt64 = 0) -> UInt64 {
    var sum = mt_checksum_begin(sequence, lastTime)
    bytes.withUnsafeBytes { mt_checksum_add(&sum, $0.baseAddress, $0.count) }
    return mt_checksum_end(&sum)
  }

  @Test(arguments: [0, 1, 31, 32, 33, 64, 1000, 4032])
  func theSumIsWhatTheFormatDefines(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let (sequence, lastTime) = (random.next(), random.next())
    #expect(
      Self.sum(bytes, sequence: sequence, lastTime: lastTime)
        == Self.defined(bytes, sequence: sequence, lastTime: lastTime))
  }

  @Test func aSumMadeInPiecesIsTheSame() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var sum = mt_checksum_begin(3, 4)
    for start in stride(from: 0, to: bytes.count, by: 96) {
      Array(bytes[start..<min(start + 96, bytes.count)]).withUnsafeBytes {
        mt_checksum_add(&sum, $0.baseAddress, $0.count)
      }
    }
    #expect(mt_checksum_end(&sum) == Self.sum(bytes, sequence: 3, lastTime: 4))
  }

  @Test func everyTurnedBitChangesTheSum() {
    let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let whole = Self.sum(bytes, sequence: 1)
    for bit in 0..<bytes.count * 8 {
      var turned = bytes
      turned[bit / 8] ^= 1 << (bit % 8)
      #expect(Self.sum(turned, sequence: 1) != whole)
    }
  }

  // MARK: Traces

  private static let header = Int(MT_CHUNK_HEADER_SIZE)
  /// Where the chunk with the events begins.
  private static let events = Int(MT_FILE_HEADER_SIZE)

  /// A trace of one chunk of events, and a checksum of its first bytes.
  private static func trace(covering length: Int) -> [UInt8] {
    var trace = TraceBuilder()
    for index in UInt64(1)...5 { trace.allocate(index << 12, 100) }
    var bytes = trace.bytes()
    let start = events + header
    var writer = ByteWriter()
    writer.write(UInt32(40))
    writer.write(UInt16(MT_RECORD_CHECKSUM.rawValue))
    writer.write(UInt16(0))
    writer.write(UInt64(0))  // The sequence of the chunk.
    writer.write(sum(Array(bytes[start..<start + length]), sequence: 0))
    writer.write(UInt64(0))
    writer.write(UInt32(length))
    writer.write(UInt32(0))
    bytes += ChunkWriter.chunk(
      kind: UInt16(MT_CHUNK_META.rawValue), encoding: 0, content: writer.bytes,
      offset: UInt64(bytes.count), sequence: 1, traceTag: trace.header.traceID.low)
    return bytes
  }

  private func coverage(_ bytes: [UInt8]) throws -> Coverage {
    let file = try TemporaryFile(bytes)
    return try withExtendedLifetime(file) { try Trace(path: file.path).replay().coverage }
  }

  @Test func whatIsAsWrittenIsNoDamage() throws {
    #expect(try coverage(Self.trace(covering: 30)).damage == [])
  }

  @Test func otherBytesAreReadAndTold() throws {
    var bytes = Self.trace(covering: 30)
    // The first event: tag, time, address, size. The least bit of the size.
    let size = try #require(bytes[(Self.events + Self.header)...].firstIndex(of: 100))
    bytes[size] ^= 1
    let file = try TemporaryFile(bytes)
    let result = try withExtendedLifetime(file) { try Trace(path: file.path).replay() }
    #expect(result.total.totalBytes == 501)
    let damage = Damage(
      offset: UInt64(Self.events + Self.header), length: 30,
      reason: "events do not match their checksum", isDoubt: true)
    #expect(result.coverage.damage == [damage])
    #expect(result.coverage.doubtCount == 1 && result.coverage.doubtfulBytes == 30)
    #expect(result.coverage.mayMissAllocations)
  }

  @Test func whatCameAfterTheChecksumMayBeAnything() throws {
    var bytes = Self.trace(covering: 10)
    bytes[Self.events + Self.header + 12] ^= 1
    #expect(try coverage(bytes).doubtCount == 0)
  }

  @Test func aCutChunkIsToldAsSuch() throws {
    let bytes = Array(Self.trace(covering: 30).prefix(Self.events + Self.header + 20))
    #expect(try coverage(bytes).doubtCount == 0)
  }

  @Test func packingKeepsWhatIsDoubtful() throws {
    var bytes = Self.trace(covering: 30)
    let size = try #require(bytes[(Self.events + Self.header)...].firstIndex(of: 100))
    bytes[size] ^= 1
    let plain = try TemporaryFile(bytes)
    let packed = try TemporaryFile([])
    let descriptor = try FileDescriptor.open(packed.path, .readWrite)
    let summary = try descriptor.closeAfter {
      try TracePacker(Trace(path: plain.path), level: 3).write(to: descriptor)
    }
    #expect(summary.isDamaged)
    let coverage = try withExtendedLifetime(packed) {
      try Trace(path: packed.path).replay().coverage
    }
    #expect(coverage.doubtCount == 1)
  }

  @Test func fixedFieldsOfTheHeaderAreGuarded() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 1)
    #expect(try coverage(trace.bytes()).damage == [])
    var bytes = try Self.withHeaderCheck(trace.bytes())
    #expect(try coverage(bytes).damage == [])
    let pid = try #require(MemoryLayout<mt_file_header>.offset(of: \.pid))
    bytes[pid] ^= 1
    let damage = try coverage(bytes).damage
    #expect(damage.map(\.isDoubt) == [true])
    #expect(damage.first?.length == 4096)
  }

  /// They are the same in all traces: the checksum tells that the file is one.
  @Test(arguments: [0..<8, 0..<16, 0..<20, 12..<16, 16..<20, 5..<6])
  func aTraceIsReadWhoseFirstFieldsAreDamaged(_ damaged: Range<Int>) throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 24)
    let whole = try Self.withHeaderCheck(trace.bytes())
    for byte: UInt8 in [0, 0xa5] {
      var bytes = whole
      for index in damaged { bytes[index] = byte }
      let file = try TemporaryFile(bytes)
      try withExtendedLifetime(file) {
        let trace = try Trace(path: file.path)
        #expect([trace.header.major, trace.header.minor] == [1, 2])
        let replay = try trace.replay()
        #expect(replay.coverage.damage.map(\.isDoubt) == [true])
        #expect(replay.eventCount == 1)
      }
    }
  }

  @Test("No trace: without a checksum, with a wrong one, of a version that nobody knows yet")
  func whatTheChecksumDoesNotTellIsNotRead() throws {
    var bytes = TraceBuilder().bytes()
    bytes[0] ^= 1
    #expect(throws: TraceError.self) { try coverage(bytes) }
    bytes = try Self.withHeaderCheck(TraceBuilder().bytes())
    bytes[0] ^= 1
    bytes[32] ^= 1
    #expect(throws: TraceError.self) { try coverage(bytes) }
    bytes = try Self.withHeaderCheck(TraceBuilder().bytes())
    bytes[8] = 3
    #expect(throws: TraceError.self) { try coverage(bytes) }
  }

  private static func withHeaderCheck(_ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    let check = try #require(MemoryLayout<mt_file_header>.offset(of: \.fixed_check))
    bytes.withUnsafeMutableBytes { bytes in
      var header = bytes.loadUnaligned(as: mt_file_header.self)
      bytes.storeBytes(of: mt_header_check(&header), toByteOffset: check, as: UInt32.self)
    }
    return bytes
  }
}
