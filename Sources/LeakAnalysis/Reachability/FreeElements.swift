import TraceReader

/// The places in the storage of a `std::vector` or `std::deque` of C++ that have no element: what `clear`, `pop_back`
/// and `pop_front` leave there, or what was in the memory before.
///
/// The container counts that lies in variables, in a mapping or in a block, and only where no stack and no register
/// leads to the storage: there somebody may be adding elements that the container does not count yet, or have the
/// container in registers.
struct FreeElements: Sendable {
  private var used = UsedParts()

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - heap: The heap.
  ///   - roots: All of them.
  ///   - facts: Knows who allocates storage for elements.
  /// - Complexity: O(*words*).
  init(_ heap: HeapImage, _ roots: [Root], _ facts: StackFacts) {
    let blocks = heap.blocks
    let places = roots.filter(\.hasObjects).map(\.range)
      .sorted { $0.lowerBound < $1.lowerBound }
    used = UsedParts(in: heap) { _, container in
      if heap.lookup.block(containing: container) >= 0 { return true }
      let next = places.partitioningIndex { $0.lowerBound > container }
      return next > 0 && places[next - 1].contains(container)
    }
    // Names are looked up for those only of which some is free.
    for block in Array(used.blocks)
    where used[block] == 0..<blocks.size(of: block)
      || !facts.isElements(blocks.site(of: block).stack)
    {
      used.remove(block)
    }
    if !isEmpty { RootWords(heap).forEachBlockInHand(of: roots) { used.remove($0) } }
  }

  var isEmpty: Bool { used.isEmpty }

  /// Where the elements of a block are, in bytes from its beginning; nil where all of it may hold some.
  func elements(of block: Int) -> Range<UInt64>? { used[block] }
}
