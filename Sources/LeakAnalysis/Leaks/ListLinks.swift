import TraceReader

/// Links of lists of C++ that lead back to the list.
///
/// ```
/// std::list   +0 first node   +8 last node
/// node        +0 next node    +8 previous node: the list for the last one and for the first one
/// ```
/// Where the list is allocated by itself, or lies at the beginning of an object, these are pointers to the beginning
/// of a block, as those to any node.
/// Source: `_List_node_base` in `stl_list.h` of libstdc++; the same in libc++ and in lists of Boost.
extension EdgeScanner {
  /// Whether a word of a leaked block is the link of the first or last node of a list that leads back to the list.
  ///
  /// All links of a ring look alike: the oldest block of it is the list.
  /// - Complexity: O(*n*) in nodes for the links of the list, and for others as many steps as an older block is away.
  @inline(__always)
  func leadsToListHead(at offset: UInt64, of block: Int, _ target: Target) -> Bool {
    offset <= 8 && target.edgeClass == .start && isListHead(target.block, linkedBy: block, offset)
  }

  @inline(never)
  private func isListHead(_ head: Int, linkedBy node: Int, _ offset: UInt64) -> Bool {
    let (blocks, memory) = (heap.blocks, heap.memory)
    // Nodes without a list come from one place.
    guard blocks.site(of: head).operation.family != .malloc,
      blocks.siteIndex(of: head) != blocks.siteIndex(of: node)
    else { return false }
    let (list, own) = (blocks.address(of: head), blocks.address(of: node))
    guard memory.word(at: offset == 0 ? list &+ 8 : list) == own else { return false }
    var (previous, current) = (list, memory.word(at: list))
    for _ in 0..<blocks.count {
      guard memory.word(at: current &+ 8) == previous else { return false }
      if current == list { return true }
      guard let block = blocks.block(at: current), blocks.order(of: block) > blocks.order(of: head)
      else { return false }
      (previous, current) = (current, memory.word(at: current))
    }
    return false
  }
}
