import LeakAnalysis

/// Elements of a list in a tree of leaks, each held by the one before it in the same way.
///
/// Each of them has its level in the tree, so that a list of any length would run out of the page, and say
/// the same in every line.
struct LeakTreeRow {
  /// The last element: it has a line again.
  private(set) var last: Int
  /// The element that holds the last one.
  private(set) var holder: Int
  /// The pointer from that to the last one.
  private(set) var edge: LeakForest.Edge
  /// How many elements come before the last one.
  private(set) var count = 1

  /// Fewer elements are not worth a line that stands for them.
  private static let least = 4
  /// What an element holds apart from the next one is left out with it, as long as it is little.
  private static let mostBeside = 8

  /// The row that begins with an element; nil where too few elements follow to leave them out.
  ///
  /// - Parameters:
  ///   - first: The pointer to the first element, from one that is like it.
  ///   - leaks: The trees.
  ///   - labels: Names of blocks.
  init?(from first: LeakForest.Edge, of leaks: LeakForest, labels: BlockLabels) {
    (last, holder, edge) = (first.target, first.target, first)
    let name = labels.name(of: leaks.block(of: first.target))
    var length = 0
    while let next = Self.next(after: edge, of: leaks, labels.heap.blocks),
      labels.name(of: leaks.block(of: next.target)) == name
    {
      (holder, last, edge) = (last, next.target, next)
      length += 1
    }
    guard length >= Self.least else { return nil }
    count = length
  }

  /// Whether a block holds one like itself, as elements of lists do.
  static func isStep(
    _ edge: LeakForest.Edge, from node: Int, of leaks: LeakForest, labels: BlockLabels
  ) -> Bool {
    isOfOneSize(edge, from: node, of: leaks, labels.heap.blocks)
      && labels.name(of: leaks.block(of: node)) == labels.name(of: leaks.block(of: edge.target))
  }

  /// Whether a block holds one of its size.
  private static func isOfOneSize(
    _ edge: LeakForest.Edge, from node: Int, of leaks: LeakForest, _ blocks: HeapBlocks
  ) -> Bool {
    leaks.parent(of: edge.target) == node
      && blocks.size(of: leaks.block(of: node)) == blocks.size(of: leaks.block(of: edge.target))
  }

  /// The pointer from an element to the next one, whatever that is called.
  private static func next(
    after edge: LeakForest.Edge, of leaks: LeakForest, _ blocks: HeapBlocks
  ) -> LeakForest.Edge? {
    let node = edge.target
    guard
      let next = leaks.edges(of: node).first(where: { $0.offset == edge.offset }),
      isOfOneSize(next, from: node, of: leaks, blocks),
      leaks.subtreeCount(of: node) - leaks.subtreeCount(of: next.target) <= mostBeside + 1
    else { return nil }
    return next
  }
}
