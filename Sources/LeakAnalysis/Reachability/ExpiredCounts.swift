import TraceReader

/// What counts the references to an object of a `std::shared_ptr`, as its type tells.
public struct SharedCounts: Sendable, Hashable {
  /// Whether only the object lies behind the counts, or its address: nothing that would delete it and hold something.
  public var isOnlyForObject: Bool

  /// Describes counts.
  public init(isOnlyForObject: Bool) { self.isOnlyForObject = isOnlyForObject }
}

/// What counts for objects of `std::shared_ptr` that their last owner has deleted, and is still there for a
/// `std::weak_ptr`: who has one can get no object from it, whatever has been allocated where that was.
///
/// ```
/// weak_ptr   object   counts
/// counts     virtual functions   u32 owners   u32 weak references   the object, its address, or what deletes it
/// counts     virtual functions   i64 owners - 1   i64 weak references   the object, or its address
/// ```
/// The first counts are those of libstdc++ and of Boost, the second those of libc++. While the destructor of an object
/// runs, a stack or a register leads to its counts: then all of it holds as before.
/// Source: `bits/shared_ptr_base.h` of libstdc++, `boost/smart_ptr/detail/sp_counted_base*.hpp`, `__memory/shared_count.h`
/// of libc++.
struct ExpiredCounts: Sendable {
  /// The blocks in which nothing holds.
  private var hollow: Set<Int> = []
  /// The addresses of counts that no other words lead to than those of the references which they count.
  private var addresses: Set<UInt64> = []

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - heap: The heap.
  ///   - roots: All of them.
  ///   - types: What counts, by its first word.
  /// - Complexity: O(*words*) where there are some.
  init(_ heap: HeapImage, _ roots: [Root], _ types: [UInt64: SharedCounts]) {
    guard !types.isEmpty else { return }
    let (blocks, memory) = (heap.blocks, heap.memory)
    var found: [Int: SharedCounts] = [:]
    for block in 0..<blocks.count where blocks.size(of: block) >= Self.leastSize {
      let start = blocks.address(of: block)
      guard let type = types[memory.word(at: start)], Self.haveNoOwner(at: start, memory) else {
        continue
      }
      found[block] = type
    }
    guard !found.isEmpty else { return }
    let words = RootWords(heap)
    words.forEachBlockInHand(of: roots) { found[$0] = nil }
    hollow = Set(found.filter { $0.value.isOnlyForObject }.keys)
    var weak: [UInt64: UInt64] = [:]
    for block in found.keys {
      let start = blocks.address(of: block)
      // How many there are is not in snapshots where libc++ counts.
      let counts = memory.word(at: start &+ 8)
      if counts != .max { weak[start] = counts >> 32 }
    }
    Self.takeAway(from: &weak, heap, roots)
    addresses = Set(weak.keys)
  }

  /// Takes away what more words lead to than it counts: some of these are left from before, and what stands in front of
  /// them is no object of a `std::weak_ptr`.
  private static func takeAway(
    from weak: inout [UInt64: UInt64], _ heap: HeapImage, _ roots: [Root]
  ) {
    guard !weak.isEmpty else { return }
    var counts = weak
    func note(_ value: UInt64) {
      guard let left = counts[value] else { return }
      counts[value] = left == 0 ? nil : left - 1
      if left == 0 { weak[value] = nil }
    }
    for block in 0..<heap.blocks.count {
      let start = heap.blocks.address(of: block)
      heap.memory.forEachWord(in: start..<heap.blocks.end(of: block)) { note($1) }
    }
    let words = RootWords(heap)
    for root in roots where !root.isBlock { words.forEach(of: root) { note($1) } }
  }

  private static func haveNoOwner(at start: UInt64, _ memory: SnapshotMemory) -> Bool {
    let owners = memory.word(at: start &+ 8)
    return owners == .max || (owners != 0 && UInt32(truncatingIfNeeded: owners) == 0)
  }

  private static let leastSize: UInt64 = 16

  var isEmpty: Bool { hollow.isEmpty && addresses.isEmpty }

  /// Whether nothing in a block holds, as the object is gone that was in it.
  func isHollow(_ block: Int) -> Bool { hollow.contains(block) }

  /// Whether the word at an address is a pointer of a `std::weak_ptr` to an object that is gone.
  func isExpired(at address: UInt64, _ memory: SnapshotMemory) -> Bool {
    addresses.contains(memory.word(at: address &+ 8))
  }
}
