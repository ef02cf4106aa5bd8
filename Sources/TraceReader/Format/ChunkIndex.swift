import CTraceFormat

/// Where the chunks of a trace are.
///
/// Found by following the lengths in the chunk headers. Where that leads astray, the next multiple
/// of the alignment with a good header is searched. Zeros are no damage unless the file header says
/// that there have been more chunks: space is reserved before it is used.
struct ChunkIndex {
  private(set) var chunks: [ChunkHeader] = []
  private(set) var damage: [Damage] = []
  /// Bytes that the last chunk should have and the file does not.
  private(set) var missingBytes: UInt64 = 0
  /// Where zeros lie in place of a chunk.
  private var holes: [Range<UInt64>] = []

  private static let alignment = UInt64(MT_CHUNK_ALIGNMENT)
  private static let blockSize = 1 << 20

  /// The index of a trace that is known to be whole.
  init(chunks: [ChunkHeader]) {
    self.chunks = chunks
  }

  init(scanning file: TraceFile, header: TraceHeader) throws(TraceError) {
    // A recording that stopped because there was no room had claimed its next chunk already.
    let claimed = header.stopReason == MT_STOP_NONE.rawValue ? header.fileEnd : 0
    var offset = UInt64(MT_FILE_HEADER_SIZE)
    while offset < file.size {
      guard let bytes = try bytes(of: file, at: &offset, count: ChunkHeader.size) else { continue }
      let chunk = bytes.withUnsafeBytes {
        ChunkHeader(decoding: $0, at: offset, traceTag: header.traceID.low)
      }
      if let chunk {
        chunks.append(chunk)
        offset &+= UInt64(chunk.length)
      } else if bytes.count < ChunkHeader.size, claimed > file.size {
        break  // Cut, inside a header.
      } else {
        offset = try resume(after: offset, in: file, tag: header.traceID.low)
      }
    }
    let expected = max(offset, claimed)
    missingBytes = expected > file.size ? expected &- file.size : 0
    addHoles(of: header, in: file)
  }

  /// Takes zeros for damage where more chunks were begun than are there.
  ///
  /// A chunk is counted when its header is written; until then its place is a hole of no meaning.
  /// So is that at the end of a file which has grown since it was opened.
  private mutating func addHoles(of header: TraceHeader, in file: TraceFile) {
    guard header.chunks > UInt64(chunks.count) else { return }
    for hole in holes where hole.upperBound < file.size || missingBytes == 0 {
      let end = min(hole.upperBound, header.fileEnd)
      guard hole.lowerBound < end else { continue }
      damage.append(
        Damage(
          offset: hole.lowerBound, length: end &- hole.lowerBound,
          reason: "zeros where a chunk belongs"))
    }
    damage.sort { $0.offset < $1.offset }
  }

  /// When events of chunks that were not found may have come.
  ///
  /// - Parameters:
  ///   - begun: How many chunks have been begun, as far as the header knows.
  ///   - hasOneThread: Whether all events are of one thread, which writes one chunk after the other.
  /// - Returns: nil when none is missing.
  func lostTimes(begun: UInt64, hasOneThread: Bool) -> LostTimes? {
    guard !damage.isEmpty || missingBytes > 0 else { return nil }
    let found = chunks.sorted { $0.sequence < $1.sequence }
    let gap = found.indices.first { found[$0].sequence != UInt64($0) } ?? found.count
    let isLastThere = begun > 0 && begun <= (found.last?.sequence ?? 0) &+ 1
    guard gap < found.count || !isLastThere || missingBytes > 0 else { return nil }
    // Chunks are begun in the order of their sequence; those that packing adds have no time.
    var first = found[..<gap].last { $0.baseTime > 0 }?.baseTime ?? 0
    guard hasOneThread else { return LostTimes(from: EventTime(first)) }
    first = max(first, found[..<gap].last(where: \.hasEvents)?.lastTime ?? 0)
    guard isLastThere else { return LostTimes(from: EventTime(first)) }
    let lastGap = found.indices.last { $0 > 0 && found[$0 - 1].sequence &+ 1 != found[$0].sequence }
    let next = found[(lastGap ?? gap)...].first(where: \.hasEvents)
    let last = next.map { EventTime($0.baseTime) } ?? .distantFuture
    return LostTimes(from: EventTime(first), through: max(last, EventTime(first)))
  }

  /// Searches the next good chunk header and notes what lies before it.
  ///
  /// - Returns: Where it is; the size of the file when there is none.
  private mutating func resume(
    after start: UInt64, in file: TraceFile, tag: UInt64
  ) throws(TraceError) -> UInt64 {
    var (offset, found) = (start, file.size)
    var firstLoss: UInt64?
    let damageBefore = damage.count
    search: while offset < file.size {
      offset = file.endOfHole(at: offset) & ~(Self.alignment - 1)
      guard let block = try bytes(of: file, at: &offset, count: Self.blockSize) else { continue }
      guard !block.isEmpty else { break }
      let next = block.withUnsafeBytes { Self.findHeader(in: $0, at: offset, tag: tag) }
      let end = next.map { Int($0 &- offset) } ?? block.count
      if firstLoss == nil {
        firstLoss = block.withUnsafeBytes { Self.firstNonzero($0, before: end) }
          .map { offset &+ UInt64($0) }
      }
      if let next {
        found = next
        break search
      }
      offset = Self.aligned(offset &+ UInt64(block.count))
    }
    if let firstLoss {
      let begin = max(start, firstLoss / Self.alignment * Self.alignment)
      damage.append(
        Damage(offset: begin, length: found &- begin, reason: "no chunk header where one belongs"))
    } else if damage.count == damageBefore {
      holes.append(start..<found)
    }
    return found
  }

  /// Reads a stretch of the trace; where that is damaged, notes it and moves on behind it.
  private mutating func bytes(
    of file: TraceFile, at offset: inout UInt64, count: Int
  ) throws(TraceError) -> [UInt8]? {
    do throws(TraceError) {
      return try file.bytes(at: offset, count: count)
    } catch {
      guard error.status == .corrupt else { throw error }
      let end = file.endOfDamage(at: offset)
      damage.append(Damage(offset: offset, length: end &- offset, reason: error.context))
      offset = Self.aligned(end)
      return nil
    }
  }

  private static func aligned(_ offset: UInt64) -> UInt64 {
    (offset &+ (alignment - 1)) & ~(alignment - 1)
  }

  private static func findHeader(
    in block: UnsafeRawBufferPointer, at offset: UInt64, tag: UInt64
  ) -> UInt64? {
    for position in stride(from: 0, to: block.count, by: Int(alignment)) {
      let rest = UnsafeRawBufferPointer(rebasing: block[position...])
      let place = offset &+ UInt64(position)
      if ChunkHeader(decoding: rest, at: place, traceTag: tag) != nil { return place }
    }
    return nil
  }

  private static func firstNonzero(_ block: UnsafeRawBufferPointer, before end: Int) -> Int? {
    var position = 0
    while position + 8 <= end {
      if block.loadUnaligned(fromByteOffset: position, as: UInt64.self) != 0 { return position }
      position += 8
    }
    while position < end {
      if block[position] != 0 { return position }
      position += 1
    }
    return nil
  }
}
