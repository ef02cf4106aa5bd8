/// How a word points to a block.
public enum EdgeClass: UInt8, Sendable, Hashable, CaseIterable {
  /// To its beginning, or in a way that its language or library prescribes.
  case start
  /// Into the middle.
  case interior
  /// To its beginning, with bits set that are not part of an address.
  case tagged
}
