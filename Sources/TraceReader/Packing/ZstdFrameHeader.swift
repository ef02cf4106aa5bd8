import CTraceFormat

/// The header of a zstd frame, as far as finding frames needs it (RFC 8878, section 3.1.1).
struct ZstdFrameHeader {
  /// Bytes of the header, the magic included.
  private(set) var length: Int
  /// Bytes of the content; nil when the frame does not say.
  private(set) var contentSize: UInt64?
  /// Whether four bytes of checksum follow the last block.
  private(set) var hasChecksum: Bool

  /// Where the byte is that says what else there is.
  static let descriptorOffset = 4
  static let checksumFlag: UInt8 = 0x04
  static let checksumLength = 4

  static let magic: UInt32 = 0xFD2F_B528
  /// The longest header there is.
  static let greatestLength = 18

  /// Reads a header; nil where there is none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var cursor = ByteCursor(bytes)
    guard cursor.read(UInt32.self) == Self.magic else { return nil }
    let descriptor: UInt8 = cursor.read()
    let isSingleSegment = descriptor & 0x20 != 0
    guard descriptor & 0x08 == 0 else { return nil }  // reserved
    hasChecksum = descriptor & Self.checksumFlag != 0
    if !isSingleSegment { cursor.skip(1) }  // the window
    cursor.skip([0, 1, 2, 4][Int(descriptor & 3)])  // the dictionary
    switch descriptor >> 6 {
    case 0: contentSize = isSingleSegment ? UInt64(cursor.read(UInt8.self)) : nil
    case 1: contentSize = UInt64(cursor.read(UInt16.self)) + 256
    case 2: contentSize = UInt64(cursor.read(UInt32.self))
    default: contentSize = cursor.read(UInt64.self)
    }
    guard !cursor.isPastEnd else { return nil }
    length = cursor.position
  }

  /// Whether a file begins with a zstd frame.
  static func begins(_ file: DiskFile) throws(TraceError) -> Bool {
    try file.bytes(at: 0, count: 4).elementsEqual([0x28, 0xB5, 0x2F, 0xFD])
  }
}
