import CTraceFormat

/// Where the frames of a packed trace are, in the file and in the plain trace.
///
/// In the file this is the *seek table* of zstd's seekable format
/// (https://github.com/facebook/zstd/blob/dev/contrib/seekable_format): a skippable frame at the
/// end, which `zstd -d` ignores. Integers are little-endian.
///
/// ```
/// u32 0x184D2A5E    a skippable frame …
/// u32 length        … of so many bytes from here on
/// u32, u32          for each frame: its bytes in the file, bytes of its content
/// u32 frames        ─┐
/// u8  flags          │ the last 9 bytes of the file; flag 128: each entry has a checksum, too
/// u32 0x8F92EAB1    ─┘
/// ```
struct SeekTable {
  /// One frame.
  struct Frame {
    /// Where it begins in the file.
    var position: UInt64
    /// Its bytes in the file.
    var length: UInt32
    /// Where its content begins in the plain trace.
    var offset: UInt64
    /// Bytes of its content, at most `MT_PACK_MAX_FRAME`.
    var size: UInt32

    /// Where its content ends in the plain trace.
    var end: UInt64 { offset &+ UInt64(size) }
  }

  /// In ascending order of `offset`, without overlap; there may be gaps where frames are lost.
  private(set) var frames: [Frame] = []

  static let skippableMagic: UInt32 = 0x184D_2A5E
  static let footerMagic: UInt32 = 0x8F92_EAB1
  static let footerLength = 9
  private static let headerLength = 8
  private static let checksumFlag: UInt8 = 0x80
  private static let reservedFlags: UInt8 = 0x7c

  /// Bytes of the plain trace.
  var plainSize: UInt64 { frames.last?.end ?? 0 }

  /// Where the frames end in the file.
  var packedEnd: UInt64 { frames.last.map { $0.position &+ UInt64($0.length) } ?? 0 }

  /// Adds the frame that follows in the file and in the trace.
  mutating func append(length: Int, size: Int) {
    append(
      Frame(
        position: packedEnd, length: UInt32(clamping: length), offset: plainSize,
        size: UInt32(clamping: size)))
  }

  /// Adds a frame found elsewhere, behind all others.
  mutating func append(_ frame: Frame) {
    frames.append(frame)
  }

  /// The frame that holds a byte of the plain trace, as an index; nil for a gap and past the end.
  func frame(at offset: UInt64) -> Int? {
    let next = frames.partitioningIndex { $0.offset > offset }
    guard next > 0, offset < frames[next - 1].end else { return nil }
    return next - 1
  }

  /// Where the first frame behind a place begins in the plain trace; nil when there is none.
  func startOfFrame(after offset: UInt64) -> UInt64? {
    let next = frames.partitioningIndex { $0.offset > offset }
    return next < frames.count ? frames[next].offset : nil
  }
}

extension SeekTable {
  /// The skippable frame to write behind the frames.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frames.count * 8 + Self.headerLength + Self.footerLength)
    func add(_ value: UInt32) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    add(Self.skippableMagic)
    add(UInt32(clamping: frames.count * 8 + Self.footerLength))
    for frame in frames {
      add(frame.length)
      add(frame.size)
    }
    add(UInt32(clamping: frames.count))
    bytes.append(0)
    add(Self.footerMagic)
    return bytes
  }

  /// Reads the seek table at the end of a file.
  ///
  /// - Returns: nil when there is none, or when it does not describe this file exactly.
  init?(endOf file: DiskFile) throws(TraceError) {
    guard file.size >= UInt64(Self.headerLength + Self.footerLength) else { return nil }
    let footerStart = file.size &- UInt64(Self.footerLength)
    let footer = try file.bytes(at: footerStart, count: Self.footerLength)
    guard footer.count == Self.footerLength else { return nil }
    let (count, flags, magic) = footer.withUnsafeBytes { bytes -> (UInt32, UInt8, UInt32) in
      var cursor = ByteCursor(bytes)
      return (cursor.read(), cursor.read(), cursor.read())
    }
    guard magic == Self.footerMagic, flags & Self.reservedFlags == 0 else { return nil }
    let entryLength = flags & Self.checksumFlag != 0 ? 12 : 8
    let tableLength = UInt64(count) * UInt64(entryLength)
    let total = tableLength + UInt64(Self.headerLength + Self.footerLength)
    guard total <= file.size else { return nil }
    let bytes = try file.bytes(
      at: file.size &- total, count: Int(tableLength) + Self.headerLength)
    let isWhole = bytes.withUnsafeBytes { bytes in
      decode(bytes, count: count, entryLength: entryLength, frameLength: total &- 8)
    }
    guard isWhole, packedEnd == file.size &- total else { return nil }
  }

  private mutating func decode(
    _ bytes: UnsafeRawBufferPointer, count: UInt32, entryLength: Int, frameLength: UInt64
  ) -> Bool {
    var cursor = ByteCursor(bytes)
    guard cursor.read(UInt32.self) == Self.skippableMagic,
      UInt64(cursor.read(UInt32.self)) == frameLength
    else { return false }
    for _ in 0..<count {
      let (length, size): (UInt32, UInt32) = (cursor.read(), cursor.read())
      cursor.skip(entryLength - 8)
      guard !cursor.isPastEnd, size <= UInt32(MT_PACK_MAX_FRAME) else { return false }
      append(Frame(position: packedEnd, length: length, offset: plainSize, size: size))
    }
    return true
  }
}
