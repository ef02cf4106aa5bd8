import TraceReader

/// The unreached blocks, each under the leak that drags it along.
///
/// A *root leak* is a block that no other unreached block points to; a *root cycle* is a set of
/// blocks that point to each other and that no other unreached block points to. Under each root
/// are the blocks that nothing but it holds, in a tree of shortest paths; a block that several roots
/// hold is under the oldest one.
public struct LeakForest: Sendable {
  /// What a leaked block is to the others.
  public enum Role: Sendable, Hashable {
    /// Nothing points to it.
    case rootLeak
    /// A part of a cycle that nothing outside points to.
    case rootCycle
    /// Held by another leaked block.
    case draggedAlong
  }

  /// A pointer from one leaked block to another.
  public struct Edge: Sendable, Hashable {
    /// Where in the holding block the pointer is, in bytes.
    public var offset: UInt64
    /// The node that is pointed to.
    public var target: Int
    /// How.
    public var edgeClass: EdgeClass
  }

  /// The roots, the oldest first; of each cycle the oldest block.
  public private(set) var roots: [Int] = []

  private let graph: LeakGraph
  private var roles: [Role]
  /// The parent of each node in its tree and the position of the edge; -1 for roots.
  private var parents: [Int32]
  private var parentEdges: [Int32]
  private var rootsOfNodes: [Int32]
  /// The nodes, parents before their children, tree by tree.
  private var order: [Int32] = []
  private var subtreeCounts: [UInt32]
  private var subtreeBytes: [UInt64]

  init(_ graph: LeakGraph, blocks: HeapBlocks) {
    self.graph = graph
    roles = Array(repeating: .draggedAlong, count: graph.count)
    parents = Array(repeating: -1, count: graph.count)
    parentEdges = parents
    rootsOfNodes = parents
    subtreeCounts = Array(repeating: 1, count: graph.count)
    subtreeBytes = graph.blocks.map { blocks.sizes[Int($0)] }
    findRoots(Components(graph), blocks)
    growTrees()
    sumUp()
  }

  /// How many leaked blocks there are.
  public var count: Int { graph.count }

  /// The block of a node, for ``HeapBlocks``.
  public func block(of node: Int) -> Int { Int(graph.blocks[node]) }

  /// The node of a block; nil when it is not leaked.
  public func node(of block: Int) -> Int? { graph.node(of: block) }

  /// What a block is to the others.
  public func role(of node: Int) -> Role { roles[node] }

  /// How many blocks are in the tree of a node, itself included.
  public func subtreeCount(of node: Int) -> Int { Int(subtreeCounts[node]) }

  /// Requested bytes of the blocks in the tree of a node, itself included.
  public func subtreeBytes(of node: Int) -> UInt64 { subtreeBytes[node] }

  /// The node above; nil for a root.
  public func parent(of node: Int) -> Int? { parents[node] < 0 ? nil : Int(parents[node]) }

  /// The root of the tree of a node.
  public func root(of node: Int) -> Int { Int(rootsOfNodes[node]) }

  /// The pointer by which the node above holds a node; nil for a root.
  public func parentEdge(of node: Int) -> Edge? {
    parentEdges[node] < 0 ? nil : edge(Int(parentEdges[node]))
  }

  /// All pointers of a node to leaked blocks, by ascending offset.
  public func edges(of node: Int) -> [Edge] { graph.edges(of: node).map(edge) }

  private func edge(_ position: Int) -> Edge {
    Edge(
      offset: graph.offsets[position], target: Int(graph.targets[position]),
      edgeClass: graph.classes[position])
  }

  // MARK: Building

  private mutating func findRoots(_ components: Components, _ blocks: HeapBlocks) {
    var isCyclic = Array(repeating: false, count: components.count)
    var isHeld = Array(repeating: false, count: components.count)
    for node in 0..<graph.count {
      let own = components.component(of: node)
      if components.sizes[own] > 1 { isCyclic[own] = true }
      for edge in graph.edges(of: node) {
        let target = Int(graph.targets[edge])
        let other = components.component(of: target)
        if other != own { isHeld[other] = true }
        if target == node { isCyclic[own] = true }
      }
    }
    var oldest = Array(repeating: Int32(-1), count: components.count)
    for node in 0..<graph.count {
      let own = components.component(of: node)
      guard !isHeld[own] else { continue }
      roles[node] = isCyclic[own] ? .rootCycle : .rootLeak
      if oldest[own] < 0 || age(node, blocks) < age(Int(oldest[own]), blocks) {
        oldest[own] = Int32(node)
      }
    }
    roots = oldest.filter { $0 >= 0 }.map(Int.init).sorted { age($0, blocks) < age($1, blocks) }
  }

  private func age(_ node: Int, _ blocks: HeapBlocks) -> UInt32 { blocks.orders[block(of: node)] }

  /// Visits breadth first from each root in turn.
  private mutating func growTrees() {
    var isTaken = Array(repeating: false, count: graph.count)
    order.reserveCapacity(graph.count)
    for root in roots {
      isTaken[root] = true
      rootsOfNodes[root] = Int32(root)
      var position = order.count
      order.append(Int32(root))
      while position < order.count {
        let node = Int(order[position])
        position += 1
        for edge in graph.edges(of: node) {
          let target = Int(graph.targets[edge])
          guard !isTaken[target] else { continue }
          isTaken[target] = true
          parents[target] = Int32(node)
          parentEdges[target] = Int32(edge)
          rootsOfNodes[target] = Int32(root)
          order.append(Int32(target))
        }
      }
    }
  }

  private mutating func sumUp() {
    for node in order.reversed() where parents[Int(node)] >= 0 {
      let parent = Int(parents[Int(node)])
      subtreeCounts[parent] &+= subtreeCounts[Int(node)]
      subtreeBytes[parent] &+= subtreeBytes[Int(node)]
    }
  }
}
