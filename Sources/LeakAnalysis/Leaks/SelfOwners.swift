/// Leaked blocks that hold themselves, because they count references and one of these lies in them, as an `Rc` of Rust
/// in the value that it shares.
///
/// ```
/// counts   counts   value … the address of the block
/// ```
enum SelfOwners {
  /// The two counts that are in front of the value.
  private static let valueOffset: UInt64 = 16

  /// - Parameters:
  ///   - heap: The heap.
  ///   - reachability: Which blocks are leaked.
  ///   - facts: Knows who counts references, and which pointers are such.
  /// - Returns: The blocks; only those of which it is known.
  /// - Complexity: O(*words*) in the leaked blocks.
  static func blocks(
    _ heap: HeapImage, _ reachability: Reachability, _ facts: StackFacts
  ) -> Set<Int> {
    let known = heap.blocks
    var found: Set<Int> = []
    for block in 0..<known.count where reachability.isUnreached(block) {
      let (start, end) = (known.address(of: block), known.end(of: block))
      // A damaged trace may have another block begin in front of the value.
      guard end - start > valueOffset else { continue }
      var offsets: [UInt64] = []
      heap.memory.forEachWord(in: start + valueOffset..<end) { address, value in
        if value == start { offsets.append(address &- start) }
      }
      guard !offsets.isEmpty, facts.countsReferences(known.site(of: block).stack) else { continue }
      if offsets.contains(where: { facts.isCounted($0, block, heap) }) { found.insert(block) }
    }
    return found
  }
}
