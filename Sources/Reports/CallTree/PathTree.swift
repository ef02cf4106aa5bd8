import TraceReader

/// What can be summed up along paths.
protocol PathWeight {
  /// Nothing.
  init()
  /// Adds another weight.
  static func += (left: inout Self, right: Self)
}

extension Tally: PathWeight {}
extension UInt64: PathWeight {}

/// The sum of paths by their common beginnings.
///
/// Node 0 is the sum of everything; a node's parent always comes before it.
struct PathTree<Weight: PathWeight> {
  struct Node {
    /// The element of the path that the node stands for; -1 for the sum.
    var frame: Int
    var parent: Int
    var weight = Weight()
    var children: [Int] = []
  }

  private(set) var nodes = [Node(frame: -1, parent: -1)]
  private var childIndices: [UInt64: Int] = [:]

  /// Adds a weight to each node of a path, from the root on.
  mutating func add(_ path: [Int], _ weight: Weight) {
    var node = 0
    nodes[0].weight += weight
    for frame in path {
      let key = UInt64(node) << 32 | UInt64(UInt32(truncatingIfNeeded: frame))
      if let child = childIndices[key] {
        node = child
      } else {
        let child = nodes.count
        childIndices[key] = child
        nodes.append(Node(frame: frame, parent: node))
        nodes[node].children.append(child)
        node = child
      }
      nodes[node].weight += weight
    }
  }

  /// Puts the children of each node in order.
  mutating func sortChildren(by precedes: (Node, Node) -> Bool) {
    for index in nodes.indices where nodes[index].children.count > 1 {
      nodes[index].children = nodes[index].children.sorted { precedes(nodes[$0], nodes[$1]) }
    }
  }
}
