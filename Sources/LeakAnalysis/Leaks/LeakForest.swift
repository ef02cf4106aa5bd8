import TraceReader

/// The unreached blocks, each under the leak that drags it along.
///
/// A *root leak* is a block that no other unreached block points to; a *root cycle* is a set of
/// blocks that keep each other and that no other unreached block points to. Of blocks that point to each other but
/// do not keep each other, see ``SharedOwners`` and ``BackPointers``, one is a root leak. Under each root
/// are the blocks that nothing but it holds, in a tree of shortest paths; a block that several roots
/// hold is under the oldest one.
public struct LeakForest: Sendable {
  /// What a leaked block is to the others.
  public enum Role: Sendable, Hashable {
    /// Nothing that could hold it points to it.
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

  /// The roots, the oldest first; of each cycle the oldest instance of a class, else the oldest block.
  public var roots: LazyMapCollection<[UInt32], Int> { rootNodes.lazy.map { Int($0) } }

  /// The block of each node, ascending.
  private let nodeBlocks: [UInt32]
  private let scanner: EdgeScanner
  /// Has the node above each leaked block.
  private let reachability: Reachability
  private let rootNodes: [UInt32]
  /// The nodes of root leaks and of root cycles.
  private let isRoot: Bits
  /// The nodes of root cycles.
  private let isCyclic: Bits
  private let rootsOfNodes: [UInt32]
  private let subtreeCounts: [UInt32]
  private let subtreeBytes: [UInt64]

  /// Puts the unreached blocks together.
  ///
  /// - Parameters:
  ///   - scanner: Finds the pointers.
  ///   - facts: What is known of the stacks that allocated the blocks.
  ///   - reachability: Which blocks are unreached; gets the nodes above them.
  /// - Complexity: O(*words*) time; 8 bytes per leaked block and 4 per pointer, which are let go
  ///   before the sums need 16.
  init(_ scanner: EdgeScanner, _ facts: StackFacts, _ reachability: inout Reachability) {
    self.scanner = scanner
    let graph = LeakGraph(scanner, reachability)
    nodeBlocks = graph.blocks
    let roots = LeakRoots(graph, scanner, facts)
    (rootNodes, isRoot, isCyclic) = (roots.heads, roots.isRoot, roots.isCyclic)
    let trees = LeakTrees(consume graph, roots: rootNodes, &reachability)
    rootsOfNodes = trees.rootsOfNodes
    (subtreeCounts, subtreeBytes) = trees.sums(of: nodeBlocks, scanner.heap.blocks, reachability)
    self.reachability = reachability
  }

  /// How many leaked blocks there are.
  public var count: Int { nodeBlocks.count }

  /// The block of a node, for ``HeapBlocks``.
  public func block(of node: Int) -> Int { Int(nodeBlocks[node]) }

  /// The node of a block; nil when it is not leaked.
  public func node(of block: Int) -> Int? {
    let wanted = UInt32(truncatingIfNeeded: block)
    let node = nodeBlocks.partitioningIndex { $0 >= wanted }
    return node < nodeBlocks.count && nodeBlocks[node] == wanted ? node : nil
  }

  /// What a block is to the others.
  public func role(of node: Int) -> Role {
    guard isRoot[node] else { return .draggedAlong }
    return isCyclic[node] ? .rootCycle : .rootLeak
  }

  /// How many blocks are in the tree of a node, itself included.
  public func subtreeCount(of node: Int) -> Int { Int(subtreeCounts[node]) }

  /// Requested bytes of the blocks in the tree of a node, itself included.
  public func subtreeBytes(of node: Int) -> UInt64 { subtreeBytes[node] }

  /// The node above; nil for a root.
  public func parent(of node: Int) -> Int? { reachability.nodeAbove(block(of: node)) }

  /// The root of the tree of a node.
  public func root(of node: Int) -> Int { Int(rootsOfNodes[node]) }

  /// The pointer by which the node above holds a node, the first one of it; nil for a root.
  ///
  /// Of a node that lies in the one above: where.
  public func parentEdge(of node: Int) -> Edge? {
    guard let parent = parent(of: node) else { return nil }
    let (inner, outer) = (block(of: node), block(of: parent))
    let blocks = scanner.heap.blocks
    if blocks.pool(of: inner) == outer {
      let offset = blocks.address(of: inner) &- blocks.address(of: outer)
      return Edge(offset: offset, target: node, edgeClass: .start)
    }
    return edges(of: parent).first { $0.target == node }
  }

  /// All pointers of a node to leaked blocks, by ascending offset; they are looked for anew.
  public func edges(of node: Int) -> [Edge] {
    var edges: [Edge] = []
    let from = block(of: node)
    scanner.forEachLeakEdge(of: from) { offset, target in
      guard let node = self.node(of: target.block),
        !scanner.leadsToHolder(of: from, target),
        !scanner.leadsToListHead(at: offset, of: from, target)
      else { return }
      edges.append(Edge(offset: offset, target: node, edgeClass: target.edgeClass))
    }
    return edges
  }
}
