extension CallTreeReport {
  /// Writes the tree: bytes with their share, blocks, and the indented function.
  public func write(to page: inout TextPage) {
    let direction = query.options.isInverted ? "Inverted call tree" : "Call tree"
    let program = "\(trace.commandLine) (pid \(trace.pid))" + MomentText.suffix(query.moment)
    page.line(Span("\(direction) of the allocations of \(program)", .heading))
    page.lines(about: trace)
    page.lines(about: query.filter, query.filter.text)
    if nodes.isEmpty {
      page.line("No allocations to show.")
      coverage.write(to: &page)
      return
    }
    page.blank()
    var table = TextTable([
      .number("Bytes Used"), .number("%", spare: 1), .number("Count"), .text("Symbol Name"),
    ])
    for (node, prefix) in zip(nodes, prefixes()) {
      let suffix = node.image.map { "  \($0)" } ?? ""
      table.add([
        Span(page.bytes(node.bytes) + MarginText.suffix(node.bytesMargin, of: node.bytes)),
        Span(ShareText.percent(node.bytes, of: totalBytes)),
        Span(node.count.grouped),
        Span("\(prefix)\(node.name)\(suffix)", Self.paint(node.role)),
      ])
    }
    page.table(table)
    if nodes.count < nodeCount {
      let hidden = nodeCount - nodes.count
      page.line(
        Span(CountText.more(hidden, "function") + "; --min-percent 0 --top 0 shows all", .faint))
    }
    coverage.write(to: &page)
  }

  private static func paint(_ role: ReportFrame.Role) -> Paint {
    switch role {
    case .user: .emphasis
    case .system, .runtime: .faint
    case .marker: .plain
    }
  }

  /// What stands before each name: lines where a function has several children, nothing where
  /// it has one, so that deep stacks do not run off the terminal.
  private func prefixes() -> [String] {
    var childCounts = Array(repeating: 0, count: nodes.count)
    var roots = 0
    for node in nodes {
      if let parent = node.parent { childCounts[parent] += 1 } else { roots += 1 }
    }
    var seen = Array(repeating: 0, count: nodes.count)
    var seenRoots = 0
    // What the lines below a node begin with.
    var margins = Array(repeating: "", count: nodes.count)
    return nodes.map { node in
      let siblings = node.parent.map { childCounts[$0] } ?? roots
      let margin = node.parent.map { margins[$0] } ?? ""
      var position = 0
      if let parent = node.parent {
        seen[parent] += 1
        position = seen[parent]
      } else {
        seenRoots += 1
        position = seenRoots
      }
      guard siblings > 1 else {
        margins[node.id] = margin
        return margin
      }
      let isLast = position == siblings
      margins[node.id] = margin + (isLast ? "   " : "│  ")
      return margin + (isLast ? "└─ " : "├─ ")
    }
  }

  /// One row per function, with its depth.
  public var csv: CSVTable? {
    var table = CSVTable(["ID", "Parent", "Depth", "Bytes Used", "Count", "Symbol Name", "Library"])
    for node in nodes {
      table.add(node.id, node.parent, node.depth, node.bytes, node.count, node.name, node.image)
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, filter, moment, options, totalBytes, totalCount, nodes, nodeCount
  }

  /// Writes the document `memtrace.call-tree`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(query.filter, forKey: .filter)
    try container.encodeIfPresent(query.moment, forKey: .moment)
    try container.encode(query.options, forKey: .options)
    try container.encode(totalBytes, forKey: .totalBytes)
    try container.encode(totalCount, forKey: .totalCount)
    try container.encode(nodes, forKey: .nodes)
    try container.encode(nodeCount, forKey: .nodeCount)
  }
}
