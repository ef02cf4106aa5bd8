extension TraceTreeReport {
  /// Writes the block, who allocated it, and what holds it.
  public func write(to page: inout TextPage) {
    let label = name.map { "<\($0) \(HexText.of(address))>" } ?? HexText.of(address)
    let references = counts.map { ", \($0.text)," } ?? ""
    page.line(
      Span("\(label) [\(size.grouped)]", .heading), Span("\(references) is \(stateText)"))
    if let suspended { page.line(Span("Suspended in \(suspended.title)")) }
    page.line(
      Span("Allocated by \(allocation.function) on \(allocation.thread.text) at "),
      Span(TimeText.timestamp(allocation.timeNanoseconds)))
    StackText.write(allocation.frames, to: &page, indent: 4, limit: frameLimit ?? .max)
    let rows = HolderRows(holders).lines
    let isLarge = isCut || rows.count > Self.readableCount
    if isLarge, !shortestWay.isEmpty {
      page.heading("Held by, on the shortest way to a root:")
      Self.write(HolderRows(shortestWay).lines, to: &page) { _ in 1 }
    }
    page.heading(heading(isLarge: isLarge))
    Self.write(rows, to: &page) { $0 }
    if isCut { page.line(Span("    … more holders; --top 0 shows all", .faint)) }
    coverage.write(to: &page)
  }

  /// Among more lines nobody finds the way to a root.
  private static let readableCount = 20

  private func heading(isLarge: Bool) -> String {
    if holders.isEmpty { return "Nothing points to it." }
    return isLarge && !shortestWay.isEmpty ? "All that holds it:" : "Held by:"
  }

  private static func write(
    _ rows: [HolderRows.Line], to page: inout TextPage, shownDepth: (Int) -> Int
  ) {
    for row in rows {
      switch row {
      case .holder(let holder, let depth): holder.write(to: &page, depth: shownDepth(depth))
      case .row(let count, let depth):
        page.line(
          [Span("… \(count.grouped) more like it, in a row", .faint)],
          indent: 1 + 3 * shownDepth(depth))
      }
    }
  }

  private var stateText: String {
    switch state {
    case "reached": "reachable"
    case "possible": "reachable only by pointers into the middle of a block, or with tags"
    default: "leaked"
    }
  }

  /// One row per holder.
  public var csv: CSVTable? {
    var table = CSVTable(["Depth", "Root", "Holder", "Address", "Size", "Field", "Offset", "Edge"])
    for holder in holders {
      table.add(
        holder.depth, holder.root, holder.name, HexText.of(holder.address), holder.size,
        holder.field, holder.offset, holder.edge)
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, snapshot, address, name, size, counts, suspended, state, allocation,
      holders, shortestWay
    case isCut
  }

  /// Writes the document `memtrace.trace-tree`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(snapshot, forKey: .snapshot)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encode(size, forKey: .size)
    try container.encodeIfPresent(counts, forKey: .counts)
    try container.encodeIfPresent(suspended, forKey: .suspended)
    try container.encode(state, forKey: .state)
    try container.encode(allocation, forKey: .allocation)
    try container.encode(holders, forKey: .holders)
    try container.encode(shortestWay, forKey: .shortestWay)
    try container.encode(isCut, forKey: .isCut)
  }
}

extension TraceTreeReport.Holder {
  /// Writes its line of the tree.
  fileprivate func write(to page: inout TextPage, depth: Int) {
    let indent = 1 + 3 * depth
    page.treeLine(root ?? name, indent: indent) { root == nil ? block($0) : ($0 ?? "") + how }
  }

  /// `next + 16 of <Node 0x55d0> [32]`.
  private func block(_ name: String?) -> String {
    let label = name.map { "<\($0) \(HexText.of(address))>" } ?? HexText.of(address)
    let place = field.map { "\($0) + \(offset ?? 0)" } ?? "+\(offset ?? 0)"
    return "\(place) of \(label) [\(size?.grouped ?? "?")]\(how)"
  }

  /// How it points there, unless that is the usual way.
  private var how: String { edge == "start" ? "" : "  (\(edge) pointer)" }
}
