import CTraceFormat

extension ChunkIndex {
  /// Finds the chunks by the copies of their headers if the trace has them, else by scanning.
  ///
  /// In a packed file the headers themselves lie in frames that would all have to be decompressed.
  init(of file: TraceFile, header: TraceHeader) throws(TraceError) {
    if file.isPacked, let stored = Self.stored(in: file, tag: header.traceID.low) {
      self.init(chunks: stored)
    } else {
      try self.init(scanning: file, header: header)
    }
  }

  /// The headers in the INDEX chunk, which has a frame of its own at the end.
  ///
  /// - Returns: nil unless they describe all of the trace, without a gap.
  private static func stored(in file: TraceFile, tag: UInt64) -> [ChunkHeader]? {
    let offset = file.startOfLastFrame
    guard
      let start = try? file.bytes(at: offset, count: ChunkHeader.size),
      let index = start.withUnsafeBytes({
        ChunkHeader(decoding: $0, at: offset, traceTag: tag)
      }),
      UInt32(index.kind) == MT_CHUNK_INDEX.rawValue, offset &+ UInt64(index.length) == file.size,
      let bytes = try? file.bytes(at: offset, count: Int(index.length))
    else { return nil }
    return bytes.withUnsafeBytes { bytes in
      var chunks: [ChunkHeader] = []
      var (position, next) = (ChunkHeader.size, UInt64(MT_FILE_HEADER_SIZE))
      while next < offset, position + ChunkHeader.size <= bytes.count {
        let copy = UnsafeRawBufferPointer(rebasing: bytes[position..<position + ChunkHeader.size])
        guard let chunk = ChunkHeader(decoding: copy, at: next, traceTag: tag) else { return nil }
        chunks.append(chunk)
        position += ChunkHeader.size
        next &+= UInt64(chunk.length)
      }
      return next == offset ? chunks : nil
    }
  }
}
