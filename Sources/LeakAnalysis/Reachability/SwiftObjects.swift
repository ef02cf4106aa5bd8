import TraceReader

/// What is known of the layout of Swift objects.
///
/// ```
/// +0  metadata     +8  reference counts, or side table >> 3 with bits 63 and 62 set
/// ```
/// Source: `stdlib/public/SwiftShims/swift/shims/RefCount.h` of the Swift repository.
enum SwiftObjects {
  /// No object has fewer bytes.
  static let leastSize: UInt64 = 16

  /// The second word of an object whose side table is at an address.
  static func sideTableWord(of table: UInt64) -> UInt64 { table >> 3 | 3 << 62 }

  /// Whether the last strong reference to an object is gone: bit 32 of the counts, in the object or
  /// in its side table.
  static func isTakenDown(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    let counts = memory.word(at: address &+ 8)
    let isTable = counts >> 62 == 3
    return (isTable ? memory.word(at: counts << 3 &+ 16) : counts) & 1 << 32 != 0
  }

  /// Whether an object lies at an address: its first word points somewhere, and its second one has
  /// the form of a reference count or names a side table.
  ///
  /// A count that is kept is never 0: an object that lives has an unowned count of at least 1,
  /// in bits 1 to 31, and the flag that allows quick deallocation in bit 0.
  static func isObject(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    let metadata = memory.word(at: address)
    guard metadata != 0, metadata & 7 == 0, memory.isMapped(metadata) else { return false }
    let counts = memory.word(at: address &+ 8)
    if counts >> 62 == 3 { return memory.isMapped(counts << 3 & ~0 >> 1) }
    return counts >> 62 == 0 && counts & 1 == 1 && counts & 0xffff_fffe != 0
  }
}
