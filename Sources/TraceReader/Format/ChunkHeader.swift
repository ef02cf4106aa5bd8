import CTraceFormat

/// The header of a chunk, checked.
struct ChunkHeader {
  var kind: UInt16
  var encoding: UInt16
  /// Bytes of the chunk with its header.
  var length: UInt32
  /// Where in the file it begins.
  var offset: UInt64
  var sequence: UInt64
  var baseTime: UInt64
  var thread: UInt32
  var firstID: UInt32
  /// The time of the last event; nil where it is not known.
  var lastTime: UInt64?
  /// Of a chunk of a snapshot: the checksum of what follows the header; 0 where it is not known.
  var contentChecksum: UInt64

  var hasRecords: Bool { UInt32(kind) == MT_CHUNK_META.rawValue }

  var hasStacks: Bool { UInt32(kind) == MT_CHUNK_STACKS.rawValue }

  var hasEvents: Bool { UInt32(kind) == MT_CHUNK_EVENTS.rawValue }

  static let size = Int(MT_CHUNK_HEADER_SIZE)

  /// Decodes a header found at `offset`.
  ///
  /// - Returns: nil unless it is the header of a chunk of this trace, written for this place.
  init?(decoding bytes: UnsafeRawBufferPointer, at offset: UInt64, traceTag: UInt64) {
    guard bytes.count >= Self.size else { return nil }
    var header = bytes.loadUnaligned(as: mt_chunk_header.self)
    guard header.magic == MT_CHUNK_MAGIC, header.offset == offset, header.trace_tag == traceTag,
      header.length >= MT_CHUNK_ALIGNMENT, header.length <= MT_CHUNK_MAX_LENGTH,
      header.length % MT_CHUNK_ALIGNMENT == 0, mt_chunk_check(&header) == header.header_check
    else { return nil }
    kind = header.kind
    encoding = header.encoding
    length = header.length
    self.offset = offset
    sequence = header.sequence
    baseTime = header.base_time
    thread = header.thread
    firstID = header.first_id
    let isOfSnapshot = UInt32(kind) == MT_CHUNK_SNAPSHOT.rawValue
    contentChecksum = isOfSnapshot ? header.last_time : 0
    lastTime = header.last_time > 0 && header.last_time >= baseTime ? header.last_time : nil
  }
}
