/// Reads little-endian fields from a stretch of bytes, checking every bound.
///
/// A field that lies past the end is read as 0 and leaves ``isPastEnd`` set, so that a decoder
/// can read a whole struct and check once.
struct ByteCursor {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position: Int
  private(set) var isPastEnd = false

  init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
    self.bytes = bytes
    self.position = max(0, position)
  }

  mutating func read<Value: FixedWidthInteger>(_: Value.Type = Value.self) -> Value {
    let size = MemoryLayout<Value>.size
    guard position <= bytes.count - size else {
      isPastEnd = true
      return 0
    }
    defer { position += size }
    return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Value.self))
  }

  /// An unsigned LEB128 number; one that has more than ten bytes is taken for past the end.
  mutating func readVarInt() -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      let byte = read(UInt8.self)
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    isPastEnd = true
    return 0
  }

  mutating func skip(_ count: Int) {
    guard count >= 0, count <= bytes.count - position else {
      isPastEnd = true
      return
    }
    position += count
  }

  /// The next bytes; none of them when they are not all there.
  mutating func bytes(_ count: UInt32) -> UnsafeRawBufferPointer {
    let start = position
    skip(Int(count))
    guard !isPastEnd else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }

  /// The next bytes as text; what is not UTF-8 is replaced.
  mutating func text(_ count: UInt32) -> String {
    String(decoding: bytes(count), as: UTF8.self)
  }
}
