import CTraceFormat
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Recorders write checksums of all they write: no turned bit goes unnoticed.
@Suite struct ChecksumTests {
  /// A chunk of a plain trace.
  private struct Chunk {
    var kind: UInt32
    /// Of events: whether no more will come.
    var isFull: Bool
    var content: Range<Int>
  }

  private static func chunks(of bytes: [UInt8]) -> [Chunk] {
    var chunks: [Chunk] = []
    var offset = Int(MT_FILE_HEADER_SIZE)
    while offset + Int(MT_CHUNK_HEADER_SIZE) <= bytes.count {
      let header = bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: offset, as: mt_chunk_header.self)
      }
      guard header.magic == MT_CHUNK_MAGIC else { break }
      let end = offset + Int(header.length)
      chunks.append(
        Chunk(
          kind: UInt32(header.kind), isFull: header.last_time != 0,
          content: offset + Int(MT_CHUNK_HEADER_SIZE)..<end))
      offset = end
    }
    return chunks
  }

  /// Whether something is said of damage when all of a trace is read.
  private static func isDamageTold(_ bytes: [UInt8]) throws -> Bool {
    let file = try TemporaryFile(bytes)
    return try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      return try trace.coverage.damageCount > 0
        || trace.snapshots.indices.contains { try trace.loadSnapshot($0).damagedRuns > 0 }
        || trace.replay().coverage.damageCount > 0
    }
  }

  /// Turns a bit of every so many written bytes in turn.
  ///
  /// - Returns: Where that was not told, and how often it was.
  private static func unnoticed(in bytes: [UInt8], of chunk: Chunk) throws -> ([Int], told: Int) {
    var (missed, told): ([Int], Int) = ([], 0)
    // The last record of META is the checksum of all before it.
    let last = chunk.kind == MT_CHUNK_META.rawValue ? MemoryLayout<mt_checksum_record>.size : 0
    let used = chunk.content.filter { bytes[$0] != 0 }.dropLast(last)
    for (number, position) in used.enumerated() where number % max(1, used.count / 8) == 0 {
      var turned = bytes
      turned[position] ^= 1 << (number % 8)
      if try isDamageTold(turned) {
        told += 1
      } else {
        missed.append(position)
      }
    }
    return (missed, told)
  }

  @Test func noTurnedBitGoesUnnoticed() throws {
    let program = try TestProgram("checksums.c")
    let run = try TracedRun([program.path.string])
    let bytes = try Self.bytes(of: run.directory.path.appending("root.mtrace"))
    #expect(try !Self.isDamageTold(bytes))
    let chunks = Self.chunks(of: bytes)
    let kinds = Set(chunks.map(\.kind))
    for kind in [MT_CHUNK_META, MT_CHUNK_STACKS, MT_CHUNK_EVENTS, MT_CHUNK_SNAPSHOT] {
      #expect(kinds.contains(kind.rawValue))
    }
    // Full ones, and those of a thread that runs and of the one that ends it all.
    let events = chunks.filter { $0.kind == MT_CHUNK_EVENTS.rawValue }
    #expect(events.contains { $0.isFull } && events.count { !$0.isFull } >= 2)
    for chunk in chunks {
      let (missed, told) = try Self.unnoticed(in: bytes, of: chunk)
      #expect(missed == [], "kind \(chunk.kind)")
      #expect(told > 0, "kind \(chunk.kind)")
    }
  }

  /// What was full has a checksum; what was not has none, and is no damage.
  @Test func killedProcessesLeaveNoDamage() throws {
    let program = try TestProgram("checksums.c")
    let run = try TracedRun([program.path.string, "killed"])
    let bytes = try Self.bytes(of: run.directory.path.appending("root.mtrace"))
    #expect(try !Self.isDamageTold(bytes))
    let full = try #require(
      Self.chunks(of: bytes).first { $0.kind == MT_CHUNK_EVENTS.rawValue && $0.isFull })
    #expect(try Self.unnoticed(in: bytes, of: full).0 == [])
  }

  @Test(arguments: ["abort", "segv", "exec", "fork", "quick"])
  func everyEndIsSealed(way: String) throws {
    let program = try TestProgram("checksums.c")
    let run = try TracedRun(
      [program.path.string, way],
      start: .launcher(way == "segv" ? ["--snapshot-on-crash"] : []), comparesErrors: false)
    #expect(run.traces.count == (way == "exec" || way == "fork" ? 2 : 1))
    for path in run.traces {
      let bytes = try Self.bytes(of: path)
      #expect(try !Self.isDamageTold(bytes), "\(path.lastComponent?.string ?? "")")
      let events = Self.chunks(of: bytes).last { $0.kind == MT_CHUNK_EVENTS.rawValue }
      // /bin/true, which is executed, may allocate nothing.
      guard let events else { continue }
      #expect(try Self.unnoticed(in: bytes, of: events).0 == [], "\(path)")
    }
  }

  private static func bytes(of path: FilePath) throws -> [UInt8] {
    let descriptor = try FileDescriptor.open(path, .readOnly)
    return try descriptor.closeAfter {
      let size = Int(try descriptor.seek(offset: 0, from: .end))
      return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        count = try descriptor.read(
          fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))
      }
    }
  }
}
