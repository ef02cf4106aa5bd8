/// The strongly connected components of a graph: sets of nodes that all reach each other.
///
/// Tarjan's algorithm with a stack of its own, since a leaked list may have a million elements.
struct Components {
  /// For each node the number of its component; a component has a greater number than those that
  /// it points to.
  private(set) var numbers: [Int32]
  /// How many nodes each component has.
  private(set) var sizes: [Int32] = []

  private static let none: Int32 = -1

  /// What is known of a node, side by side: nodes are met in no order.
  private struct Node {
    /// When it was met.
    var order = Components.none
    /// When the first was met that can be reached from it and is not closed.
    var lowest = Components.none
    var component = Components.none
  }

  private struct Visit {
    var node: Int32
    var edge: Int32
    var end: Int32

    init(_ node: Int, _ graph: LeakGraph) {
      self.node = Int32(truncatingIfNeeded: node)
      let edges = graph.edges(of: node)
      edge = Int32(truncatingIfNeeded: edges.lowerBound)
      end = Int32(truncatingIfNeeded: edges.upperBound)
    }
  }

  /// - Complexity: O(nodes + edges).
  init(_ graph: LeakGraph) {
    var nodes = Array(repeating: Node(), count: graph.count)
    var open: [Int32] = []
    var visits: [Visit] = []
    var next: Int32 = 0
    for start in 0..<graph.count where nodes[start].order == Self.none {
      var met = start
      while true {
        if met >= 0 {
          nodes[met].order = next
          nodes[met].lowest = next
          next += 1
          open.append(Int32(truncatingIfNeeded: met))
          visits.append(Visit(met, graph))
        }
        guard let visit = visits.last else { break }
        met = Self.advance(visit, &visits[visits.count - 1], graph, &nodes)
        if met >= 0 { continue }
        visits.removeLast()
        let node = Int(visit.node)
        let lowest = nodes[node].lowest
        if let parent = visits.last.map({ Int($0.node) }) {
          nodes[parent].lowest = min(nodes[parent].lowest, lowest)
        }
        if lowest == nodes[node].order { Self.close(node, &open, &nodes, &sizes) }
      }
    }
    numbers = nodes.map(\.component)
  }

  /// Goes along the edges of a node until one leads to a node that was not met.
  ///
  /// - Returns: That node; -1 when there is none.
  @inline(__always)
  private static func advance(
    _ start: Visit, _ visit: inout Visit, _ graph: LeakGraph, _ nodes: inout [Node]
  ) -> Int {
    var lowest = Int32.max
    var edge = start.edge
    var met = -1
    while edge < start.end, met < 0 {
      let target = Int(graph.targets[Int(edge)])
      edge += 1
      let other = nodes[target]
      if other.order == none {
        met = target
      } else if other.component == none {
        lowest = min(lowest, other.order)
      }
    }
    visit.edge = edge
    let node = Int(start.node)
    if lowest < nodes[node].lowest { nodes[node].lowest = lowest }
    return met
  }

  private static func close(
    _ root: Int, _ open: inout [Int32], _ nodes: inout [Node], _ sizes: inout [Int32]
  ) {
    let number = Int32(truncatingIfNeeded: sizes.count)
    var size: Int32 = 0
    while let member = open.popLast() {
      nodes[Int(member)].component = number
      size += 1
      if Int(member) == root { break }
    }
    sizes.append(size)
  }

  var count: Int { sizes.count }

  /// The component of a node, as a position in ``sizes``.
  func component(of node: Int) -> Int { Int(numbers[node]) }
}
