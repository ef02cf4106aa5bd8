import CTraceFormat
import SystemPackage

/// Writes a packed file: frames one after the other, the seek table, and the file header at last.
///
/// The header lies in a frame of its own that is not compressed, so that its length is known
/// before its content is. Until ``finish(header:)`` the file begins with zeros and is no trace.
struct PackedFileWriter: ~Copyable {
  private let descriptor: FileDescriptor
  private let compressor: ZstdCompressor
  private var table = SeekTable()
  private var content: [UInt8] = []
  private var cuts: [Int] = []

  /// Small chunks share frames up to this size: larger ones compress no better.
  static let frameSize = 1 << 20

  /// - Parameters:
  ///   - descriptor: An empty file, which stays open.
  ///   - level: One of ``ZstdCompressor/levels``.
  /// - Throws: `.io` when there is no memory to compress with.
  init(descriptor: FileDescriptor, level: Int) throws(TraceError) {
    let compressor = try ZstdCompressor(level: level)
    let zeros = [UInt8](repeating: 0, count: Int(MT_FILE_HEADER_SIZE))
    let frame = try Self.storedFrame(of: zeros, compressor)
    self.descriptor = descriptor
    self.compressor = compressor
    table.append(length: frame.count, size: Int(MT_FILE_HEADER_SIZE))
  }

  /// Where in the plain trace the next bytes go.
  var offset: UInt64 { table.plainSize &+ UInt64(content.count) }

  /// Adds a chunk, or what lies between chunks, in one frame.
  ///
  /// - Parameters:
  ///   - bytes: At most `MT_PACK_MAX_FRAME` bytes.
  ///   - cuts: Positions in `bytes` at which the kind of the content changes.
  /// - Throws: `.io` when the frame before cannot be written.
  mutating func append(_ bytes: [UInt8], cuts: [Int] = []) throws(TraceError) {
    if content.count + bytes.count > Self.frameSize { try endFrame() }
    let start = content.count
    self.cuts.append(start)
    self.cuts += cuts.map { start + $0 }
    content += bytes
  }

  /// Lets the next chunk begin a frame: it is of another kind.
  mutating func endFrame() throws(TraceError) {
    guard !content.isEmpty else { return }
    let frame = try compressor.frame(of: content, cuts: cuts)
    try descriptor.write(frame, at: table.packedEnd)
    table.append(length: frame.count, size: content.count)
    content.removeAll(keepingCapacity: true)
    cuts.removeAll(keepingCapacity: true)
  }

  /// Ends the file.
  ///
  /// - Parameter header: The file header of the plain trace.
  /// - Returns: The bytes of the file.
  /// - Throws: `.io` when the file cannot be written.
  mutating func finish(header: [UInt8]) throws(TraceError) -> UInt64 {
    try endFrame()
    let seekTable = table.encoded
    try descriptor.write(seekTable, at: table.packedEnd)
    try descriptor.write(Self.storedFrame(of: header, compressor), at: 0)
    return table.packedEnd &+ UInt64(seekTable.count)
  }

  /// A frame with one block that is not compressed, and a checksum (RFC 8878, section 3.1.1).
  ///
  /// - Parameters:
  ///   - content: 4096 bytes.
  ///   - compressor: Tells their checksum.
  /// - Returns: 4110 bytes.
  /// - Throws: `.io` with libzstd's reason.
  private static func storedFrame(
    of content: [UInt8], _ compressor: borrowing ZstdCompressor
  ) throws(TraceError) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ value: UInt64, _ length: Int) {
      for index in 0..<length { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
    add(UInt64(ZstdFrameHeader.magic), 4)
    add(0x64, 1)  // single segment, two bytes of content size, a checksum
    add(UInt64(content.count - 256), 2)
    add(UInt64(content.count) << 3 | 1, 3)  // the last block, raw
    return try bytes + content + compressor.checksum(of: content)
  }
}
