import TraceReader

/// The variable in which glibc's malloc keeps the lists of free memory of the main arena.
///
/// It is no root: what it points to is free, or was. Its symbol is not exported, but its form gives
/// it away: 127 list heads in a row (`malloc_state.bins`), of which those that are empty point to
/// 16 bytes before themselves, twice. The last one is always empty; of a heap in which much was freed, few others are.
enum MainArena {
  /// Before the list heads: lock, flags, fast bins, `top`, `last_remainder`.
  private static let head: UInt64 = 112
  /// The list heads.
  private static let bins: UInt64 = 127 * 16
  /// Behind them: the map of bins, links to other arenas, counters.
  private static let tail: UInt64 = 56
  /// Where it is in a region; nil when it is not there.
  static func range(in region: SnapshotRegion, _ memory: SnapshotMemory) -> Range<UInt64>? {
    // From the last list head back to the beginning, and on to the end of the variable.
    let (before, behind) = (bins - 16 + head, 16 + tail)
    var found: UInt64?
    memory.forEachWord(in: region.start..<region.end) { address, value in
      guard value == address &- 16, memory.word(at: address &+ 8) == value,
        address - region.start >= before, areLists(address - (bins - 16)...address, memory)
      else { return }
      // Words in front of the list heads may look like some, none behind them does.
      found = address
    }
    return found.map { $0 - before..<$0 + min(behind, region.end - $0) }
  }

  /// Whether an arena is at an address: whether its list heads are where they belong.
  static func isArena(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    let (last, overflows) = address.addingReportingOverflow(head + bins - 16)
    guard !overflows, memory.word(at: last) == last - 16 else { return false }
    return areLists(address + head...last, memory)
  }

  /// Whether libc is there, but its malloc was never used: another one stands in for it.
  static func isUnused(in memory: SnapshotMemory) -> Bool {
    let images = memory.regions.filter { $0.kind == .image && $0.isKept }
    return images.contains { isLibrary($0.path) }
      && images.allSatisfy { range(in: $0, memory) == nil }
  }

  /// `libc.so.6`, until glibc 2.34 `libc-2.31.so`.
  private static func isLibrary(_ path: String?) -> Bool {
    guard let name = path?.split(separator: "/").last else { return false }
    return name.hasPrefix("libc.so.") || name.hasPrefix("libc-2.")
  }

  /// Whether all list heads are such: those that are not empty point to memory of the allocator, twice.
  ///
  /// Other allocators have fewer lists of the same form, Python for example, in front of which anything
  /// may stand.
  private static func areLists(
    _ heads: ClosedRange<UInt64>, _ memory: SnapshotMemory
  ) -> Bool {
    stride(from: heads.lowerBound, through: heads.upperBound, by: 16).allSatisfy { head in
      let (first, last) = (memory.word(at: head), memory.word(at: head &+ 8))
      if first == head &- 16, last == first { return true }
      return [first, last].allSatisfy { chunk in
        memory.region(containing: chunk).map { $0.kind != .image } ?? false
      }
    }
  }
}
