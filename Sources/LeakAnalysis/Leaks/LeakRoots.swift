/// The leaked blocks that no other leaked block holds from outside.
struct LeakRoots {
  /// The nodes that nothing outside of their components points to.
  private(set) var isRoot: Bits
  /// Of these the nodes of cycles.
  private(set) var isCyclic: Bits
  /// The oldest node of each such component, the oldest first.
  private(set) var oldest: [UInt32]

  private struct Component {
    var isCyclic = false
    var isHeld = false
  }

  private static let none = UInt32.max

  init(_ graph: borrowing LeakGraph, _ blocks: HeapBlocks) {
    isRoot = Bits(count: graph.count)
    isCyclic = Bits(count: graph.count)
    let numbers = Components(graph)
    let components = Self.look(at: numbers, graph)
    let age = { (blockOfNode: UInt32) in blocks.order(of: Int(blockOfNode)) }
    oldest = Array(repeating: Self.none, count: numbers.count)
    for node in 0..<graph.count {
      let own = numbers.component(of: node)
      guard !components[own].isHeld else { continue }
      isRoot[node] = true
      if components[own].isCyclic { isCyclic[node] = true }
      let other = oldest[own]
      if other == Self.none || age(graph.blocks[node]) < age(graph.blocks[Int(other)]) {
        oldest[own] = UInt32(truncatingIfNeeded: node)
      }
    }
    oldest.removeAll { $0 == Self.none }
    oldest.sort { age(graph.blocks[Int($0)]) < age(graph.blocks[Int($1)]) }
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
