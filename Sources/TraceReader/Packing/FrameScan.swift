import CTraceFormat

/// Finds the frames of a packed file without its seek table: the file was cut, or something else
/// than `memtrace pack` compressed it.
///
/// Goes from frame to frame by the lengths of their blocks. Where that leads astray, the next
/// magic number is searched; such a frame is used if it begins with a chunk, whose header says
/// where in the plain trace it belongs.
struct FrameScan {
  private(set) var table = SeekTable()

  private let file: DiskFile
  private var position: UInt64 = 0
  private var isLost = false
  /// Blocks to look at before the scan gives up: bytes that were chosen to look like frames could
  /// be gone through once for each of them.
  private var workLeft: UInt64

  private static let blockSize = 1 << 20

  /// - Throws: `.corrupt` when the content is one piece too large to be read by position.
  init(of file: DiskFile) throws(TraceError) {
    self.file = file
    workLeft = file.size &+ 4096
    while position < file.size {
      if let length = try skippableLength() {
        position &+= length
      } else if let frame = try frame(), add(frame) {
        position = frame.position &+ UInt64(frame.length)
      } else {
        isLost = true
        try search()
      }
    }
    if table.frames.isEmpty {
      throw TraceError(
        .corrupt, "is compressed, and damaged from its beginning on",
        path: file.path.string)
    }
  }

  /// Notes a frame; false when its place in the trace is not known.
  private mutating func add(_ frame: SeekTable.Frame) -> Bool {
    guard isLost else {
      table.append(frame)
      return true
    }
    guard let offset = offset(of: frame), offset >= table.plainSize else { return false }
    var frame = frame
    frame.offset = offset
    guard frame.end >= offset else { return false }
    table.append(frame)
    isLost = false
    return true
  }

  /// Where the content of a frame belongs, by the header of its first chunk.
  private mutating func offset(of frame: SeekTable.Frame) -> UInt64? {
    guard spend(UInt64(frame.size) / 64),
      let bytes = try? file.bytes(at: frame.position, count: Int(frame.length)),
      let content = ZstdDecompressor.content(of: bytes, size: Int(frame.size)),
      content.count >= ChunkHeader.size
    else { return nil }
    var header = content.withUnsafeBytes { $0.loadUnaligned(as: mt_chunk_header.self) }
    guard header.magic == MT_CHUNK_MAGIC, mt_chunk_check(&header) == header.header_check else {
      return nil
    }
    return header.offset
  }

  private func skippableLength() throws(TraceError) -> UInt64? {
    let bytes = try file.bytes(at: position, count: 8)
    return bytes.withUnsafeBytes { bytes in
      var cursor = ByteCursor(bytes)
      let magic: UInt32 = cursor.read()
      let length: UInt32 = cursor.read()
      guard !cursor.isPastEnd, magic & 0xFFFF_FFF0 == 0x184D_2A50 else { return nil }
      return UInt64(length) + 8
    }
  }

  private mutating func spend(_ work: UInt64) -> Bool {
    guard workLeft > work else { return false }
    workLeft -= work
    return true
  }

  /// The frame at the current position; nil when there is none, or not all of it.
  private mutating func frame() throws(TraceError) -> SeekTable.Frame? {
    let start = try file.bytes(at: position, count: ZstdFrameHeader.greatestLength)
    guard let header = start.withUnsafeBytes({ ZstdFrameHeader($0) }),
      let end = try endOfBlocks(from: position &+ UInt64(header.length))
    else { return nil }
    let length = end &- position &+ (header.hasChecksum ? 4 : 0)
    guard position &+ length <= file.size else { return nil }
    guard let size = header.contentSize, size <= UInt64(MT_PACK_MAX_FRAME),
      let packedLength = UInt32(exactly: length)
    else {
      if isLost || !table.frames.isEmpty { return nil }
      throw TraceError(
        .corrupt, "is compressed in one piece; decompress it with zstd -d, or use memtrace pack",
        path: file.path.string)
    }
    return SeekTable.Frame(
      position: position, length: packedLength, offset: table.plainSize, size: UInt32(size))
  }

  /// Goes through the blocks of a frame; nil when the file ends before they do.
  private mutating func endOfBlocks(from start: UInt64) throws(TraceError) -> UInt64? {
    var position = start
    while position < file.size, spend(1) {
      let header = try file.bytes(at: position, count: 3)
      guard header.count == 3 else { return nil }
      let word = UInt32(header[0]) | UInt32(header[1]) << 8 | UInt32(header[2]) << 16
      let kind = word >> 1 & 3
      guard kind != 3 else { return nil }
      // A block of one repeated byte holds that byte only.
      position &+= 3 &+ (kind == 1 ? 1 : UInt64(word >> 3))
      if word & 1 != 0 { return position }
    }
    return nil
  }

  /// Moves to the next magic number behind the current position, or to the end of the file.
  private mutating func search() throws(TraceError) {
    position &+= 1
    while position < file.size {
      position = file.endOfHole(at: position)
      let block = try file.bytes(at: position, count: Self.blockSize)
      guard block.count >= 4 else { break }
      if let found = block.withUnsafeBytes({ Self.findMagic(in: $0) }) {
        position &+= UInt64(found)
        return
      }
      position &+= UInt64(block.count - 3)
    }
    position = file.size
  }

  private static func findMagic(in block: UnsafeRawBufferPointer) -> Int? {
    for index in 0..<block.count - 3 where block[index] == 0x28 {
      if block.loadUnaligned(fromByteOffset: index, as: UInt32.self)
        == ZstdFrameHeader.magic.littleEndian
      {
        return index
      }
    }
    return nil
  }
}
