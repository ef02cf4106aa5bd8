import TraceReader

/// What the user asks of a call tree.
public struct CallTreeQuery: Sendable, Hashable {
  /// Which blocks are counted.
  public var filter = SiteFilter()
  /// The moment that the state is as of, in words; nil for the end.
  public var moment: String?
  /// How the tree is put together.
  public var options = CallTreeOptions()
  /// Branches with less of the bytes and of the blocks are left out; in thousandths.
  public var leastShare: UInt64 = 0
  /// At most so many lines; nil for all.
  public var top: Int?

  /// Makes a query for everything.
  public init() {}
}

/// Who called whom to allocate how much.
public struct CallTreeReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.call-tree"

  /// One function in one place of the tree.
  public struct Node: Sendable, Hashable, Encodable {
    /// Position in the list; parents come before their children.
    public var id: Int
    /// Position of the caller (of the callee in an inverted tree); nil at the top.
    public var parent: Int?
    /// How many callers there are above it.
    public var depth: Int
    /// The function.
    public var name: String
    /// The file name of its image; nil for code in no image and for threads.
    public var image: String?
    /// What the frame is to a reader.
    public var role: ReportFrame.Role
    /// Bytes allocated by it and by what it called.
    public var bytes: UInt64
    /// Blocks likewise.
    public var count: UInt64
    /// How far the bytes may be off; nil when they are exact.
    public var bytesMargin: UInt64?
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// What was asked for.
  public var query: CallTreeQuery
  /// Bytes of the whole tree.
  public var totalBytes: UInt64
  /// Blocks of the whole tree.
  public var totalCount: UInt64
  /// The tree in the order of printing.
  public var nodes: [Node]
  /// How many nodes there are, those that are not shown too.
  public var nodeCount: Int

  /// Builds the tree of the sites of a replay.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(_ result: ReplayResult, source: ReportSource, query: CallTreeQuery) throws {
    let sites = try query.filter.apply(to: result.sites, source: source)
    let tree = CallTree(sites, source: source, options: query.options)
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    self.query = query
    totalBytes = tree.nodes[0].weight.bytes
    totalCount = tree.nodes[0].weight.count
    nodeCount = tree.nodes.count - 1
    nodes = Self.listed(tree, query, isEstimate: result.sampling != nil)
  }

  /// The nodes that are to be shown, parents first, without recursion: stacks can be deep.
  private static func listed(
    _ tree: CallTree, _ query: CallTreeQuery, isEstimate: Bool
  ) -> [Node] {
    let (all, nodesOfTree) = (tree.nodes[0].weight, tree.nodes)
    var nodes: [Node] = []
    var pending = tree.children(of: 0).reversed().map { (index: $0, parent: -1, depth: 0) }
    while let next = pending.popLast() {
      if nodes.count >= query.top ?? .max { break }
      let (node, weight) = (nodesOfTree[next.index], nodesOfTree[next.index].weight)
      guard
        isShare(weight.bytes, of: all.bytes, atLeast: query.leastShare)
          || isShare(weight.count, of: all.count, atLeast: query.leastShare)
      else { continue }
      let frame = tree.table.frames[node.frame]
      let id = nodes.count
      nodes.append(
        Node(
          id: id, parent: next.parent < 0 ? nil : next.parent, depth: next.depth,
          name: frame.name, image: frame.image, role: frame.role, bytes: weight.bytes,
          count: weight.count,
          bytesMargin: isEstimate ? TallyVariance.wholeMargin(weight.bytesVariance) : nil))
      pending += tree.children(of: next.index).reversed().map { ($0, id, next.depth + 1) }
    }
    return nodes
  }

  /// Whether a part is at least so many thousandths of the whole.
  static func isShare(
    _ part: UInt64, of whole: UInt64, atLeast thousandths: UInt64
  ) -> Bool {
    Double(part) * 1000 >= Double(whole) * Double(thousandths)
  }
}
