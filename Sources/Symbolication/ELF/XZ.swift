import Glibc

/// Decompression of `.xz`, by the system's liblzma.
///
/// The library is asked for when it is needed: few files need it, and libdw brings it along nearly everywhere.
enum XZ {
  /// No more than that is believed to come out.
  static let limit = 256 << 20

  private typealias Decode =
    @convention(c) (
      _ memoryLimit: UnsafeMutablePointer<UInt64>, _ flags: UInt32, _ allocator: UnsafeRawPointer?,
      _ input: UnsafePointer<UInt8>, _ inputPosition: UnsafeMutablePointer<Int>, _ inputSize: Int,
      _ output: UnsafeMutablePointer<UInt8>, _ outputPosition: UnsafeMutablePointer<Int>,
      _ outputSize: Int
    ) -> Int32

  // enum lzma_ret of lzma/base.h
  private static let ok: Int32 = 0
  private static let outputTooSmall: Int32 = 10

  private static let decode: Decode? = {
    guard let library = dlopen("liblzma.so.5", RTLD_NOW),
      let function = dlsym(library, "lzma_stream_buffer_decode")
    else { return nil }
    return unsafeBitCast(function, to: Decode.self)
  }()

  /// The contents of a whole stream.
  ///
  /// - Parameter packed: The stream.
  /// - Returns: Allocated bytes, the caller's; nil where they are damaged, more than ``limit``, or where
  ///   there is no liblzma.
  static func decompress(_ packed: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer? {
    guard let decode, let input = packed.assumingMemoryBound(to: UInt8.self).baseAddress else {
      return nil
    }
    var size = min(limit, max(4096, packed.count.multipliedReportingOverflow(by: 8).partialValue))
    while true {
      let output = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
      var memoryLimit = UInt64(limit)
      var (read, written) = (0, 0)
      let status = output.assumingMemoryBound(to: UInt8.self).baseAddress.map {
        decode(&memoryLimit, 0, nil, input, &read, packed.count, $0, &written, size)
      }
      if status == ok { return UnsafeMutableRawBufferPointer(rebasing: output[..<written]) }
      output.deallocate()
      guard status == outputTooSmall, size < limit else { return nil }
      size = min(limit, size * 2)
    }
  }
}
