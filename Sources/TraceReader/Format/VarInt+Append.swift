extension [UInt8] {
  /// Appends an unsigned LEB128 number.
  package mutating func appendVarInt(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a signed number, given as a bit pattern, as the varint of its zigzag form.
  package mutating func appendZigzag(_ pattern: UInt64) {
    appendVarInt(VarInt.zigzag(pattern))
  }
}
