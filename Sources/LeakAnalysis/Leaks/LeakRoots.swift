/// The leaked blocks that no other leaked block holds from outside.
struct LeakRoots {
  /// The nodes that nothing outside of their components points to.
  private(set) var isRoot: Bits
  /// Of these the nodes of cycles.
  private(set) var isCyclic: Bits
  /// A node of each such component, the oldest first.
  ///
  /// That of a component is its oldest object that has lost an owner, its oldest node that only pointers back lead to,
  /// its oldest instance of a class, else its oldest node: what a library has used before for something else is older, and says nothing.
  private(set) var heads: [UInt32]

  private struct Component {
    var isCyclic = false
    var isHeld = false
    /// Whether it does not keep itself alive: an object in it has lost an owner, or only pointers back close the ring.
    var isOrphaned = false
  }

  private static let none = UInt32.max

  /// - Parameters:
  ///   - graph: The leaked blocks.
  ///   - scanner: Knows what they are.
  ///   - facts: What is known of the stacks that allocated them.
  init(_ graph: borrowing LeakGraph, _ scanner: EdgeScanner, _ facts: StackFacts) {
    isRoot = Bits(count: graph.count)
    isCyclic = Bits(count: graph.count)
    let numbers = Components(graph)
    var components = Self.look(at: numbers, graph)
    for node in 0..<graph.count {
      let own = components[numbers.component(of: node)]
      isRoot[node] = !own.isHeld
      isCyclic[node] = !own.isHeld && own.isCyclic
    }
    let owners = SharedOwners(graph, in: isCyclic, scanner)
    let orphans = owners.orphans.union(
      BackPointers(
        graph, numbers, in: isCyclic, counted: owners.counted, scanner, facts
      ).heads)
    for node in orphans { components[numbers.component(of: node)].isOrphaned = true }
    heads = Array(repeating: Self.none, count: numbers.count)
    for node in 0..<graph.count where isRoot[node] {
      let own = numbers.component(of: node)
      let other = heads[own]
      let rank = Self.rank(of: node, orphans, graph, scanner)
      if other == Self.none || rank < Self.rank(of: Int(other), orphans, graph, scanner) {
        heads[own] = UInt32(truncatingIfNeeded: node)
      }
    }
    for node in 0..<graph.count where isCyclic[node] {
      let own = numbers.component(of: node)
      guard components[own].isOrphaned else { continue }
      isCyclic[node] = false
      isRoot[node] = heads[own] == UInt32(truncatingIfNeeded: node)
    }
    heads.removeAll { $0 == Self.none }
    let blocks = scanner.heap.blocks
    let nodeBlocks = graph.blocks
    heads.sort {
      blocks.order(of: Int(nodeBlocks[Int($0)])) < blocks.order(of: Int(nodeBlocks[Int($1)]))
    }
  }

  /// The lower, the more a node says about its cycle.
  private static func rank(
    of node: Int, _ orphans: Set<Int>, _ graph: borrowing LeakGraph, _ scanner: EdgeScanner
  ) -> (UInt8, UInt32) {
    let block = Int(graph.blocks[node])
    let kind: UInt8 = orphans.contains(node) ? 0 : scanner.isInstance(block) ? 1 : 2
    return (kind, scanner.heap.blocks.order(of: block))
  }

  private static func look(
    at numbers: borrowing Components, _ graph: borrowing LeakGraph
  ) -> [Component] {
    var components = Array(repeating: Component(), count: numbers.count)
    for node in 0..<graph.count {
      let own = numbers.component(of: node)
      for edge in graph.edges(of: node) {
        let other = numbers.component(of: graph.target(of: edge))
        // Between the nodes of a component there are edges, and of one node only one to itself.
        if other == own { components[own].isCyclic = true } else { components[other].isHeld = true }
      }
    }
    return components
  }
}
