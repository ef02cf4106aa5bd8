/// Unsigned LEB128, at most ten bytes.
package enum VarInt {
  /// Bytes that may be loaded after the start of a varint, whatever its length.
  static let guardLength = 10

  /// Reads a varint and moves on behind it.
  ///
  /// Bounds are not checked: ``guardLength`` bytes from `position` on must be there.
  /// - Parameters:
  ///   - position: Where the varint begins; afterwards where it has ended.
  ///   - isMalformed: Set when the varint does not end; `position` then is of no use.
  /// - Returns: The number.
  @inline(__always)
  static func read(_ position: inout UnsafeRawPointer, _ isMalformed: inout Bool) -> UInt64 {
    let word = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
    if word & 0x80 == 0 {
      position += 1
      return word & 0x7f
    }
    if word & 0x8000 == 0 {
      position += 2
      return word & 0x7f | (word & 0x7f00) >> 1
    }
    // The lowest clear top bit ends the varint.
    let stops = ~word & 0x8080_8080_8080_8080
    if stops == 0 {
      // By value: what a function gets the address of cannot stay in a register.
      let (value, length) = readLong(position)
      position += length
      if length == 0 { isMalformed = true }
      return value
    }
    position += (stops.trailingZeroBitCount &+ 1) >> 3
    // Drop what follows, then close the gaps that the top bits leave: 7 -> 14 -> 28 -> 56 bits.
    var value = word & (stops ^ (stops &- 1)) & 0x7f7f_7f7f_7f7f_7f7f
    value = (value & 0x007f_007f_007f_007f) | (value & 0x7f00_7f00_7f00_7f00) >> 1
    value = (value & 0x0000_3fff_0000_3fff) | (value & 0x3fff_0000_3fff_0000) >> 2
    return (value & 0x0000_0000_0fff_ffff) | (value & 0x0fff_ffff_0000_0000) >> 4
  }

  /// Reads a varint of more than eight bytes; the length is 0 when it does not end.
  @inline(never)
  private static func readLong(_ position: UnsafeRawPointer) -> (value: UInt64, length: Int) {
    var value: UInt64 = 0
    for index in 0..<10 {
      let byte = position.load(fromByteOffset: index, as: UInt8.self)
      value |= UInt64(byte & 0x7f) << UInt64(index * 7)
      if byte < 0x80 { return (value, index + 1) }
    }
    return (0, 0)
  }

  /// Turns an unsigned number back into the signed one that it encodes, as a bit pattern.
  @inline(__always)
  package static func unzigzag(_ value: UInt64) -> UInt64 {
    (value >> 1) ^ (0 &- (value & 1))
  }

  /// Turns a signed number, given as a bit pattern, into an unsigned one that is small where the
  /// number is near 0.
  package static func zigzag(_ pattern: UInt64) -> UInt64 {
    (pattern << 1) ^ (0 &- (pattern >> 63))
  }
}
