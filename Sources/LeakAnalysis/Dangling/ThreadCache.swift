import TraceReader

/// The cache of free blocks that glibc keeps for each thread, in a block that its allocator gives to itself.
///
/// ```
/// +0  64 counts of 16 bits     +128  64 lists of free blocks
/// ```
/// A thread-local variable points to it. No recorder sees how it is allocated: where it lies there may have been a
/// block that was freed.
/// Source: `tcache_perthread_struct` in `malloc/malloc.c` of glibc.
enum ThreadCache {
  private static let lists: Range<UInt64> = 128..<640

  /// Whether such a cache may be at an address.
  static func mayBegin(at address: UInt64, _ heap: HeapImage) -> Bool {
    let (end, isTooHigh) = address.addingReportingOverflow(lists.upperBound)
    var mayBegin = address & 15 == 0 && !isTooHigh
    guard mayBegin else { return false }
    heap.memory.forEachWord(in: address..<end) { position, value in
      if position &- address < lists.lowerBound || value & 15 != 0
        || heap.lookup.block(containing: value) >= 0
      {
        mayBegin = false
      }
    }
    return mayBegin
  }
}
