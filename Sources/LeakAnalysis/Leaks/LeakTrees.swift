/// Trees of shortest paths from the roots of leaks.
struct LeakTrees {
  /// For each node the root of its tree.
  private(set) var rootsOfNodes: [UInt32]
  /// The nodes, parents before their children, tree by tree.
  private var order: [UInt32] = []

  private static let none = UInt32.max

  /// Visits breadth first from each root in turn.
  ///
  /// - Parameters:
  ///   - graph: Is let go.
  ///   - roots: In the order in which they take what they hold.
  ///   - reachability: Gets the node above each block.
  init(_ graph: consuming LeakGraph, roots: [UInt32], _ reachability: inout Reachability) {
    rootsOfNodes = Array(repeating: Self.none, count: graph.count)
    order.reserveCapacity(graph.count)
    for root in roots {
      rootsOfNodes[Int(root)] = root
      reachability.setNodeAbove(Int(graph.blocks[Int(root)]), nil)
      var position = order.count
      order.append(root)
      while position < order.count {
        let node = order[position]
        position += 1
        for edge in graph.edges(of: Int(node)) {
          let target = graph.target(of: edge)
          guard rootsOfNodes[target] == Self.none else { continue }
          rootsOfNodes[target] = root
          reachability.setNodeAbove(Int(graph.blocks[target]), node)
          order.append(UInt32(truncatingIfNeeded: target))
        }
      }
    }
  }

  /// How many blocks, and how many bytes, are in the tree of each node, itself included.
  func sums(
    of nodeBlocks: [UInt32], _ blocks: HeapBlocks, _ reachability: Reachability
  ) -> (counts: [UInt32], bytes: [UInt64]) {
    var counts = Array(repeating: UInt32(1), count: nodeBlocks.count)
    var bytes = nodeBlocks.map { blocks.ownBytes(of: Int($0)) }
    for node in order.reversed() {
      guard let parent = reachability.nodeAbove(Int(nodeBlocks[Int(node)])) else { continue }
      counts[parent] &+= counts[Int(node)]
      bytes[parent] &+= bytes[Int(node)]
    }
    return (counts, bytes)
  }
}
