import TraceReader

/// Links inside of the elements of lists and trees that nothing leads back to, and links with tags.
///
/// ```
/// variable --> link of one element --> link of the next --> null
/// ```
/// What gives them away is that they lead to the same place of another element of their kind: `slist` of Boost,
/// `llist_node` and `rb_node` of Linux (whose first word, with a color in bit 0, leads to the node above).
extension EdgeScanner {
  /// Whether words in the middle of a block lead to the same place of others of its kind.
  ///
  /// Kind is the size, or who allocated them: elements may end with a name.
  func isElementLink(at offset: UInt64, of block: Int) -> Bool {
    guard offset & 7 == 0 else { return false }
    let start = heap.blocks.address(of: block)
    return stride(from: 0, through: Self.lastLink, by: 8).contains { place in
      guard offset &+ place &+ 8 <= heap.blocks.size(of: block) else { return false }
      let next = heap.memory.word(at: start &+ offset &+ place) & ~Self.linkTags
      guard next != 0 else { return false }
      let other = lookup.block(containing: next)
      return other >= 0 && next &- heap.blocks.address(of: other) == offset
        && isAlike(other, block)
    }
  }

  /// Whether a word of a block is such a link that leads to the middle of another one: perhaps of the last element.
  func isElementLink(at place: UInt64, of block: Int, to value: UInt64, _ target: Int) -> Bool {
    let offset = value &- heap.blocks.address(of: target)
    guard offset & 7 == 0, place >= offset, place &- offset <= Self.lastLink else {
      return false
    }
    return isAlike(target, block)
  }

  /// Whether a word of a block leads with tags to another block of its kind, as the color of a node stands in its link:
  /// `tsearch` of glibc, whose nodes are red where the lowest bit of the left link is set.
  func isTaggedLink(_ value: UInt64, of block: Int, to target: Target) -> Bool {
    let tags = value &- heap.blocks.address(of: target.block)
    return target.edgeClass == .tagged && tags & 7 <= Self.linkTags && isAlike(target.block, block)
  }

  private func isAlike(_ block: Int, _ other: Int) -> Bool {
    let blocks = heap.blocks
    guard block != other else { return false }
    if blocks.size(of: block) == blocks.size(of: other) { return true }
    let stack = blocks.site(of: block).stack
    return stack != .none && stack == blocks.site(of: other).stack
  }

  /// Links are of up to three words: this is where the last one lies.
  private static let lastLink: UInt64 = 16
  /// The color of a node.
  private static let linkTags: UInt64 = 3
}
