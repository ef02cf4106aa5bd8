import TraceReader

/// Links of lists that lead back to the list.
///
/// ```
/// list   +0 first link   +8 last link
/// link   +0 next link    +8 previous link: the list for the last one and for the first one
/// ```
/// The links are the beginnings of nodes, or lie inside of the elements; the list is allocated by itself, or lies
/// in an object.
/// Source: `_List_node_base` in `stl_list.h` of libstdc++; the same in libc++ and in lists of Boost, `list_head` of
/// Linux, `wl_list` of Wayland.
extension EdgeScanner {
  /// Whether a word of a leaked block is the link of the first or last node of a list that leads back to the list.
  ///
  /// All links of a ring look alike: the oldest block of it is the list.
  /// - Complexity: O(*n*) in nodes for the links of the list, and for others as many steps as an older block is away.
  @inline(__always)
  func leadsToListHead(at offset: UInt64, of block: Int, _ target: Target) -> Bool {
    target.edgeClass == .start
      && isListHead(target.block, linkedBy: block, heap.blocks.address(of: block) &+ offset)
  }

  @inline(never)
  private func isListHead(_ head: Int, linkedBy node: Int, _ address: UInt64) -> Bool {
    let (blocks, memory) = (heap.blocks, heap.memory)
    // Nodes without a list come from one place.
    guard blocks.siteIndex(of: head) != blocks.siteIndex(of: node) else { return false }
    let list = memory.word(at: address)
    guard memory.word(at: list &+ 8) == address || memory.word(at: list) == address &- 8 else {
      return false
    }
    var (previous, current) = (list, memory.word(at: list))
    for _ in 0..<blocks.count {
      guard memory.word(at: current &+ 8) == previous else { return false }
      if current == list { return true }
      let block = lookup.block(containing: current)
      guard block >= 0, blocks.order(of: block) > blocks.order(of: head) else { return false }
      (previous, current) = (current, memory.word(at: current))
    }
    return false
  }
}
