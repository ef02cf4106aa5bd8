import TraceReader

/// The live blocks of which the program has said that they are none to report.
struct IgnoredBlocks {
  /// Their positions, ascending.
  let blocks: [Int]

  /// Finds the blocks that lived when the program said so, up to the snapshot.
  ///
  /// - Complexity: O(*r* · log *n*) for *r* calls of the program.
  init(_ heap: HeapImage) {
    var found: Set<Int> = []
    for ignored in heap.ignored where ignored.time <= heap.info.time {
      let address = ignored.address.rawValue
      let candidates = [
        heap.blocks.block(containing: address), heap.blocks.recorded(containing: address),
      ]
      // One that was allocated later is not meant.
      let block = candidates.compactMap { $0 }.first { heap.blocks.time(of: $0) <= ignored.time }
      if let block { found.insert(block) }
    }
    blocks = found.sorted()
  }
}
