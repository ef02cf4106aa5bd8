/// Bytes that are read by position.
protocol ByteSource {
  /// How many bytes there are.
  var size: UInt64 { get }

  /// Fills a buffer from a position, as far as can be read.
  ///
  /// - Returns: The number of bytes read.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TraceError) -> Int
}

extension ByteSource {
  /// Reads a stretch of bytes, as far as ``read(at:into:)`` does.
  func bytes(at offset: UInt64, count: Int) throws(TraceError) -> [UInt8] {
    let available = offset < size ? Int(clamping: size &- offset) : 0
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, available)))
    var failure: TraceError?
    let done = bytes.withUnsafeMutableBytes { buffer -> Int in
      do throws(TraceError) {
        return try read(at: offset, into: buffer)
      } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    bytes.removeLast(bytes.count - done)
    return bytes
  }
}
