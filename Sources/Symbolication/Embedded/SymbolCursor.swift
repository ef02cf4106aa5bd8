import TraceReader

/// Reads the varints and strings of a SYMBOLS chunk, checking every bound.
///
/// What lies past the end is read as 0 and leaves ``isPastEnd`` set.
struct SymbolCursor {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private(set) var isPastEnd = false

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// Bytes that are left: no list has more elements.
  var remaining: Int { bytes.endIndex - position }

  /// An unsigned LEB128 number of at most ten bytes.
  mutating func number() -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while position < bytes.endIndex, shift < 70 {
      let byte = bytes[position]
      position += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    isPastEnd = true
    return 0
  }

  /// A signed number as a bit pattern.
  mutating func zigzag() -> UInt64 { VarInt.unzigzag(number()) }

  /// A number that counts what follows, each of at least one byte; a greater one than there can be
  /// is taken for past the end.
  mutating func count(upTo limit: Int = .max) -> Int {
    let value = number()
    guard value <= UInt64(min(remaining, limit)) else {
      isPastEnd = true
      return 0
    }
    return Int(value)
  }

  /// The next bytes; none when they are not all there.
  mutating func take(_ count: UInt64) -> ArraySlice<UInt8> {
    guard count <= UInt64(remaining) else {
      isPastEnd = true
      return []
    }
    let start = position
    position += Int(count)
    return bytes[start..<position]
  }
}
