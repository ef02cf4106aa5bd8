import TraceReader

/// Stacks of threads that have ended, which glibc keeps for threads to come.
///
/// Nothing in them is alive, yet the variables of the ended thread still stand there. Such a stack
/// has a thread control block at its upper end that belongs to none of the threads. Stacks without
/// one, of coroutines for example, are the program's own and count as alive. The control block of a
/// thread that can be joined still holds its result.
enum DeadStacks {
  /// glibc's `struct pthread` on x86_64, rounded up; behind it the stack ends at the next page.
  private static let controlBlockSize: UInt64 = 2304

  /// The part of a mapping that is such a stack; empty when none is there.
  ///
  /// The kernel joins mappings that touch: a stack begins where its guard ends, but behind its
  /// control block something else may follow. A control block of x86_64 begins with a pointer to
  /// itself (`tcb`), the dynamic thread vector and once more a pointer to itself (`self`);
  /// `struct pthread` in glibc's `nptl/descr.h`.
  static func range(
    in region: SnapshotRegion, of info: SnapshotInfo, _ memory: SnapshotMemory
  ) -> Range<UInt64> {
    let none = region.start..<region.start
    guard region.kind == .anonymous, region.path == nil, hasGuard(region, memory.regions) else {
      return none
    }
    var block: UInt64?
    memory.forEachWord(in: region.start..<region.end) { address, value in
      guard value == address, block == nil else { return }
      if memory.word(at: address &+ 16) == address { block = address }
    }
    guard let block else { return none }
    let end = min(region.end, (block &+ controlBlockSize &+ 4095) & ~4095)
    let range = region.start..<max(end, region.start)
    let isAlive = info.threads.contains { $0.tlsBase == block || range.contains($0.sp) }
    if isAlive { return none }
    return awaitsJoin(block, of: info, memory) ? region.start..<block : range
  }

  // MARK: - Threads that were not joined yet

  /// Where a control block has its place in a list of glibc's: behind the header that the ABI knows
  /// (`tcbhead_t`), `list` of `struct pthread`.
  private static let listOffset: UInt64 = 704

  /// Whether whoever joins the thread will get its result, which lies in its control block.
  ///
  /// Until then it is in the list of stacks in use, as threads that run are; afterwards in that of
  /// cached ones. Where no other thread runs, the list is told by its head. From glibc 2.34 on the
  /// heads lie one behind the other (`_dl_stack_used`, `_dl_stack_user`, `_dl_stack_cache` in
  /// `sysdeps/generic/ldsodefs.h`), and only the main thread is in the second one.
  private static func awaitsJoin(
    _ block: UInt64, of info: SnapshotInfo, _ memory: SnapshotMemory
  ) -> Bool {
    var used: Set<UInt64> = []
    for thread in info.threads {
      let place = thread.tlsBase &+ listOffset, next = memory.word(at: place)
      used.insert(place)
      // Alone in its list: the other member is the head.
      if next != 0, next == memory.word(at: place &+ 8) { used.insert(next &- 16) }
    }
    let first = block &+ listOffset
    var place = memory.word(at: first)
    for _ in 0..<mostStacks where place != 0 && place != first {
      if used.contains(place) { return true }
      place = memory.word(at: place)
    }
    return false
  }

  /// A limit for damaged lists, which may go in circles that the block is not in.
  private static let mostStacks = 100_000

  /// Whether an inaccessible mapping lies right below: the guard of a stack.
  static func hasGuard(_ region: SnapshotRegion, _ regions: [SnapshotRegion]) -> Bool {
    let below = regions.partitioningIndex { $0.end >= region.start }
    return below < regions.count && regions[below].end == region.start
      && regions[below].protection.isEmpty
  }
}
