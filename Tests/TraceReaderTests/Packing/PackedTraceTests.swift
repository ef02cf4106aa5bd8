import CTraceFormat
import CZstd
import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Packed traces say what the plain ones do.
@Suite struct PackedTraceTests {
  @Test(arguments: [1, 6, 19])
  func aPackedTraceSaysTheSame(level: Int) throws {
    for seed in UInt64(0)..<6 {
      let builder = SampleTraces.random(seed: seed)
      let packed = try TraceContent(try builder.packed(level: level))
      #expect(try packed == TraceContent(builder.bytes()), "seed \(seed)")
      #expect(packed.events.count > 400)
      #expect(packed.types.count == 2)
      #expect(packed.sightings.joined().count == 2)
      #expect(packed.words.map(\.count).allSatisfy { $0 > 0 } && packed.words.count == 1)
    }
  }

  @Test func aPackedTraceIsKnownByItsContent() throws {
    let builder = SampleTraces.small()
    let plain = builder.bytes()
    let packed = try builder.packed()
    #expect(packed.starts(with: [0x28, 0xB5, 0x2F, 0xFD]))
    try withTrace(plain) { trace in
      #expect(!trace.isPacked)
      #expect(trace.header.recordedBytes == 0)
    }
    let count = try builder.events().count
    try withTrace(packed) { trace in
      #expect(trace.isPacked)
      #expect(trace.fileSize == UInt64(packed.count))
      #expect(trace.header.recordedBytes == UInt64(plain.count))
      #expect(trace.header.events == UInt64(count))
    }
  }

