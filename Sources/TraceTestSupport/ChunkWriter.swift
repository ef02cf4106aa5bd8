import CTraceFormat

/// Puts the header before the content of a chunk and fills it up.
public enum ChunkWriter {
  /// The bytes of a whole chunk.
  ///
  /// `content` is what follows the chunk header; the chunk has at least `length` bytes and grows to
  /// the next multiple of the alignment.
  public static func chunk(
    kind: UInt16, encoding: UInt16, content: [UInt8], offset: UInt64, sequence: UInt64,
    baseTime: UInt64 = 0, lastTime: UInt64 = 0, thread: UInt32 = 0, firstID: UInt32 = 0,
    traceTag: UInt64,
    length: Int = 0
  ) -> [UInt8] {
    let alignment = Int(MT_CHUNK_ALIGNMENT)
    let least = max(length, content.count + Int(MT_CHUNK_HEADER_SIZE))
    let total = (least + alignment - 1) / alignment * alignment
    var header = mt_chunk_header()
    header.magic = UInt32(MT_CHUNK_MAGIC)
    header.kind = kind
    header.encoding = encoding
    header.length = UInt32(total)
    header.offset = offset
    header.sequence = sequence
    header.base_time = baseTime
    header.last_time = lastTime
    header.thread = thread
    header.first_id = firstID
    header.trace_tag = traceTag
    header.header_check = mt_chunk_check(&header)
    var writer = ByteWriter()
    withUnsafeBytes(of: header) { writer.write($0) }
    writer.write(content)
    writer.pad(to: total)
    return writer.bytes
  }
}
