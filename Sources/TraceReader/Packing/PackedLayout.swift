import CTraceFormat
import SystemPackage

/// Puts the chunks of a trace at their new places, one after the other.
struct PackedLayout: ~Copyable {
  private let trace: Trace
  private var writer: PackedFileWriter
  private var encoder = EventRecoder()
  private var headers: [mt_chunk_header] = []
  private var kind: UInt16?
  private var hasGaps = false
  private var hasDamagedEvents = false
  private var nextSequence: UInt64
  private var events: UInt64 = 0

  init(
    output: FileDescriptor, level: Int, trace: Trace, chunks: [ChunkHeader]
  ) throws(TraceError) {
    self.trace = trace
    writer = try PackedFileWriter(descriptor: output, level: level)
    // Chunks that are added come last in the order of sequences.
    nextSequence = (chunks.map(\.sequence).max() ?? 0) &+ 1
  }

  /// Adds a chunk of names.
  mutating func append(symbols content: [UInt8]) throws(TraceError) {
    try append(
      header(of: MT_CHUNK_SYMBOLS, contentLength: content.count), content: content[...], cuts: [])
  }

  /// Takes over a chunk, with its events encoded anew where that gives back the same events.
  mutating func append(_ chunk: ChunkHeader) throws(TraceError) {
    let bytes = try bytes(at: chunk.offset, count: Int(chunk.length))
    var header = bytes.withUnsafeBytes { $0.loadUnaligned(as: mt_chunk_header.self) }
    guard bytes.count == Int(chunk.length) else {
      // Cut: nothing can follow but the end of the file.
      hasGaps = true
      try append(header, content: bytes[ChunkHeader.size...], cuts: [], isCut: true)
      return
    }
    guard UInt32(chunk.kind) == MT_CHUNK_EVENTS.rawValue else {
      try append(header, content: bytes[ChunkHeader.size...], cuts: [])
      return
    }
    let recoded = encoder.recode(chunk, in: trace)
    events &+= UInt64(recoded.eventCount)
    hasDamagedEvents = hasDamagedEvents || recoded.isDamaged
    if let columns = recoded.columns {
      header.encoding = UInt16(MT_ENCODING_COLUMNS.rawValue)
      header.length = Self.chunkLength(contentLength: columns.bytes.count)
      header.last_time = recoded.lastTime
      try append(header, content: columns.bytes[...], cuts: columns.cuts)
    } else {
      try append(header, content: bytes[ChunkHeader.size...], cuts: [])
    }
  }

  /// Takes over what lies between chunks, with or without what is zeros.
  mutating func append(gap: Range<UInt64>, keepsZeros: Bool) throws(TraceError) {
    var offset = gap.lowerBound
    while offset < gap.upperBound {
      if !keepsZeros { offset = max(offset, trace.file.endOfHole(at: offset)) }
      guard offset < gap.upperBound else { break }
      let count = Int(min(gap.upperBound &- offset, UInt64(PackedFileWriter.frameSize)))
      let bytes = try bytes(at: offset, count: count)
      if keepsZeros || bytes.contains(where: { $0 != 0 }) {
        hasGaps = true
        try begin(kind: nil)
        try writer.append(bytes)
      }
      offset &+= UInt64(count)
    }
  }

  /// Ends the file.
  mutating func finish(_ index: ChunkIndex) throws(TraceError) -> PackSummary {
    let (missingBytes, isWhole) = (index.missingBytes, index.damage.isEmpty)
    if !hasGaps, isWhole { try appendIndex() }
    var bytes = try bytes(at: 0, count: Int(MT_FILE_HEADER_SIZE))
    let recordedBytes =
      trace.header.recordedBytes > 0 ? trace.header.recordedBytes : trace.file.storedSize
    let (end, events) = (writer.offset &+ missingBytes, events)
    // Zeros that are kept are damage as long as more chunks were begun than are there.
    let lost = Int64(clamping: trace.header.chunks) - Int64(index.chunks.count)
    let chunks = UInt64(headers.count) &+ (isWhole ? 0 : UInt64(max(0, lost)))
    bytes.withUnsafeMutableBytes { bytes in
      var fields = bytes.loadUnaligned(as: mt_file_header.self)
      fields.minor = max(fields.minor, UInt16(MT_FORMAT_MINOR))
      fields.file_end = end
      fields.chunks = chunks
      fields.events = events
      fields.recorded_bytes = recordedBytes
      bytes.storeBytes(of: fields, as: mt_file_header.self)
    }
    let packedBytes = try writer.finish(header: bytes)
    return PackSummary(
      recordedBytes: recordedBytes, packedBytes: packedBytes, events: events,
      missingBytes: missingBytes,
      isDamaged: !isWhole || hasDamagedEvents || trace.coverage.damageCount > 0)
  }

  /// Adds copies of all chunk headers, if one chunk can hold them.
  private mutating func appendIndex() throws(TraceError) {
    let length = headers.count * ChunkHeader.size
    guard length + ChunkHeader.size <= Int(MT_CHUNK_MAX_LENGTH) else { return }
    var content: [UInt8] = []
    content.reserveCapacity(length)
    for header in headers { withUnsafeBytes(of: header) { content += $0 } }
    try append(
      header(of: MT_CHUNK_INDEX, contentLength: length), content: content[...], cuts: [])
  }

  // MARK: Chunks

  /// Reads what the trace has there, all of it: a packed file is to replace the trace.
  private func bytes(at offset: UInt64, count: Int) throws(TraceError) -> [UInt8] {
    let bytes = try trace.file.bytes(at: offset, count: count)
    let size = trace.file.size
    guard bytes.count == min(count, Int(clamping: size &- min(offset, size))) else {
      throw TraceError(
        .io, at: offset, "became shorter while it was read", path: trace.path.string)
    }
    return bytes
  }

  private mutating func header(of kind: mt_chunk_kind, contentLength: Int) -> mt_chunk_header {
    var header = mt_chunk_header()
    header.magic = UInt32(MT_CHUNK_MAGIC)
    header.kind = UInt16(kind.rawValue)
    header.encoding = UInt16(MT_ENCODING_PLAIN.rawValue)
    header.length = Self.chunkLength(contentLength: contentLength)
    header.sequence = nextSequence
    header.trace_tag = trace.header.traceID.low
    nextSequence &+= 1
    return header
  }

  private static func chunkLength(contentLength: Int) -> UInt32 {
    let alignment = Int(MT_CHUNK_ALIGNMENT)
    let length = (contentLength + ChunkHeader.size + alignment - 1) / alignment * alignment
    return UInt32(clamping: length)
  }

  /// Writes a chunk at the next place, filled up with zeros unless it is cut.
  private mutating func append(
    _ header: mt_chunk_header, content: ArraySlice<UInt8>, cuts: [Int], isCut: Bool = false
  ) throws(TraceError) {
    try begin(kind: header.kind)
    var header = header
    header.offset = writer.offset
    header.header_check = mt_chunk_check(&header)
    headers.append(header)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(header.length))
    withUnsafeBytes(of: header) { bytes += $0 }
    bytes += content
    if !isCut { bytes += repeatElement(0, count: max(0, Int(header.length) - bytes.count)) }
    try writer.append(bytes, cuts: cuts.map { $0 + ChunkHeader.size })
  }

  /// Chunks of one kind share frames: they are read together, and are alike.
  private mutating func begin(kind: UInt16?) throws(TraceError) {
    if kind != self.kind { try writer.endFrame() }
    self.kind = kind
  }
}
