import LeakAnalysis
import TraceReader

/// What each root holds, from the roots down: blocks of one type that are held in the same way are
/// one line.
public struct ReferenceTreeReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.reference-tree"

  /// A root, or blocks of one type below the line above.
  public struct Line: Sendable, Hashable, Encodable {
    /// How far it is from the root, which is at 0.
    public var depth: Int
    /// The root in words, or what the blocks are.
    public var name: String
    /// How many blocks are meant; 0 for a root.
    public var count: UInt64
    /// How many blocks are in the tree, those meant included.
    public var totalCount: UInt64
    /// Their requested bytes.
    public var totalBytes: UInt64
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// Which snapshot.
  public var snapshot: SnapshotSummary
  /// Blocks that can be reached.
  public var reachable: BlockSum
  /// The tree, parents before what they hold, the greatest first.
  public var lines: [Line]
  /// How many lines there are without a limit.
  public var lineCount: Int

  /// Adds up what the roots hold.
  ///
  /// - Parameters:
  ///   - analysis: The heap.
  ///   - source: Names.
  ///   - includesRecorder: Whether the recorder's own blocks count.
  ///   - limit: At most so many lines; nil for all.
  public init(
    _ analysis: LeakAnalysis, source: ReportSource, includesRecorder: Bool = false, limit: Int?
  ) {
    trace = source.trace
    coverage = CoverageSummary(analysis.heap.coverage)
    snapshot = SnapshotSummary(analysis.heap, clock: source.clock)
    var tree = ReferenceTree(analysis, source: source, includesRecorder: includesRecorder)
    tree.addAll()
    reachable = tree.reachable
    let all = tree.lines()
    lineCount = all.count
    lines = Array(all.prefix(limit ?? .max))
  }

  /// Writes the tree.
  public func write(to page: inout TextPage) {
    page.line(
      Span(
        "\(CountText.blocks(reachable.count)) (\(page.bytes(reachable.bytes))) can be reached",
        .heading), Span(" in \(trace.commandLine) (pid \(trace.pid)), snapshot \(snapshot.reason)"))
    page.lines(about: trace)
    for warning in snapshot.warnings { page.line(Span("Snapshot: ", .warning), Span(warning)) }
    page.blank()
    for line in lines {
      let sum = "\(line.totalCount.grouped) (\(LeakBytes.text(line.totalBytes, page.style.bytes)))"
      page.treeLine(
        line.name, paint: line.depth == 0 ? .heading : .plain, indent: 2 + 3 * line.depth
      ) { name in
        let name = name ?? ""
        return "\(sum) " + (line.count == 0 ? name : "<\(name)> × \(line.count.grouped)")
      }
    }
    let hidden = lineCount - lines.count
    if hidden > 0 {
      page.line(Span("  " + CountText.more(hidden, "line") + "; --top 0 shows all", .faint))
    }
    coverage.write(to: &page)
  }

  /// One row per line of the tree.
  public var csv: CSVTable? {
    var table = CSVTable(["Depth", "Name", "# Blocks", "# Total", "Total Bytes"])
    for line in lines {
      table.add(line.depth, line.name, line.count, line.totalCount, line.totalBytes)
    }
    return table
  }
}

/// Adds up the blocks below each root by their types.
private struct ReferenceTree {
  private struct Key: Hashable {
    var parent: Int
    var name: String
  }

  private struct Node {
    var depth: Int
    var parent: Int
    var name: String
    var count: UInt64 = 0
    var total = BlockSum()
    var children: [Int] = []
  }

  private let analysis: LeakAnalysis
  private let types: SnapshotTypeNames
  private let labels: BlockLabels
  private let roots: RootNames
  private let includesRecorder: Bool
  /// How far the tree goes down; what is deeper, whatever it is, is only in the sums of the line above it.
  private static let deepest = 5
  private var nodes: [Node] = []
  private var positions: [Key: Int] = [:]
  /// For each block its node; -1 until that is known.
  private var nodeOfBlock: [Int32]
  private(set) var reachable = BlockSum()

  init(_ analysis: LeakAnalysis, source: ReportSource, includesRecorder: Bool) {
    self.analysis = analysis
    self.includesRecorder = includesRecorder
    types = SnapshotTypeNames(source)
    labels = BlockLabels(heap: analysis.heap, types: types, names: source.names)
    roots = RootNames(source: source, info: analysis.heap.info)
    nodeOfBlock = Array(repeating: -1, count: analysis.heap.blocks.count)
  }

  mutating func addAll() {
    for block in nodeOfBlock.indices { place(block) }
    for index in nodes.indices.reversed() where nodes[index].parent >= 0 {
      nodes[nodes[index].parent].total.count &+= nodes[index].total.count
      nodes[nodes[index].parent].total.bytes &+= nodes[index].total.bytes
    }
  }

  /// Puts a block into the tree, after those that hold it.
  private mutating func place(_ block: Int) {
    var chain: [Int] = []
    var current = block
    var node = -1
    walk: while nodeOfBlock[current] < 0 {
      switch analysis.reachability.holder(of: current) {
      case nil: return
      case .root(let slot):
        chain.append(current)
        node = child(of: -1, depth: 0, roots.groupText(slot))
        break walk
      case .block(let holder):
        chain.append(current)
        current = holder
      }
    }
    if node < 0 { node = Int(nodeOfBlock[current]) }
    for member in chain.reversed() {
      // What a block of the recorder holds for the program hangs on what holds that block.
      guard includesRecorder || analysis.heap.blocks.site(of: member).thread != .recorder else {
        nodeOfBlock[member] = Int32(truncatingIfNeeded: node)
        continue
      }
      if nodes[node].depth < Self.deepest {
        let name = labels.name(of: member) ?? types.category(of: member, in: analysis.heap).name
        node = child(of: node, depth: nodes[node].depth + 1, name)
        nodes[node].count &+= 1
      }
      nodeOfBlock[member] = Int32(truncatingIfNeeded: node)
      nodes[node].total.add(analysis.heap.blocks.ownBytes(of: member))
      reachable.add(analysis.heap.blocks.ownBytes(of: member))
    }
  }

  private mutating func child(of parent: Int, depth: Int, _ name: String) -> Int {
    let key = Key(parent: parent, name: name)
    if let position = positions[key] { return position }
    let position = nodes.count
    positions[key] = position
    nodes.append(Node(depth: depth, parent: parent, name: name))
    if parent >= 0 { nodes[parent].children.append(position) }
    return position
  }

  /// The tree in the order of printing, without roots that hold nothing that counts.
  func lines() -> [ReferenceTreeReport.Line] {
    var lines: [ReferenceTreeReport.Line] = []
    var stack = sorted(nodes.indices.filter { nodes[$0].parent < 0 && nodes[$0].total.count > 0 })
      .reversed().map { $0 }
    while let index = stack.popLast() {
      let node = nodes[index]
      lines.append(
        ReferenceTreeReport.Line(
          depth: node.depth, name: node.name, count: node.count, totalCount: node.total.count,
          totalBytes: node.total.bytes))
      stack += sorted(node.children).reversed()
    }
    return lines
  }

  private func sorted(_ indices: [Int]) -> [Int] {
    indices.sorted { left, right in
      let (first, second) = (nodes[left], nodes[right])
      return (second.total.bytes, second.total.count, first.name)
        < (first.total.bytes, first.total.count, second.name)
    }
  }
}
