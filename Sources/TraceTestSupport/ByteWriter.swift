import TraceReader

/// Appends little-endian fields to bytes.
public struct ByteWriter: Sendable {
  /// What was written.
  public var bytes: [UInt8] = []

  /// Creates a writer without bytes.
  public init() {}

  /// Appends an integer.
  public mutating func write<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends bytes as they are.
  public mutating func write(_ more: some Sequence<UInt8>) {
    bytes.append(contentsOf: more)
  }

  /// Appends an unsigned LEB128 number.
  public mutating func writeVarInt(_ value: UInt64) {
    bytes.appendVarInt(value)
  }

  /// Appends a signed number, given as a bit pattern, as the varint of its zigzag form.
  public mutating func writeZigzag(_ pattern: UInt64) {
    bytes.appendZigzag(pattern)
  }

  /// Appends zeros up to a multiple of `alignment`.
  public mutating func pad(to alignment: Int) {
    let rest = bytes.count % alignment
    if rest != 0 { bytes.append(contentsOf: repeatElement(0, count: alignment - rest)) }
  }
}
