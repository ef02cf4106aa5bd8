import TraceReader

/// The heaps of glibc's arenas besides the main one: of 64 MiB, on multiples of it.
///
/// ```
/// +0  arena (`heap_info.ar_ptr`)    +8  the heap before it (`prev`), none for the first    +16 two sizes
/// ```
/// The arena lies behind the `heap_info` of its first heap.
/// Source: `malloc/arena.c` of glibc.
enum ArenaHeap {
  /// `HEAP_MAX_SIZE` on 64-bit systems.
  private static let size: UInt64 = 64 << 20

  /// The heap that the address of a block lies in: nobody else has blocks behind such words.
  static func holding(_ address: UInt64, _ memory: SnapshotMemory) -> Range<UInt64>? {
    let start = beginning(of: address)
    let arena = memory.word(at: start)
    guard start > 0, arena & 15 == 0, arena & (size - 1) < 256, arena != 0 else { return nil }
    guard memory.word(at: beginning(of: arena)) == arena else { return nil }
    return range(at: start)
  }

  /// The heaps in a region, whether they have blocks or not.
  ///
  /// Without one, what the program mapped itself may begin with the same words. It has no lists of
  /// free memory behind them.
  static func heaps(in region: SnapshotRegion, _ memory: SnapshotMemory) -> [Range<UInt64>] {
    var heaps: [Range<UInt64>] = []
    var start = beginning(of: region.start)
    while start < region.end {
      if isHeap(at: start, memory) {
        heaps.append(range(at: start).clamped(to: region.start..<region.end))
      }
      // The first word of a heap is kept: many heaps' worth of memory without any is none.
      guard let next = memory.firstKeptPage(from: start &+ 4096), next > start else { break }
      let (following, overflows) = beginning(of: next &- 1).addingReportingOverflow(size)
      if overflows { break }
      start = following
    }
    return heaps
  }

  private static func isHeap(at start: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard let heap = holding(start, memory) else { return false }
    let arena = memory.word(at: start)
    let previous = memory.word(at: start &+ 8)
    if heap.contains(arena) {
      guard previous == 0 else { return false }
    } else {
      guard previous != start, previous & (size - 1) == 0, memory.word(at: previous) == arena
      else { return false }
    }
    return MainArena.isArena(at: arena, memory)
  }

  private static func beginning(of address: UInt64) -> UInt64 { address & ~(size - 1) }

  private static func range(at start: UInt64) -> Range<UInt64> {
    let (end, overflows) = start.addingReportingOverflow(size)
    return start..<(overflows ? .max : end)
  }
}
