import TraceReader

/// The pointers within some components of the leaked blocks, by the fields that they lie in.
///
/// Blocks of one size, with one table of virtual functions if any, are taken for objects of one type.
struct CycleFields {
  private struct Field: Hashable {
    var component: Int
    var size: UInt64
    /// The table of virtual functions, else 0.
    var table: UInt64
    var offset: UInt64
  }

  private struct Edge: BitwiseCopyable {
    var source: UInt32
    var target: UInt32
    var field: UInt32 { fieldAndMark & ~Self.mark }
    var isDropped: Bool {
      get { fieldAndMark & Self.mark != 0 }
      set { fieldAndMark = newValue ? fieldAndMark | Self.mark : field }
    }
    /// There may be as many edges as words in the heap: no byte is spent on the mark.
    private var fieldAndMark: UInt32

    private static let mark: UInt32 = 1 << 31

    init(source: Int, target: UInt32, field: UInt32) {
      self.source = UInt32(truncatingIfNeeded: source)
      self.target = target
      fieldAndMark = field
    }

    /// What leads from a block to itself is looked at only where it keeps the block.
    var keeps: Bool { source == target }
  }

  private struct FieldPair: Hashable {
    var first: UInt32
    var second: UInt32
  }

  /// The node of each member: its position here is how it is known in the following.
  private var nodes: [UInt32] = []
  private var components: [UInt32] = []
  /// The block of each member.
  private var blocks: [UInt32] = []
  /// By ascending source: those of member *m* are at `firstOut[m] ..< firstOut[m + 1]`.
  private var edges: [Edge] = []
  private var firstOut: [UInt32] = [0]
  /// The positions of edges by ascending target, those to member *m* at `firstIn[m] ..< firstIn[m + 1]`.
  private var incoming: [UInt32] = []
  private var firstIn: [UInt32] = []
  private var fieldCount = 0

  /// Of more edges between two blocks none is looked for.
  private static let mostEdges = 256

  /// - Parameters:
  ///   - graph: The leaked blocks.
  ///   - numbers: The components of the graph.
  ///   - wanted: Those that are looked at.
  ///   - scanner: Finds where in a block a pointer is.
  ///   - isWeak: Whether what lies at an offset of a block does not keep what it points to.
  init(
    _ graph: borrowing LeakGraph, _ numbers: borrowing Components, _ wanted: Set<Int>,
    _ scanner: EdgeScanner, isWeak: (_ offset: UInt64, _ block: Int) -> Bool = { _, _ in false }
  ) {
    let none = UInt32.max
    var members = Array(repeating: none, count: graph.count)
    var edgeCount = 0
    for node in 0..<graph.count where wanted.contains(numbers.component(of: node)) {
      members[node] = UInt32(truncatingIfNeeded: nodes.count)
      nodes.append(UInt32(truncatingIfNeeded: node))
      blocks.append(graph.blocks[node])
      components.append(UInt32(truncatingIfNeeded: numbers.component(of: node)))
      edgeCount += graph.edges(of: node).count
    }
    edges.reserveCapacity(edgeCount)
    var fields: [Field: UInt32] = [:]
    for (member, node) in nodes.enumerated() {
      let memory = scanner.heap.memory
      let (block, component) = (Int(blocks[member]), Int(components[member]))
      let first = memory.word(at: scanner.heap.blocks.address(of: block))
      let size = scanner.heap.blocks.size(of: block)
      let table = InteriorPointers.isVirtualTable(first, memory) ? first : 0
      graph.forEachEdge(of: Int(node), scanner) { offset, target in
        guard members[target] != none, numbers.component(of: target) == component else { return }
        let field = Field(component: component, size: size, table: table, offset: offset)
        let number = fields[field] ?? UInt32(truncatingIfNeeded: fields.count)
        fields[field] = number
        var edge = Edge(source: member, target: members[target], field: number)
        edge.isDropped = isWeak(offset, block)
        edges.append(edge)
      }
      firstOut.append(UInt32(truncatingIfNeeded: edges.count))
    }
    fieldCount = fields.count
    sortByTarget()
  }

  private mutating func sortByTarget() {
    firstIn = Array(repeating: 0, count: nodes.count + 1)
    for edge in edges { firstIn[Int(edge.target) + 1] += 1 }
    for member in nodes.indices { firstIn[member + 1] += firstIn[member] }
    var next = firstIn
    incoming = Array(repeating: 0, count: edges.count)
    for (position, edge) in edges.enumerated() {
      incoming[Int(next[Int(edge.target)])] = UInt32(truncatingIfNeeded: position)
      next[Int(edge.target)] += 1
    }
  }

  private func edgesFrom(_ member: UInt32) -> Range<Int> {
    Int(firstOut[Int(member)])..<Int(firstOut[Int(member) + 1])
  }

  private func edgesTo(_ member: UInt32) -> ArraySlice<UInt32> {
    incoming[Int(firstIn[Int(member)])..<Int(firstIn[Int(member) + 1])]
  }

