import TraceReader

/// Pointers of GObject's library to what lies behind private data in a block.
///
/// They are looked for in processes that use GObject only.
extension InteriorPointers {
  /// What GObject has behind private data: an instance of any type that is registered, or a closure.
  static func isOfGObject(
    at offset: UInt64, ofBlockAt address: UInt64, size: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    guard !memory.gobjectClasses.isEmpty, offset & 7 == 0, offset < 1 << 16 else { return false }
    return isTypeInstance(at: address &+ offset, memory)
      || isClosure(at: offset, ofBlockAt: address, size: size, memory)
  }

  /// An instance of a type that is not fundamental, as a `GParamSpec`, which is no GObject.
  ///
  /// ```
  /// instance --> class --> node of the type   +72 --> the node
  /// ```
  /// Source: `struct _TypeNode` in `gtype.c`.
  private static func isTypeInstance(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    let type = memory.word(at: address)
    guard type != 0, type & 7 == 0 else { return false }
    let node = memory.word(at: type)
    return node != 0 && node & 7 == 0 && memory.word(at: node &+ 72) == node
  }

  /// A closure, as signals have for each handler: behind the functions that call it with more than its arguments.
  ///
  /// ```
  /// +0 meta_marshal   +8 its data   +16 va_meta_marshal   +24 va_marshal
  /// +32 counts and flags (32 bits)  +40 marshal   +48 data   +56 notifiers
  /// ```
  /// Source: `GRealClosure` in `gclosure.c`, `GClosure` in `gclosure.h`.
  private static func isClosure(
    at offset: UInt64, ofBlockAt address: UInt64, size: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    guard offset == 32, size >= 64, memory.word(at: address &+ 32) >> 32 == 0 else { return false }
    let functions = [UInt64(0), 16, 24, 40].map { memory.word(at: address &+ $0) }
    return functions.contains { $0 != 0 }
      && functions.allSatisfy { $0 == 0 || isCode($0, memory) }
  }
}
