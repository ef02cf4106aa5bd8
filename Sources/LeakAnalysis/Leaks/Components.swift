/// The strongly connected components of a graph: sets of nodes that all reach each other.
///
/// Pearce's form of Tarjan's algorithm ("A space-efficient algorithm for finding strongly connected
/// components", 2016), with a stack of its own, since a leaked list may have a million elements: at
/// most 12 bytes per node.
struct Components: ~Copyable {
  /// The state of each node.
  ///
  /// 0 until it is met. Then the order in which it was met, or that of the first one it
  /// can reach that is not closed; at last the number of its component, from the greatest down.
  private var marks: [UInt32]
  /// How many there are.
  private(set) var count = 0

  /// A node on the way from where the search began.
  struct Visit: BitwiseCopyable {
    var node: UInt32
    /// The next edge, and whether an earlier node was found already.
    private var bits: UInt32

    init(_ node: Int, edge: Int) {
      self.node = UInt32(truncatingIfNeeded: node)
      bits = UInt32(truncatingIfNeeded: edge)
    }

    var edge: Int {
      get { Int(bits & 0x7fff_ffff) }
      set { bits = bits & 0x8000_0000 | UInt32(truncatingIfNeeded: newValue) }
    }

    var reachesEarlier: Bool { bits >> 31 == 1 }

    mutating func noteEarlier() { bits |= 0x8000_0000 }
  }

  private var path = GrowingList<Visit>()
  /// Nodes that are done, and whose component is not closed.
  private var open = GrowingList<UInt32>()
  private var next: UInt32 = 1

  /// - Complexity: O(nodes + edges).
  init(_ graph: borrowing LeakGraph) {
    marks = Array(repeating: 0, count: graph.count)
    for start in 0..<graph.count where marks[start] == 0 {
      begin(start, graph)
      while var visit = path.popLast() {
        if let met = advance(&visit, graph) {
          path.append(visit)
          begin(met, graph)
        } else {
          end(visit)
        }
      }
    }
    path = GrowingList()
    open = GrowingList()
  }

  private mutating func begin(_ node: Int, _ graph: borrowing LeakGraph) {
    marks[node] = next
    next += 1
    path.append(Visit(node, edge: graph.edges(of: node).lowerBound))
  }

  /// Goes along the edges of a node until one leads to a node that was not met.
  ///
  /// - Returns: That node; the edge is looked at again when it is done.
  @inline(__always)
  private mutating func advance(_ visit: inout Visit, _ graph: borrowing LeakGraph) -> Int? {
    let node = Int(visit.node)
    var lowest = marks[node]
    let edges = graph.edges(of: node)
    var edge = visit.edge
    var met: Int?
    while edge < edges.upperBound {
      let target = graph.target(of: edge)
      let mark = marks[target]
      if mark == 0 {
        met = target
        break
      }
      if mark < lowest {
        lowest = mark
        visit.noteEarlier()
      }
      edge += 1
    }
    visit.edge = edge
    marks[node] = lowest
    return met
  }

  /// Closes the component that begins with a node, or leaves the node to an earlier one.
  private mutating func end(_ visit: Visit) {
    guard !visit.reachesEarlier else {
      open.append(visit.node)
      return
    }
    let node = Int(visit.node)
    let number = UInt32.max - UInt32(truncatingIfNeeded: count)
    next -= 1
    while let member = open.popLast() {
      guard marks[Int(member)] >= marks[node] else {
        open.append(member)
        break
      }
      marks[Int(member)] = number
      next -= 1
    }
    marks[node] = number
    count += 1
  }

  /// The component of a node, less than ``count``.
  func component(of node: Int) -> Int { Int(UInt32.max - marks[node]) }
}