  /// Leaves out the pointers of fields by which several blocks lead to the same one.
  mutating func dropSharedFields() {
    let none = UInt32.max
    var isShared = Bits(count: fieldCount)
    var lastTarget = Array(repeating: none, count: fieldCount)
    for position in incoming {
      let edge = edges[Int(position)]
      if lastTarget[Int(edge.field)] == edge.target { isShared[Int(edge.field)] = true }
      lastTarget[Int(edge.field)] = edge.target
    }
    for position in edges.indices where isShared[Int(edges[position].field)] {
      edges[position].isDropped = !edges[position].keeps
    }
  }

  /// Leaves out one of two fields by which blocks lead to each other: that which leads to the older ones, as a rule;
  /// and what leads from an element to the object with the container that holds it.
  mutating func dropMutualFields(_ scanner: EdgeScanner, _ facts: StackFacts) {
    let known = scanner.heap.blocks
    var votes: [FieldPair: Int] = [:]
    for edge in edges where !edge.isDropped && !edge.keeps {
      let isForward = order(of: edge.source, known) < order(of: edge.target, known)
      forEachEdgeBack(along: edge) { back in
        guard edge.field < back.field else { return }
        votes[FieldPair(first: edge.field, second: back.field), default: 0] += isForward ? 1 : -1
      }
    }
    let containers = blocks.map { facts.isContainer(known.site(of: Int($0)).stack) }
    var dropped: [Int] = []
    for (position, edge) in edges.enumerated() where !edge.isDropped && !edge.keeps {
      var leadsUp = leadsToOwner(edge, containers)
      forEachEdgeBack(along: edge) { back in
        leadsUp = leadsUp || isBackward(edge.field, back.field, votes)
      }
      if leadsUp { dropped.append(position) }
    }
    for position in dropped { edges[position].isDropped = true }
  }

  private func order(of member: UInt32, _ known: HeapBlocks) -> UInt32 {
    known.order(of: Int(blocks[Int(member)]))
  }

  /// Calls `body` for the pointers in the other direction that lie in another field.
  private func forEachEdgeBack(along edge: Edge, _ body: (Edge) -> Void) {
    let (out, into) = (edgesFrom(edge.target), edgesTo(edge.source))
    guard min(out.count, into.count) <= Self.mostEdges else { return }
    func look(at back: Edge) {
      guard back.source == edge.target, back.target == edge.source, !back.isDropped,
        back.field != edge.field
      else { return }
      body(back)
    }
    if out.count <= into.count {
      for back in edges[out] { look(at: back) }
    } else {
      for position in into { look(at: edges[Int(position)]) }
    }
  }

  private func isBackward(_ field: UInt32, _ other: UInt32, _ votes: [FieldPair: Int]) -> Bool {
    let pair = FieldPair(first: min(field, other), second: max(field, other))
    let isFirstForward = votes[pair, default: 0] >= 0
    return (field == pair.second) == isFirstForward
  }

  /// Whether a container that only the target of a pointer holds leads back to where the pointer lies.
  private func leadsToOwner(_ edge: Edge, _ containers: [Bool]) -> Bool {
    edgesTo(edge.source).prefix(Self.mostEdges).contains { position in
      let container = edges[Int(position)].source
      guard containers[Int(container)], container != edge.target else { return false }
      let holders = edgesTo(container)
      return holders.count == 1 && holders.allSatisfy { edges[Int($0)].source == edge.target }
    }
  }

  /// Of each component in which the pointers that are left lead in no ring the oldest node that none of them leads to.
  func headsWithoutCycle(_ known: HeapBlocks) -> Set<Int> {
    var holders = Array(repeating: 0, count: nodes.count)
    for edge in edges where !edge.isDropped { holders[Int(edge.target)] += 1 }
    var heads: [UInt32: Int] = [:]
    var rest: [UInt32: Int] = [:]
    var free: [Int] = []
    for member in nodes.indices {
      rest[components[member], default: 0] += 1
      guard holders[member] == 0 else { continue }
      free.append(member)
      let head = heads[components[member]] ?? member
      let isOlder = known.order(of: Int(blocks[member])) < known.order(of: Int(blocks[head]))
      heads[components[member]] = isOlder ? member : head
    }
    while let member = free.popLast() {
      rest[components[member], default: 0] -= 1
      for edge in edges[edgesFrom(UInt32(truncatingIfNeeded: member))] where !edge.isDropped {
        holders[Int(edge.target)] -= 1
        if holders[Int(edge.target)] == 0 { free.append(Int(edge.target)) }
      }
    }
    return Set(heads.lazy.filter { rest[$0.key] == 0 }.map { Int(nodes[$0.value]) })
  }
}

extension LeakGraph {
  /// Calls `body` for each edge of a node with where in the block its pointer is.
  fileprivate func forEachEdge(
    of node: Int, _ scanner: EdgeScanner, _ body: (_ offset: UInt64, _ target: Int) -> Void
  ) {
    var rest = edges(of: node)
    scanner.forEachLeakEdge(of: Int(blocks[node])) { offset, found in
      // What is no edge leads elsewhere, but for a second pointer to the same block.
      guard let edge = rest.first, Int(blocks[target(of: edge)]) == found.block else { return }
      body(offset, target(of: edge))
      rest.removeFirst()
    }
  }
}
