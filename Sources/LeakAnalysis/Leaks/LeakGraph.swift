import TraceReader

/// The unreached blocks and the pointers between them.
///
/// A block is known by its *node*: its position among the unreached blocks, by ascending address.
/// Edges are flat arrays: those of node *n* are at `firstEdges[n] ..< firstEdges[n + 1]`.
struct LeakGraph {
  /// The block of each node.
  let blocks: [UInt32]
  private(set) var firstEdges: [Int32] = [0]
  private(set) var targets: [UInt32] = []
  private(set) var offsets: [UInt64] = []
  private(set) var classes: [EdgeClass] = []

  /// More edges than this are left out.
  private static let greatestEdgeCount = Int(Int32.max)

  init(_ scanner: EdgeScanner, _ reachability: Reachability) {
    let count = scanner.heap.blocks.count
    var unreached: [UInt32] = []
    for block in 0..<count where reachability.state(of: block) == .unreached {
      unreached.append(UInt32(truncatingIfNeeded: block))
    }
    blocks = unreached
    // A search for each edge would take longer than all else.
    let nodes = RankedBits(count: count, set: unreached)
    firstEdges.reserveCapacity(unreached.count + 1)
    for block in unreached {
      scanner.forEachEdge(of: Int(block)) { offset, target in
        let node = nodes.rank(of: target.block)
        guard node >= 0, targets.count < Self.greatestEdgeCount else { return }
        // A pointer into the block itself, as in short strings of C++, holds nothing.
        if target.block == Int(block), target.edgeClass != .start { return }
        targets.append(UInt32(truncatingIfNeeded: node))
        offsets.append(offset)
        classes.append(target.edgeClass)
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

  /// The node of a block; nil when it is not unreached.
  func node(of block: Int) -> Int? {
    let wanted = UInt32(truncatingIfNeeded: block)
    let node = blocks.partitioningIndex { $0 >= wanted }
    return node < blocks.count && blocks[node] == wanted ? node : nil
  }
}
