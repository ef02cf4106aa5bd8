import CTraceFormat

/// The checksum of what had been written into a chunk at some moment, up to there.
struct ChunkChecksum {
  /// Of the chunk.
  var sequence: UInt64
  var value: UInt64
  /// What the chunk's header says of the time of its last event; 0: nothing yet.
  var lastTime: UInt64
  /// The bytes behind the chunk's header that it is of.
  var length: UInt32

  /// Decodes a record behind its header; nil when it does not fit.
  init?(decoding cursor: inout ByteCursor) {
    (sequence, value, lastTime) = (cursor.read(), cursor.read(), cursor.read())
    length = cursor.read()
    cursor.skip(4)
    if cursor.isPastEnd { return nil }
  }

  private static let pieceLength = 64 << 10

  /// Looks whether a chunk still holds what was written.
  ///
  /// - Parameters:
  ///   - file: The trace.
  ///   - offset: Where the bytes behind the chunk's header begin.
  ///   - lastTime: What its header says of the time of its last event.
  /// - Returns: false for other bytes; true where the file does not have them all, which is told as
  ///   such.
  func isKept(in file: TraceFile, at offset: UInt64, lastTime: UInt64?) -> Bool {
    guard self.lastTime == 0 || self.lastTime == lastTime ?? 0 else { return false }
    var sum = mt_checksum_begin(sequence, self.lastTime)
    return withUnsafeTemporaryAllocation(byteCount: Self.pieceLength, alignment: 16) { buffer in
      var done = 0
      while done < Int(length) {
        let piece = UnsafeMutableRawBufferPointer(
          rebasing: buffer[..<min(Self.pieceLength, Int(length) - done)])
        guard (try? file.read(at: offset &+ UInt64(done), into: piece)) == piece.count else {
          return true
        }
        mt_checksum_add(&sum, piece.baseAddress, piece.count)
        done += piece.count
      }
      return mt_checksum_end(&sum) == value
    }
  }

  /// As ``isKept(in:at:lastTime:)``, for a chunk without events that was read already.
  ///
  /// - Parameter chunk: Its bytes with the header, as far as the file has them.
  /// - Returns: True as well where the file does not have all of them.
  func isKept(in chunk: UnsafeRawBufferPointer) -> Bool {
    guard lastTime == 0 else { return false }
    guard chunk.count - ChunkHeader.size >= Int(length) else { return true }
    let content = UnsafeRawBufferPointer(rebasing: chunk[ChunkHeader.size...].prefix(Int(length)))
    return mt_checksum_of(sequence, 0, content.baseAddress, content.count) == value
  }
}

extension UnsafeRawBufferPointer {
  /// Looks whether a chunk holds what was written, where its header has a checksum of that.
  ///
  /// - Parameter header: Its header.
  /// - Returns: false for other bytes; true where there is no checksum, or not the whole chunk.
  func isKept(_ header: ChunkHeader) -> Bool {
    guard header.contentChecksum != 0, count == Int(header.length) else { return true }
    let content = UnsafeRawBufferPointer(rebasing: self[ChunkHeader.size...])
    return mt_checksum_of(header.sequence, 0, content.baseAddress, content.count)
      == header.contentChecksum
  }
}
