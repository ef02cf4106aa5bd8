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
    self.init(
      address: address, size: min(size, Self.greatestSize),
      alignment: AlignmentCode(roundingUp: alignment), time: time, site: site, serial: serial)
  }

  /// As above, with a size that is not too great and an alignment that is a power of two.
  @inline(__always)
  init(
    address: UInt64, size: UInt64, alignment: AlignmentCode, time: UInt64, site: UInt32,
    serial: UInt32
  ) {
    self.address = address
    sizeAndAlignment = size | UInt64(alignment.rawValue) &<< 56
    self.time = time
    self.site = site
    self.serial = serial
  }

  /// Greater sizes cannot have been allocated; only a damaged trace has them.
  @inlinable static var greatestSize: UInt64 { (1 << 56) - 1 }

  @inline(__always)
  static func possibleSize(_ size: UInt64) -> UInt64 {
    // Hardly ever, so that it costs no more than a branch.
    size > greatestSize ? greatestSize : size
  }

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
}
