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

  private struct Visit {
    var node: Int32
    var edge: Int32
  }

  /// - Complexity: O(nodes + edges).
  init(_ graph: LeakGraph) {
    numbers = Array(repeating: Self.none, count: graph.count)
    var order = Array(repeating: Self.none, count: graph.count)
    var lowest = order
    var open: [Int32] = []
    var visits: [Visit] = []
    var next: Int32 = 0

    func begin(_ node: Int) {
      (order[node], lowest[node]) = (next, next)
      next += 1
      open.append(Int32(node))
      visits.append(Visit(node: Int32(node), edge: Int32(graph.edges(of: node).lowerBound)))
    }

    for start in 0..<graph.count where order[start] == Self.none {
      begin(start)
      while let visit = visits.last {
        let node = Int(visit.node)
        if Int(visit.edge) < graph.edges(of: node).upperBound {
          visits[visits.count - 1].edge += 1
          let target = Int(graph.targets[Int(visit.edge)])
          if order[target] == Self.none {
            begin(target)
          } else if numbers[target] == Self.none {
            lowest[node] = min(lowest[node], order[target])
          }
        } else {
          visits.removeLast()
          if let parent = visits.last.map({ Int($0.node) }) {
            lowest[parent] = min(lowest[parent], lowest[node])
          }
          if lowest[node] == order[node] { close(node, &open) }
        }
      }
    }
  }

  private mutating func close(_ root: Int, _ open: inout [Int32]) {
    let number = Int32(sizes.count)
    var size: Int32 = 0
    while let member = open.popLast() {
      numbers[Int(member)] = number
      size += 1
      if Int(member) == root { break }
    }
    sizes.append(size)
  }

  var count: Int { sizes.count }

  /// The component of a node, as a position in ``sizes``.
  func component(of node: Int) -> Int { Int(numbers[node]) }
}
