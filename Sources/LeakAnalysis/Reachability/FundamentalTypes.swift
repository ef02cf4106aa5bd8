import TraceReader

/// The blocks with what GObject knows of fundamental types (`G_TYPE_OBJECT`, `G_TYPE_BOXED`).
///
/// Its table of these types has the addresses of what lies behind the flags that only they have.
///
/// ```
/// +0 flags   +8 the node of the type, 72 bytes   +80 the number of the type, and 0
/// ```
/// Source: `type_node_any_new_W` in `gtype.c`.
enum FundamentalTypes {
  /// Where the node lies.
  static let offset: UInt64 = 8

  private static let leastSize: UInt64 = 96

  /// The blocks that are such.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one by which GObject allocates; asked of few.
  /// - Returns: Their positions; none where GObject is not there.
  static func blocks(_ heap: HeapImage, isAllocated: (StackID) -> Bool) -> Set<Int> {
    guard !heap.memory.gobjectClasses.isEmpty else { return [] }
    let blocks = heap.blocks
    return Set(
      (0..<blocks.count).filter { block in
        let start = blocks.address(of: block)
        return blocks.size(of: block) == leastSize
          && [0, 80, 88].allSatisfy { heap.memory.word(at: start &+ $0) == 0 }
          && isAllocated(blocks.site(of: block).stack)
      })
  }
}
