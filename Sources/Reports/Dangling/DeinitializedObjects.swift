import LeakAnalysis
import TraceReader

extension DanglingReport {
  /// Objects of a Swift class that have been deinitialized, and whose memory `unowned` references
  /// keep: to read one of these ends the program.
  public struct Deinitialized: Sendable, Hashable, Encodable {
    /// The class.
    public var name: String
    /// The objects, and their requested bytes.
    public var objects = BlockSum()
    /// All references to them.
    public var unowned: UInt64 = 0
    /// Where the first of them is.
    public var address: UInt64

    enum CodingKeys: String, CodingKey {
      case name, objects, unowned, address
    }

    /// Writes the row, with the address as hexadecimal text.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(objects, forKey: .objects)
      try container.encode(unowned, forKey: .unowned)
      try container.encode(HexText.of(address), forKey: .address)
    }
  }

  /// The deinitialized objects of a heap by class, those of the most references first.
  static func deinitialized(in heap: HeapImage, _ source: ReportSource) -> [Deinitialized] {
    let types = SnapshotTypeNames(source)
    var rows: [Deinitialized] = []
    var positions: [String: Int] = [:]
    for block in 0..<heap.blocks.count where heap.blocks.site(of: block).thread != .recorder {
      let address = heap.blocks.address(of: block)
      guard let counts = ObjectCounts(at: address, in: heap.memory), counts.isTakenDown else {
        continue
      }
      // Strong references are only made while the deinitializer runs, and the object's own counts until then.
      let own: UInt64 = counts.strong > 0 ? 1 : 0
      guard counts.unowned > own else { continue }
      let category = types.detailedCategory(of: block, in: heap)
      guard category.hasSwiftCounts else { continue }
      let position = positions[category.name] ?? rows.count
      if position == rows.count {
        positions[category.name] = position
        rows.append(Deinitialized(name: category.name, address: address))
      }
      rows[position].objects.add(heap.blocks.size(of: block))
      rows[position].unowned &+= counts.unowned - own
    }
    return rows.sorted { ($1.unowned, $0.address) < ($0.unowned, $1.address) }
  }

  /// Writes a table of them; nothing where there are none.
  func writeDeinitialized(to page: inout TextPage) {
    guard let first = deinitialized.first else { return }
    page.heading("Deinitialized, but referenced as unowned (to read such a reference is fatal):")
    var table = TextTable([
      .number("#"), .text("Object"), .number("Bytes"), .number("Unowned"), .text("Such As"),
    ])
    for row in deinitialized.prefix(query.top ?? .max) {
      table.add([
        Span(row.objects.count.grouped), Span(row.name), Span(page.bytes(row.objects.bytes)),
        Span(row.unowned.grouped), Span(HexText.of(row.address)),
      ])
    }
    page.table(table, indent: 2)
    let hidden = deinitialized.count - (query.top ?? .max)
    if hidden > 0 {
      page.line(Span(CountText.more(hidden, "row") + "; --top 0 shows all", .faint))
    }
    let address = HexText.of(first.address)
    page.line(
      "Next: memtrace leaks \(trace.file ?? "TRACE") --trace-tree \(address) shows who has them")
  }
}
