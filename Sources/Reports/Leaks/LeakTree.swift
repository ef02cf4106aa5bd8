import LeakAnalysis
import TraceReader

/// A line of a tree of leaked blocks.
public struct LeakTreeLine: Sendable, Hashable, Encodable {
  /// What the line stands for.
  public enum Role: String, Sendable, Encodable {
    /// A block that nothing points to.
    case rootLeak = "root-leak"
    /// A block of a cycle that nothing outside points to.
    case rootCycle = "root-cycle"
    /// A block that the one above holds.
    case block
    /// A pointer back to a block of a cycle further up.
    case cycleBack = "cycle-back-to"
    /// A pointer back to a block further up that it does not keep.
    case back = "back-to"
    /// Elements of a list that are left out, each held by the one before it at `offset`; `count` and `bytes` are of
    /// all that they hold but the next one.
    case row
    /// Blocks that are left out; `count` and `bytes` say how many.
    case omitted
  }

  /// How far it is from the root.
  public var depth: Int
  /// What the line stands for.
  public var role: Role
  /// The field that points to the block, where its name is known.
  public var field: String?
  /// Where in the block above the pointer is; nil for roots.
  public var offset: UInt64?
  /// The type, else function and caller; nil where nothing is known.
  public var name: String?
  /// The address of the block.
  public var address: UInt64
  /// Its requested bytes.
  public var size: UInt64
  /// How many blocks are in its tree, itself included.
  public var count: UInt64
  /// Their requested bytes.
  public var bytes: UInt64
  /// The references to a Swift object; nil for other blocks.
  public var counts: ObjectCounts?
  /// Where a task of Swift waits; nil for other blocks, and for a task that is done.
  public var suspended: ReportFrame?
  /// Which retains of the object were never released, see ``LeaksReport/addRetainers(_:source:)``.
  public var retainers: [LeakRetainer] = []
  /// The ID of the stack that allocated the block.
  var stack: UInt32 = 0
  /// When it was allocated.
  var time = EventTime.distantPast

  enum CodingKeys: String, CodingKey {
    case depth, role, field, offset, name, address, size, count, bytes, counts, suspended
    case retainers
  }

  /// Writes the line; the address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(depth, forKey: .depth)
    try container.encode(role, forKey: .role)
    try container.encodeIfPresent(field, forKey: .field)
    try container.encodeIfPresent(offset, forKey: .offset)
    try container.encodeIfPresent(name, forKey: .name)
    if role != .omitted && role != .row {
      try container.encode(HexText.of(address), forKey: .address)
    }
    try container.encode(size, forKey: .size)
    try container.encode(count, forKey: .count)
    try container.encode(bytes, forKey: .bytes)
    try container.encodeIfPresent(counts, forKey: .counts)
    try container.encodeIfPresent(suspended, forKey: .suspended)
    if !retainers.isEmpty { try container.encode(retainers, forKey: .retainers) }
  }

  /// `3 (1.77K) child + 16 --> ROOT CYCLE: <Parent 0x55d0> [112]`.
  public func text(_ style: ByteStyle) -> String {
    let sum = "\(count.grouped) (\(LeakBytes.text(bytes, style)))"
    if role == .omitted { return "\(sum) left out" }
    if role == .row { return "\(sum) in a row, each at \(place ?? "") of the one before" }
    let label = name.map { "<\($0) \(HexText.of(address))>" } ?? HexText.of(address)
    let block =
      "\(label) [\(size.grouped)]" + (counts.map { ", \($0.text)" } ?? "")
      + (suspended.map { ", suspended in \($0.title)" } ?? "")
    let edge = place.map { "\($0) --> " }
    switch role {
    case .rootLeak: return "\(sum) \(edge ?? "")ROOT LEAK: \(block)"
    case .rootCycle: return "\(sum) \(edge ?? "")ROOT CYCLE: \(block)"
    case .cycleBack: return "\(edge ?? "")CYCLE BACK TO \(block)"
    case .back: return "\(edge ?? "")BACK TO \(block)"
    case .block, .row, .omitted: return "\(sum) \(edge ?? "")\(block)"
    }
  }

  /// `child + 16`, or `+16` where the field has no name.
  private var place: String? {
    offset.map { offset in field.map { "\($0) + \(offset)" } ?? "+\(offset)" }
  }
}

/// Turns the tree of a leak into lines.
struct LeakTreeBuilder {
  let leaks: LeakForest
  let labels: BlockLabels
  /// More lines than this are left out.
  let limit: Int
  /// Blocks further from the root are left out: deeper indentation cannot be read.
  static let deepest = 40

  private struct Visit {
    var node: Int
    /// Where in the block above the pointer to this one is; nil for the root.
    var offset: UInt64?
    var edges: [LeakForest.Edge]
    var next = 0
    /// Whether this is the last element of a row that is left out.
    var isRow = false
    /// Nodes that this one points to and that have had their line, or were left out.
    var shown: Set<Int> = []
    /// Fields that lead back, by what they lead to: several may.
    var back: Set<Back> = []

    /// Whether a pointer that leads back has no line yet.
    mutating func takeBack(_ edge: LeakForest.Edge, _ field: String?) -> Bool {
      back.insert(Back(target: edge.target, field: field)).inserted
    }
  }

  private struct Back: Hashable {
    var target: Int
    var field: String?
  }

