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
    for block in unreached {
      scanner.forEachLeakEdge(of: Int(block)) { _, target in
        let node = nodes.rank(of: target.block)
        guard node >= 0, targets.count < Self.greatestEdgeCount else { return }
        targets.append(UInt32(truncatingIfNeeded: node))
      }
      firstEdges.append(Int32(truncatingIfNeeded: targets.count))
    }
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
  /// Pointers of a block to itself hardly ever hold anything.
  @inline(__always)
  func forEachLeakEdge(of block: Int, _ body: (_ offset: UInt64, _ target: Target) -> Void) {
    forEachEdge(of: block) { offset, target in
      let isHeld =
        target.block != block || (target.edgeClass == .start && holdsItself(block, at: offset))
      if isHeld { body(offset, target) }
    }
  }
}
