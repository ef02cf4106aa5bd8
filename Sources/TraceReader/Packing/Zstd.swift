import CZstd

/// Compresses frames with libzstd, one after the other, in one context.
struct ZstdCompressor: ~Copyable {
  /// The levels that libzstd knows without its extra-memory modes.
  static let levels = 1...19

  private let context: OpaquePointer

  /// - Throws: `.io` when there is no memory for a context.
  init(level: Int) throws(TraceError) {
    guard let context = ZSTD_createCCtx() else {
      throw TraceError(.io, "cannot be packed: no memory for compression")
    }
    self.context = context
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, CInt(clamping: level))
    // A damaged frame must be known as such: most damage would give other events, not an error.
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  }

  deinit {
    ZSTD_freeCCtx(context)
  }

  /// One whole frame, with the size of its content and a checksum.
  ///
  /// - Parameters:
  ///   - content: What to compress.
  ///   - cuts: Positions in ascending order at which the kind of the content changes. Blocks of
  ///     the frame end there, so that each part gets statistics of its own.
  /// - Returns: The bytes of the frame.
  /// - Throws: `.io` with libzstd's reason.
  func frame(of content: [UInt8], cuts: [Int] = []) throws(TraceError) -> [UInt8] {
    ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    ZSTD_CCtx_setPledgedSrcSize(context, UInt64(content.count))
    // A block that is flushed early costs at most a header of 3 bytes.
    let capacity = ZSTD_compressBound(content.count) + (cuts.count + 1) * 16
    var failure: String?
    let frame = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
      content.withUnsafeBytes { source in
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: capacity, pos: 0)
        var input = ZSTD_inBuffer(src: source.baseAddress, size: 0, pos: 0)
        for cut in cuts where cut > input.size && cut < content.count {
          input.size = cut
          failure = failure ?? compress(&input, into: &target, ZSTD_e_flush)
        }
        input.size = content.count
        failure = failure ?? compress(&input, into: &target, ZSTD_e_end)
        count = target.pos
      }
    }
    if let failure { throw TraceError(.io, "cannot be packed: \(failure)") }
    return frame
  }

  /// What the frame of some content ends with, however it is compressed: the lower half of its XXH64.
  ///
  /// - Throws: `.io` with libzstd's reason.
  func checksum(of content: [UInt8]) throws(TraceError) -> ArraySlice<UInt8> {
    try frame(of: content).suffix(ZstdFrameHeader.checksumLength)
  }

  /// - Returns: What went wrong; nil when nothing did.
  private func compress(
    _ input: inout ZSTD_inBuffer, into output: inout ZSTD_outBuffer, _ mode: ZSTD_EndDirective
  ) -> String? {
    while true {
      let rest = ZSTD_compressStream2(context, &output, &input, mode)
      if ZSTD_isError(rest) != 0 { return String(cString: ZSTD_getErrorName(rest)) }
      if rest == 0 { return nil }
      if output.pos == output.size { return "the output has no room" }
    }
  }
}

/// Decompresses frames with libzstd.
enum ZstdDecompressor {
  /// The content of one frame.
  ///
  /// - Parameters:
  ///   - frame: The whole frame.
  ///   - size: The exact size of its content, bounded by the caller.
  /// - Returns: nil when the frame is damaged: another size, or another checksum.
  static func content(of frame: [UInt8], size: Int) -> [UInt8]? {
    var isWhole = false
    let content = [UInt8](unsafeUninitializedCapacity: size) { output, count in
      let result = ZSTD_decompress(output.baseAddress, size, frame, frame.count)
      isWhole = ZSTD_isError(result) == 0 && result == size
      count = isWhole ? size : 0
    }
    return isWhole ? content : nil
  }

  /// The content of a frame of which nothing but its checksum shows that it is damaged.
  ///
  /// - Returns: nil when it is damaged beyond that, or has no checksum.
  static func uncheckedContent(of frame: [UInt8], size: Int) -> [UInt8]? {
    let hasChecksum = frame.withUnsafeBytes { ZstdFrameHeader($0)?.hasChecksum ?? false }
    guard hasChecksum, frame.count > ZstdFrameHeader.checksumLength else { return nil }
    var frame = Array(frame.dropLast(ZstdFrameHeader.checksumLength))
    frame[ZstdFrameHeader.descriptorOffset] &= ~ZstdFrameHeader.checksumFlag
    return content(of: frame, size: size)
  }
}
