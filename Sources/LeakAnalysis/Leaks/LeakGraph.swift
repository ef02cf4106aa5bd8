import TraceReader

/// The unreached blocks and the pointers between them, for as long as these are sorted out.
///
/// A block is known by its *node*: its position among the unreached blocks, by ascending address.
/// Edges are flat: those of node *n* are at `firstEdges[n] ..< firstEdges[n + 1]`.
struct LeakGraph: ~Copyable {
  /// The block of each node.
  let blocks: [UInt32]
  private var firstEdges: [Int32] = []
  /// The nodes that edges lead to.
  private var targets = GrowingList<UInt32>()

  /// An edge into the middle of a block.
  private struct InnerEdge: BitwiseCopyable {
    var edge: UInt32
    var source: UInt32
    var target: UInt32
  }

  /// More edges than this are left out.
  private static let greatestEdgeCount = Int(Int32.max)

  init(_ scanner: EdgeScanner, _ reachability: Reachability) {
    let count = scanner.heap.blocks.count
    var unreached: [UInt32] = []
    unreached.reserveCapacity(reachability.count(of: .unreached))
    for block in 0..<count where reachability.isUnreached(block) {
      unreached.append(UInt32(truncatingIfNeeded: block))
    }
    blocks = unreached
    // A search for each edge would take longer than all else.
    let nodes = RankedBits(count: count, set: unreached)
    firstEdges.reserveCapacity(unreached.count + 1)
    firstEdges.append(0)
    var inner: [InnerEdge] = []
    for (source, block) in unreached.enumerated() {
      scanner.forEachLeakEdge(of: Int(block)) { offset, target in
        let node = nodes.rank(of: target.block)
        guard node >= 0, targets.count < Self.greatestEdgeCount,
          !scanner.leadsToListHead(at: offset, of: Int(block), target)
        else { return }
        if target.edgeClass == .interior {
          inner.append(
            InnerEdge(
              edge: UInt32(truncatingIfNeeded: targets.count),
              source: UInt32(truncatingIfNeeded: source), target: UInt32(truncatingIfNeeded: node)))
        }
        targets.append(UInt32(truncatingIfNeeded: node))
      }
      firstEdges.append(Int32(truncatingIfNeeded: targets.count))
    }
    drop(Self.edgesToHolders(among: inner, scanner, unreached, nodes))
  }

  /// The edges that lead into the middle of a block which itself holds the block that they come from: as those of
  /// nodes to the container that has them, in an object.
  ///
  /// - Returns: Their positions, ascending.
  private static func edgesToHolders(
    among inner: [InnerEdge], _ scanner: EdgeScanner, _ blocks: [UInt32],
    _ nodes: borrowing RankedBits
  ) -> [UInt32] {
    guard !inner.isEmpty else { return [] }
    let wanted = Set(inner.map { UInt64($0.target) << 32 | UInt64($0.source) })
    var found: Set<UInt64> = []
    for holder in Set(inner.map(\.target)) {
      scanner.forEachLeakEdge(of: Int(blocks[Int(holder)])) { _, target in
        let node = nodes.rank(of: target.block)
        guard node >= 0, target.edgeClass == .start else { return }
        let key = UInt64(holder) << 32 | UInt64(node)
        if wanted.contains(key) { found.insert(key) }
      }
    }
    return inner.lazy.filter { found.contains(UInt64($0.target) << 32 | UInt64($0.source)) }
      .map(\.edge)
  }

  /// Leaves out edges, whose positions ascend.
  private mutating func drop(_ dropped: [UInt32]) {
    guard !dropped.isEmpty else { return }
    var kept = GrowingList<UInt32>()
    var rest = dropped[...]
    var edge = 0
    for node in 0..<count {
      let end = Int(firstEdges[node + 1])
      while edge < end {
        if let next = rest.first, Int(next) == edge {
          rest.removeFirst()
        } else {
          kept.append(targets[edge])
        }
        edge += 1
      }
      firstEdges[node + 1] = Int32(truncatingIfNeeded: kept.count)
    }
    targets = kept
  }

  var count: Int { blocks.count }

  /// The positions of a node's edges.
  @inline(__always)
  func edges(of node: Int) -> Range<Int> {
    Int(firstEdges[node])..<Int(firstEdges[node + 1])
  }

  /// The node that an edge leads to.
  @inline(__always)
  func target(of edge: Int) -> Int { Int(targets[edge]) }
}

extension EdgeScanner {
  /// Calls `body` for each word of a leaked block that holds a block, leaked or not.
  ///
  /// Pointers of a block to itself hardly ever hold anything, nor does what stands between the members of a structure.
  /// What lies in a pool is dragged along with it.
  @inline(__always)
  func forEachLeakEdge(of block: Int, _ body: (_ offset: UInt64, _ target: Target) -> Void) {
    let unused = unusedOffsets(in: block)
    forEachEdge(of: block) { offset, target in
      if let unused, unused.contains(offset) { return }
      let isHeld =
        target.block != block || (target.edgeClass == .start && holdsItself(block, at: offset))
      if isHeld { body(offset, target) }
    }
    guard heap.blocks.holdsAnnounced(block) else { return }
    let start = heap.blocks.address(of: block)
    for inner in heap.blocks.contents(of: block) {
      body(heap.blocks.address(of: inner) &- start, Target(block: inner, edgeClass: .start))
    }
  }

  /// Whether a pointer into the middle of a leaked block leads back to what holds the block that it lies in.
  func leadsToHolder(of block: Int, _ target: Target) -> Bool {
    guard target.edgeClass == .interior else { return false }
    var isHolder = false
    forEachLeakEdge(of: target.block) { _, other in
      if other.block == block, other.edgeClass == .start { isHolder = true }
    }
    return isHolder
  }
}
