/// How many bytes an allocator makes of a request at least: what belongs to a block and to no other.
public struct BlockExtent: Sendable, Hashable {
  @usableFromInline let least: UInt64
  @usableFromInline let header: UInt64
  @usableFromInline let mask: UInt64

  /// That of glibc: 8 bytes in front of each block, multiples of 16, at least 32 with these.
  public static let glibc = BlockExtent(least: 24, header: 8, mask: 15)

  /// That of an allocator of which nothing is known.
  public static let unknown = BlockExtent(least: 8, header: 0, mask: 7)

  private init(least: UInt64, header: UInt64, mask: UInt64) {
    (self.least, self.header, self.mask) = (least, header, mask)
  }

  /// The bytes that are a block's own.
  @inlinable
  public func bytes(_ size: UInt64) -> UInt64 {
    guard size < 1 << 56 else { return size }
    return max(least, ((size &+ header &+ mask) & ~mask) &- header)
  }

  /// The bytes from the beginning of a block in which no other can begin: its own, and what is in front of the next.
  func reach(_ size: UInt64) -> UInt64 { bytes(size) &+ header }
}
