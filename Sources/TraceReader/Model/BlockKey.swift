/// What tells blocks apart that are live at the same time: the address, and whether it was announced.
///
/// A block of the program's own allocator may begin where the block of `malloc` does that it lies in. So
/// events, tables and passes know announced blocks by their address with a bit set that no address of a
/// process has. Outside of this module addresses are what they are.
enum BlockKey {
  /// Set in the keys of announced blocks.
  static let announced: UInt64 = 1 << 63

  /// Whether a key is that of an announced block.
  @inline(__always)
  static func isAnnounced(_ key: UInt64) -> Bool { key & announced != 0 }

  /// Where the block with a key begins.
  @inline(__always)
  static func start(_ key: UInt64) -> UInt64 { key & ~announced }

  /// The address of a block.
  ///
  /// - Parameters:
  ///   - key: Its key.
  ///   - operation: What allocated or ended it.
  /// - Returns: Where it begins.
  @inline(__always)
  static func address(of key: UInt64, _ operation: Operation) -> Address {
    Address(operation.isOfAnnounced ? start(key) : key)
  }

  /// The key of the block at an address that an operation is about.
  @inline(__always)
  static func of(_ address: Address, _ operation: Operation) -> UInt64 {
    operation.isOfAnnounced ? address.rawValue | announced : address.rawValue
  }

  /// The key of the block at the same address of the other kind.
  static func other(_ key: UInt64) -> UInt64 { key ^ announced }
}

extension Event {
  /// What tells the block from all others that are live: see ``BlockKey``.
  package var blockKey: UInt64 { BlockKey.of(address, operation) }
}

extension Operation {
  /// Whether the operation is one on blocks of the program's own allocators.
  public var isOfAnnounced: Bool { self == .announced || self == .announcedEnd }

  /// What blocks are called that it made and of which only the caller is known: `malloc in f`, `pool block in f`.
  ///
  /// The program has called another function, and memtrace has made nothing.
  public var blockName: String { isOfAnnounced ? "pool block" : name }
}
