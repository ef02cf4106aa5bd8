extension UnfreedReport {
  /// Writes one paragraph per group: what, how much, and the stack.
  public func write(to page: inout TextPage) {
    page.line(Span(headline(page), .heading))
    page.lines(about: trace)
    page.lines(about: query.filter, query.filter.nameText)
    for group in groups {
      page.blank()
      page.line(Span(group.sizeText(page), .heading), Span(group.typeText + group.originText))
      StackText.write(group.frames, to: &page, indent: 4, limit: query.frames ?? .max)
    }
    let hidden = groupCount - groups.count
    if hidden > 0 {
      let rest = totalBytes &- groups.reduce(0) { $0 &+ $1.bytes }
      page.blank()
      page.line(
        Span(
          CountText.more(hidden, "stack") + " with \(page.bytes(rest)); --top 0 shows all", .faint))
    }
    coverage.write(to: &page)
  }

  private func headline(_ page: TextPage) -> String {
    let program = "\(trace.commandLine) (pid \(trace.pid))"
    let state = query.moment.map { "live at \($0)" } ?? "unfreed at the end"
    guard totalCount > 0 else { return "No blocks \(state) in \(program)." }
    let stacks = groupCount == 1 ? "1 stack" : "\(groupCount.grouped) stacks"
    return "\(state.prefix(1).uppercased())\(state.dropFirst()): \(totalText(page))"
      + " from \(stacks) of \(program)"
  }

  /// `60 B in 5 blocks`, `1.2 MiB ±14 % in 5,000 blocks ±20 %`.
  func totalText(_ page: TextPage) -> String {
    page.bytes(totalBytes) + MarginText.suffix(totalBytesMargin, of: totalBytes) + " in "
      + CountText.blocks(totalCount) + MarginText.suffix(totalCountMargin, of: totalCount)
  }

  /// One row per group.
  public var csv: CSVTable? {
    let isEstimate = trace.sampling != nil
    var table = CSVTable(
      [
        "Bytes", "# Blocks", "Sizes", "Functions", "Threads", "Responsible Library",
        "Responsible Caller", "Source", "Stack ID", "Frames", "Types",
      ] + (isEstimate ? ["Bytes Margin", "# Blocks Margin"] : []))
    for group in groups {
      let fields: [any CSVField] = [
        group.bytes, group.count,
        group.sizes.map { "\($0.count)x\($0.size)" }.joined(separator: " "),
        group.functions.joined(separator: " "),
        group.threads.map(\.text).joined(separator: "; "), group.responsible?.imageName,
        group.responsible?.name, group.responsible?.place, group.stack,
        group.frames.map(\.title).joined(separator: " < "),
        group.types.joined(separator: "; "),
      ]
      let margins: [any CSVField] = isEstimate ? [group.bytesMargin, group.countMargin] : []
      table.add((fields + margins).map(\.csvText))
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, filter, moment, totalBytes, totalCount, totalBytesMargin
    case totalCountMargin, groups, groupCount
  }

  /// Writes the document `memtrace.unfreed`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(query.filter, forKey: .filter)
    try container.encodeIfPresent(query.moment, forKey: .moment)
    try container.encode(totalBytes, forKey: .totalBytes)
    try container.encode(totalCount, forKey: .totalCount)
    try container.encodeIfPresent(totalBytesMargin, forKey: .totalBytesMargin)
    try container.encodeIfPresent(totalCountMargin, forKey: .totalCountMargin)
    try container.encode(groups, forKey: .groups)
    try container.encode(groupCount, forKey: .groupCount)
  }
}

extension UnfreedReport.Group {
  /// `60 B in 5 blocks of 12 B`, `96 B in 7 blocks: 5 × 12 B, 2 × 18 B`.
  func sizeText(_ page: TextPage) -> String {
    let start =
      page.bytes(bytes) + MarginText.suffix(bytesMargin, of: bytes) + " in "
      + CountText.blocks(count) + MarginText.suffix(countMargin, of: count)
    guard let first = sizes.first else { return start }
    // With all digits: two sizes that look the same would be a riddle.
    if sizes.count == 1 { return count == 1 ? start : "\(start) of \(first.size.grouped) B" }
    let listed = sizes.prefix(3).map { "\($0.count.grouped) × \($0.size.grouped) B" }
    let more = sizes.count > 3 ? ", \(CountText.of(UInt64(sizes.count - 3), "more size"))" : ""
    return "\(start): \(listed.joined(separator: ", "))\(more)"
  }

  /// ` (geo::Circle)`.
  fileprivate var typeText: String {
    types.isEmpty ? "" : " (\(types.joined(separator: ", ")))"
  }

  /// ` by malloc on main (T1, tid 12)`.
  fileprivate var originText: String {
    let on =
      switch threads.count {
      case 0: ""
      case 1: " on \(threads[0].text)"
      default: " on \(threads.count.grouped) threads"
      }
    return " by \(functions.joined(separator: ", "))\(on)"
  }
}

extension SiteFilter {
  /// The filter by names in words; nil when all names pass.
  var nameText: String? {
    var filter = self
    filter.lifespan = .all
    return filter.text
  }
}