  /// The lines of the tree of a root, parents before what they hold.
  func lines(of root: Int) -> [LeakTreeLine] {
    var lines = [line(root, depth: 0, edge: nil)]
    var path = [Visit(node: root, edges: leaks.edges(of: root))]
    var isOnPath: Set<Int> = [root]
    while !path.isEmpty {
      let depth = path.count
      // Not a copy of the visit: what is shown would be copied with each block that it holds.
      let (node, next) = (path[depth - 1].node, path[depth - 1].next)
      guard next < path[depth - 1].edges.count else {
        path.removeLast()
        isOnPath.remove(node)
        continue
      }
      path[depth - 1].next += 1
      let edge = path[depth - 1].edges[next]
      if isOnPath.contains(edge.target) {
        let field = field(edge, of: leaks.block(of: node))
        if lines.count < limit, path[depth - 1].takeBack(edge, field),
          let line = back(edge, from: node, depth: depth)
        {
          lines.append(line)
        }
        continue
      }
      guard leaks.parent(of: edge.target) == node,
        path[depth - 1].shown.insert(edge.target).inserted
      else { continue }
      if lines.count >= limit || depth >= Self.deepest {
        omit(edge.target, depth: depth, in: &lines)
        continue
      }
      let child: Visit
      let isInList = path[depth - 1].offset == edge.offset && !path[depth - 1].isRow
      if isInList, let row = row(from: node, at: edge) {
        lines.append(line(of: row, from: edge, in: node, depth: depth))
        child = Visit(
          node: row.holder, offset: edge.offset, edges: [row.edge], isRow: true)
      } else {
        lines.append(line(edge.target, depth: depth, edge: edge))
        child = Visit(
          node: edge.target, offset: edge.offset, edges: leaks.edges(of: edge.target))
      }
      path.append(child)
      isOnPath.insert(child.node)
    }
    return lines
  }

  /// The elements of a list from a pointer on, where the block that has it is one of them.
  private func row(from node: Int, at edge: LeakForest.Edge) -> LeakTreeRow? {
    guard LeakTreeRow.isStep(edge, from: node, of: leaks, labels: labels) else { return nil }
    return LeakTreeRow(from: edge, of: leaks, labels: labels)
  }

  private func line(
    of row: LeakTreeRow, from edge: LeakForest.Edge, in node: Int, depth: Int
  ) -> LeakTreeLine {
    let (first, last) = (edge.target, row.last)
    return LeakTreeLine(
      depth: depth, role: .row, field: field(edge, of: leaks.block(of: node)),
      offset: edge.offset, name: labels.name(of: leaks.block(of: first)), address: 0,
      size: labels.heap.blocks.size(of: leaks.block(of: first)),
      count: UInt64(leaks.subtreeCount(of: first) - leaks.subtreeCount(of: last)),
      bytes: leaks.subtreeBytes(of: first) &- leaks.subtreeBytes(of: last))
  }

  private func line(
    _ node: Int, depth: Int, edge: LeakForest.Edge?
  ) -> LeakTreeLine {
    let block = leaks.block(of: node)
    let role: LeakTreeLine.Role =
      switch leaks.role(of: node) {
      case .rootLeak: .rootLeak
      case .rootCycle: .rootCycle
      case .draggedAlong: .block
      }
    let parent = leaks.parent(of: node).map(leaks.block(of:))
    let heap = labels.heap
    return LeakTreeLine(
      depth: depth, role: role, field: edge.flatMap { field($0, of: parent) },
      offset: edge?.offset, name: labels.name(of: block),
      address: labels.heap.blocks.address(of: block), size: labels.heap.blocks.size(of: block),
      count: UInt64(leaks.subtreeCount(of: node)), bytes: leaks.subtreeBytes(of: node),
      counts: labels.counts(of: block), suspended: labels.suspension(of: block),
      stack: heap.blocks.site(of: block).stack.rawValue,
      time: heap.blocks.time(of: block))
  }

  /// The line of a pointer that leads back; none where that is a weak reference of an object to itself, as
  /// `std::enable_shared_from_this` has.
  private func back(
    _ edge: LeakForest.Edge, from node: Int, depth: Int
  ) -> LeakTreeLine? {
    let (block, target) = (leaks.block(of: node), leaks.block(of: edge.target))
    let isWeak = labels.types.isWeak(at: edge.offset, of: block, in: labels.heap)
    if isWeak && edge.target == node { return nil }
    let isInCycle =
      !isWeak && [node, edge.target].allSatisfy { leaks.role(of: $0) == .rootCycle }
    return LeakTreeLine(
      depth: depth, role: isInCycle ? .cycleBack : .back, field: field(edge, of: block),
      offset: edge.offset, name: labels.name(of: target),
      address: labels.heap.blocks.address(of: target),
      size: labels.heap.blocks.size(of: target), count: 0, bytes: 0)
  }

  private func field(_ edge: LeakForest.Edge, of block: Int?) -> String? {
    block.flatMap { labels.types.field(at: edge.offset, of: $0, in: labels.heap) }
  }

  /// Adds a subtree to the line that counts what is left out, next to it or of a whole tree.
  private func omit(_ node: Int, depth: Int, in lines: inout [LeakTreeLine]) {
    let (count, bytes) = (UInt64(leaks.subtreeCount(of: node)), leaks.subtreeBytes(of: node))
    if let last = lines.indices.last, lines[last].role == .omitted,
      lines[last].depth == depth || lines.count > limit
    {
      lines[last].count &+= count
      lines[last].bytes &+= bytes
    } else {
      lines.append(
        LeakTreeLine(
          depth: depth, role: .omitted, address: 0, size: 0, count: count, bytes: bytes))
    }
  }
}
