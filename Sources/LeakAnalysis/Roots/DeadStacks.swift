import TraceReader

/// Stacks of threads that have ended, which glibc keeps for threads to come.
///
/// Nothing in them is alive, yet the variables of the ended thread still stand there. Such a stack
/// has a thread control block at its upper end that belongs to none of the threads. Stacks without
/// one, of coroutines for example, are the program's own and count as alive.
enum DeadStacks {
  /// How much thread-local storage and control block may lie behind the block's beginning.
  private static let searched: UInt64 = 64 << 10

  /// The control blocks in a mapping that belong to no thread.
  ///
  /// A control block of x86_64 begins with a pointer to itself (`tcb`), the dynamic thread vector
  /// and once more a pointer to itself (`self`); `struct pthread` in glibc's `nptl/descr.h`.
  static func isDead(_ region: SnapshotRegion, in info: SnapshotInfo, _ memory: SnapshotMemory)
    -> Bool
  {
    guard region.kind == .anonymous, region.path == nil, hasGuard(region, memory.regions) else {
      return false
    }
    let start = region.end - region.start > searched ? region.end - searched : region.start
    var found = false
    memory.forEachWord(in: start..<region.end) { address, value in
      if value == address, memory.word(at: address &+ 16) == address { found = true }
    }
    guard found else { return false }
    return !info.threads.contains { region.contains($0.tlsBase) || region.contains($0.sp) }
  }

  /// Whether an inaccessible mapping lies right below: the guard of a stack.
  private static func hasGuard(_ region: SnapshotRegion, _ regions: [SnapshotRegion]) -> Bool {
    regions.contains { $0.end == region.start && $0.protection.isEmpty }
  }
}
