/// An address in the traced process.
public struct Address: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number that stands in the trace.
  public var rawValue: UInt64

  /// Takes the number that stands in the trace.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Creates an address from its number.
  public init(_ rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Lowercase hexadecimal with the prefix `0x`, such as `0x7f12a0`.
  public var description: String {
    "0x" + String(rawValue, radix: 16)
  }

  /// Compares by number.
  public static func < (left: Address, right: Address) -> Bool {
    left.rawValue < right.rawValue
  }
}