  @Test(arguments: [0, 4096, 4096 + 10, 8192 + 100])
  func aTraceThatBecomesShorterMeanwhileIsNotPacked(left: Int) throws {
    let bytes = SampleTraces.random(seed: 3).bytes()
    let packed = try TemporaryFile([])
    let output = try FileDescriptor.open(packed.path, .readWrite)
    defer { try? output.close() }
    for isAtEnd in [false, true] {
      let file = try TemporaryFile(bytes)
      let trace = try Trace(path: file.path)
      let error = #expect(throws: TraceError.self) {
        _ = try TracePacker(trace, level: 1).write(to: output) { done, all in
          if done == all || !isAtEnd { truncate(file.path.string, isAtEnd ? left / 4 : left) }
        }
      }
      #expect(error?.status == .io)
      #expect(error?.context == "became shorter while it was read")
    }
  }

  @Test func zstdItselfGivesThePlainTrace() throws {
    let builder = SampleTraces.random(seed: 3)
    let packed = try builder.packed()
    let unpacked = try withTrace(packed) { try $0.unpacked() }
    #expect(unpacked.lost == 0)
    var plain = [UInt8](repeating: 0, count: unpacked.bytes.count + 1)
    let size = ZSTD_decompress(&plain, plain.count, packed, packed.count)
    #expect(ZSTD_isError(size) == 0)
    #expect(Array(plain.prefix(Int(size))) == unpacked.bytes)
    #expect(try TraceContent(unpacked.bytes) == TraceContent(builder.bytes()))
  }

  @Test func retainsAndReleasesComeBack() throws {
    var builder = SampleTraces.random(seed: 5)
    builder.refcounts(MT_REFCOUNTS_ON, patterns: "Node", text: "/lib/libswiftCore.so")
    for time in UInt64(5000)..<5500 {
      builder.count(
        time % 3 == 0 ? .release : .retain, 0x1000 + time % 5 * 64, count: time,
        stack: StackID(UInt32(time % 4) + 2), thread: UInt32(time % 2) + 1, time: time)
    }
    let plain = try TraceContent(builder.bytes())
    #expect(plain.refcounts.count == 502, "with those of every sample")
    #expect(plain.refcountRecording?.runtimes == ["/lib/libswiftCore.so"])
    let packed = try builder.packed()
    #expect(try TraceContent(packed) == plain)
    let unpacked = try withTrace(packed) { try $0.unpacked() }
    #expect(unpacked.lost == 0)
    #expect(try TraceContent(unpacked.bytes) == plain)
  }

  @Test func chunksOfSymbolsComeBack() throws {
    let contents: [[UInt8]] = [[1, 2, 3], Array(repeating: 7, count: 5000)]
    let packed = try SampleTraces.small().packed(symbols: contents)
    try withTrace(packed) { trace in
      let found = trace.symbolContents
      #expect(found.count == 2)
      for (content, read) in zip(contents, found) { #expect(read.starts(with: content)) }
      #expect(trace.header.chunks > 4)
    }
  }

  @Test func aPackedTraceIsNotPackedAgain() throws {
    let packed = try SampleTraces.small().packed()
    #expect(throws: TraceError.self) { try withTrace(packed) { try $0.packed() } }
  }

  @Test func namesAndIndexOfAnEarlierPackingAreReplaced() throws {
    let once = try SampleTraces.small().packed(symbols: [[1]])
    let unpacked = try withTrace(once) { try $0.unpacked().bytes }
    let renamed = try withTrace(unpacked) { try $0.packed(symbols: [[2]]) }
    let kept = try withTrace(unpacked) { try $0.packed() }
    try withTrace(renamed) { #expect($0.symbolContents.map(\.first) == [2]) }
    try withTrace(kept) { #expect($0.symbolContents.map(\.first) == [1]) }
    let chunks = try withTrace(once) { $0.header.chunks }
    try withTrace(renamed) { #expect($0.header.chunks == chunks) }
    try withTrace(kept) { #expect($0.header.chunks == chunks) }
  }

  @Test func tooLongChunksOfNamesAreDamage() throws {
    let symbols = [[UInt8](repeating: 0, count: 5 << 20), [7]]
    try withTrace(try SampleTraces.small().packed(symbols: symbols)) { trace in
      #expect(trace.symbolContents.map(\.first) == [7])
      #expect(trace.coverage.damage.map(\.reason) == ["a chunk of names that is too long"])
    }
  }

  @Test func packingAgainGivesTheSameContent() throws {
    let builder = SampleTraces.random(seed: 1)
    let once = try builder.packed(symbols: [[1]])
    let unpacked = try withTrace(once) { try $0.unpacked().bytes }
    let twice = try withTrace(unpacked) { try $0.packed() }
    #expect(try TraceContent(twice) == TraceContent(builder.bytes()))
    try withTrace(twice) { #expect($0.header.recordedBytes == UInt64(builder.bytes().count)) }
  }

  @Test func eventsThatFitNoColumnsStayAsTheyAre() throws {
    var builder = TraceBuilder()
    for index in UInt64(0)..<100 {
      builder.allocate(index % 2 == 0 ? .max - index : index * 16, .max - index)
    }
    #expect(try TraceContent(builder.packed()) == TraceContent(builder.bytes()))
  }

  @Test func aCutTraceIsPackedAsCut() throws {
    var builder = TraceBuilder()
    builder.eventChunkLength = 8192
    for index in UInt64(0)..<5000 { builder.allocate(0x1000 + index * 64, 40) }
    let whole = builder.bytes()
    for missing in [1, 2000, 4096, 9000] {
      let cut = Array(whole.dropLast(missing))
      let packed = try withTrace(cut) { try $0.packed() }
      #expect(try TraceContent(packed) == TraceContent(cut), "\(missing) bytes are missing")
    }
  }

  /// It would take hours to read it.
  @Test func aHugeHoleIsPassedOver() throws {
    let plain = SampleTraces.small().bytes()
    let file = try TemporaryFile(plain)
    try #require(truncate(file.path.string, 1 << 40) == 0)
    let packed = try withExtendedLifetime(file) { try Trace(path: file.path).packed() }
    #expect(try TraceContent(packed) == TraceContent(plain))
  }

  @Test func damageOfThePlainTraceStaysWhatItIs() throws {
    var bytes = SampleTraces.random(seed: 2).bytes()
    // The header of one chunk, and the content of another.
    bytes.replaceSubrange(12288..<12300, with: repeatElement(0xff, count: 12))
    bytes.replaceSubrange(20554..<20574, with: repeatElement(0xff, count: 20))
    let plain = try TraceContent(bytes)
    #expect(plain.coverage.damageCount == 2)
    let packed = try TraceContent(try withTrace(bytes) { try $0.packed() })
    #expect(packed == plain)
  }

  @Test func compressionInOnePieceIsExplained() throws {
    // 200 MiB of zeros after the header, as `zstd x.mtrace` would write them.
    var plain = SampleTraces.small().bytes()
    plain += [UInt8](repeating: 0, count: 200 << 20)
    var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(plain.count))
    let size = ZSTD_compress(&frame, frame.count, plain, plain.count, 1)
    let error = try openingError(Array(frame.prefix(Int(size))))
    #expect(error?.status == .corrupt)
    #expect(error?.context.hasPrefix("is compressed in one piece") == true)
  }
}
