import TraceReader

/// Pointers that the counts beside them forbid to follow: those of a `std::weak_ptr` to an object that its last owner
/// has deleted, and of what counts its references.
///
/// ```
/// weak_ptr   object   counts
/// counts     virtual functions   u32 owners   u32 weak references   object, or what deletes it and the object
/// counts     virtual functions   i64 owners - 1   i64 weak references   object
/// ```
/// The first counts are those of libstdc++ and of Boost, the second those of libc++. While anybody counts as an owner,
/// the pointers do dangle: two that do not know of each other have taken one object.
/// Source: `bits/shared_ptr_base.h` of libstdc++, `boost/smart_ptr/detail/sp_counted_base*.hpp`, `__memory/shared_ptr.h`
/// of libc++.
enum ExpiredReferences {
  /// Whether the word at an address is such a pointer.
  ///
  /// - Parameters:
  ///   - address: Of the word.
  ///   - block: The block that it is in; nil for none.
  ///   - heap: What has both.
  /// - Returns: True only where the counts are known and have no owner.
  static func contains(_ address: UInt64, in block: Int?, _ heap: HeapImage) -> Bool {
    let counts = heap.memory.word(at: address &+ 8)
    if heap.blocks.block(at: counts) != nil, haveNoOwner(counts, heap.memory) { return true }
    guard let block else { return false }
    let start = heap.blocks.address(of: block)
    return 16...32 ~= address &- start && haveNoOwner(start, heap.memory)
  }

  private static func haveNoOwner(_ counts: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard InteriorPointers.isVirtualTable(memory.word(at: counts), memory) else { return false }
    let owners = memory.word(at: counts &+ 8)
    return owners == .max || (owners != 0 && UInt32(truncatingIfNeeded: owners) == 0)
  }
}
