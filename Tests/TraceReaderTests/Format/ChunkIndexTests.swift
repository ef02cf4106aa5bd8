import CTraceFormat
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct ChunkIndexTests {
  /// Three event chunks of one block each, at 4096, 8192 and 12288.
  private var bytes: [UInt8] {
    var trace = TraceBuilder()
    for index in UInt64(1)...3 {
      trace.allocate(index << 12, index)
      trace.endChunk(of: 1)
    }
    return trace.bytes()
  }

  private func replay(_ bytes: [UInt8]) throws -> ReplayResult {
    let file = try TemporaryFile(bytes)
    return try withExtendedLifetime(file) { try Trace(path: file.path).replay() }
  }

  @Test func allChunksAreFound() throws {
    #expect(try replay(bytes).total.totalBytes == 6)
  }

  @Test func damagedHeaderLosesItsChunkAlone() throws {
    var damaged = bytes
    damaged[8192 + 20] ^= 0xff
    let result = try replay(damaged)
    #expect(result.total.totalBytes == 4)
    #expect(
      result.coverage.damage == [
        Damage(offset: 8192, length: 4096, reason: "no chunk header where one belongs")
      ])
  }

  @Test func zerosWhereNoChunkWasBegunAreNoDamage() throws {
    var sparse = bytes
    sparse.replaceSubrange(8192..<12288, with: repeatElement(0, count: 4096))
    sparse += [UInt8](repeating: 0, count: 3 << 20)
    let begun = try #require(MemoryLayout<mt_file_header>.offset(of: \.chunks))
    sparse[begun] = 2
    let result = try replay(sparse)
    #expect(result.total.totalBytes == 4)
    #expect(result.coverage == Coverage())
  }

  /// It would take hours to read it.
  @Test(arguments: [false, true])
  func aHugeHoleIsPassedOver(isPacked: Bool) throws {
    let plain = try TemporaryFile(bytes)
    let packed = try TemporaryFile([])
    let descriptor = try FileDescriptor.open(packed.path, .readWrite)
    try descriptor.closeAfter {
      _ = try TracePacker(Trace(path: plain.path), level: 3, symbols: []).write(to: descriptor)
    }
    let file = isPacked ? packed : plain
    try #require(truncate(file.path.string, 1 << 40) == 0)
    try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      #expect(trace.isPacked == isPacked)
      let result = try trace.replay()
      #expect(result.total.totalBytes == 6)
      #expect(result.coverage == Coverage())
    }
  }

  @Test func chunkAfterMuchRubbishIsFound() throws {
    var random = SeededGenerator(seed: 5)
    let rubbish = (0..<(2 << 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let whole = bytes
    let moved = ChunkWriter.chunk(
      kind: 3, encoding: 1, content: Array(whole[8192 + 64..<12288]),
      offset: UInt64(8192 + rubbish.count), sequence: 9, baseTime: 1002, thread: 1,
      traceTag: TraceBuilder().header.traceID.low)
    let result = try replay(Array(whole[..<8192]) + rubbish + moved)
    #expect(result.total.totalCount == 2)
    #expect(result.coverage.damage.map(\.offset) == [8192])
    #expect(result.coverage.damage.map(\.length) == [UInt64(rubbish.count)])
  }

  @Test func chunkOfAnotherTraceIsSkipped() throws {
    var mixed = bytes
    mixed.replaceSubrange(
      8192..<12288,
      with: ChunkWriter.chunk(
        kind: 3, encoding: 1, content: Array(mixed[8192 + 64..<12288]), offset: 8192,
        sequence: 1, baseTime: 1001, thread: 1, traceTag: 99))
    #expect(try replay(mixed).total.totalBytes == 4)
  }

  @Test func copyOfAChunkAtAnotherPlaceIsSkipped() throws {
    var copied = bytes
    copied.replaceSubrange(8192..<12288, with: copied[4096..<8192])
    #expect(try replay(copied).total.totalBytes == 4)
  }

  @Test func unknownKindIsSkippedWithoutDamage() throws {
    var later = bytes
    later.replaceSubrange(
      8192..<12288,
      with: ChunkWriter.chunk(
        kind: 77, encoding: 1, content: [1, 2, 3], offset: 8192, sequence: 1,
        traceTag: TraceBuilder().header.traceID.low))
    let result = try replay(later)
    #expect(result.total.totalBytes == 4)
    #expect(result.coverage.damage.isEmpty)
  }

  @Test func unknownEncodingIsDamage() throws {
    var later = bytes
    later.replaceSubrange(
      8192..<12288,
      with: ChunkWriter.chunk(
        kind: 3, encoding: 9, content: [1, 2, 3], offset: 8192, sequence: 1,
        traceTag: TraceBuilder().header.traceID.low))
    #expect(try replay(later).coverage.damage.map(\.reason) == ["encoding 9 is not known"])
  }

  @Test func cutChunkIsReadUpToTheCut() throws {
    var trace = TraceBuilder()
    for index in UInt64(0)..<100 { trace.allocate(index << 4, 1) }
    let result = try replay(Array(trace.bytes().prefix(4096 + 64 + 50)))
    #expect(result.total.totalCount > 8)
    #expect(result.total.totalCount < 20)
    #expect(result.coverage.damage.isEmpty)
    #expect(result.coverage.missingBytes == 4096 - 64 - 50)
  }
}
