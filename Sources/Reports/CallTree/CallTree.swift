import TraceReader

/// How a call tree is put together.
public struct CallTreeOptions: Sendable, Hashable, Encodable {
  /// From the allocating function up to the callers instead of from `main` down.
  public var isInverted = false
  /// Leaves out the frames of system libraries and runtimes.
  public var hidesSystem = false
  /// Shows a function that calls itself once.
  public var flattensRecursion = false
  /// A tree for each thread.
  public var separatesThreads = false

  /// Makes the options of a plain tree from the roots down.
  public init() {}
}

/// The sum of stacks by their common beginnings, the heaviest first.
struct CallTree {
  /// What is counted of a stack.
  struct Weight: PathWeight {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    var bytesVariance = 0.0

    static func += (left: inout Weight, right: Weight) {
      left.bytes &+= right.bytes
      left.count &+= right.count
      left.bytesVariance += right.bytesVariance
    }
  }

  private var tree = PathTree<Weight>()
  private var paths: CallPaths

  /// The functions that the nodes number.
  var table: CallFrameTable { paths.table }
  /// Node 0 is the sum of everything; a node's parent always comes before it.
  var nodes: [PathTree<Weight>.Node] { tree.nodes }

  /// The children of a node, in order.
  func children(of node: Int) -> some BidirectionalCollection<Int> { tree.children(of: node) }

  /// Sums up the sites; bytes and blocks are the totals of their tallies.
  init(_ sites: [Site], source: ReportSource, options: CallTreeOptions) {
    paths = CallPaths(source, options)
    let weight = { (site: Site) in
      Weight(
        bytes: site.tally.totalBytes, count: site.tally.totalCount,
        bytesVariance: site.variance?.totalBytes ?? 0)
    }
    paths.forEachPath(of: sites, weight: weight) { tree.add($0, $1) }
    sortChildren()
  }

  /// The heaviest first, then by name.
  private mutating func sortChildren() {
    tree.sortChildren { [table] first, second in
      if first.weight.bytes != second.weight.bytes {
        return first.weight.bytes > second.weight.bytes
      }
      if first.weight.count != second.weight.count {
        return first.weight.count > second.weight.count
      }
      return table.frames[first.frame].name < table.frames[second.frame].name
    }
  }
}
