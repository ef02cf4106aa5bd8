/// A live block, as small as it can be: everything else about it is in its site.
@usableFromInline
struct LiveEntry: BitwiseCopyable {
  @usableFromInline var address: UInt64
  /// The requested size in the low 56 bits, the alignment code above them.
  @usableFromInline private(set) var sizeAndAlignment: UInt64
  @usableFromInline var time: UInt64
  @usableFromInline var site: UInt32
  /// The allocation's number among those of its thread, wrapping; of ``LiveBlocksByAddress`` the
  /// position in the order of allocation.
  @usableFromInline var serial: UInt32

  init(address: UInt64, size: UInt64, alignment: UInt64, time: UInt64, site: UInt32, serial: UInt32)
  {
    self.address = address
    let code = UInt64(truncatingIfNeeded: Self.code(of: alignment))
    sizeAndAlignment = min(size, Self.greatestSize) | code << 56
    self.time = time
    self.site = site
    self.serial = serial
  }

  /// Greater sizes cannot have been allocated; only a damaged trace has them.
  @inlinable static var greatestSize: UInt64 { (1 << 56) - 1 }

  @inlinable var size: UInt64 { sizeAndAlignment & Self.greatestSize }

  /// The alignment that was asked for, rounded up to a power of two; 0 when none was.
  var alignment: UInt64 {
    let code = sizeAndAlignment >> 56
    return code == 0 ? 0 : 1 << (code - 1)
  }

  /// Whether the block lives; else only the address is of use.
  @inline(__always)
  var isLive: Bool { sizeAndAlignment != Self.freeMark }

  /// No alignment has such a code.
  private static let freeMark = UInt64.max

  /// Ends the life of the block.
  @inline(__always)
  mutating func free() {
    sizeAndAlignment = Self.freeMark
  }

  /// 0 for none, else one more than the exponent of the power of two.
  @inline(__always)
  private static func code(of alignment: UInt64) -> Int {
    if alignment == 0 { return 0 }
    return min(64, UInt64.bitWidth - (alignment &- 1).leadingZeroBitCount + 1)
  }
}
