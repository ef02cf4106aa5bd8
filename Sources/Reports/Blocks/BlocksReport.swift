import TraceReader

/// The Allocations List: single blocks.
public struct BlocksReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.blocks"

  /// One block.
  public struct Row: Sendable, Hashable {
    /// Position in the list.
    public var index: Int
    /// Where it begins.
    public var address: UInt64
    /// The category, such as `Malloc-16`.
    public var category: String
    /// When it was allocated, nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// When it was freed; nil while it lives.
    public var freedNanoseconds: UInt64?
    /// Requested bytes.
    public var size: UInt64
    /// The thread that allocated it.
    public var thread: ThreadSummary
    /// The ID of the backtrace of the allocation.
    public var stack: UInt32
    /// The responsible frame; nil without a stack.
    public var responsible: ReportFrame?

    /// Whether it was live at the end of what was replayed.
    public var isLive: Bool { freedNanoseconds == nil }
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// Which blocks were asked for.
  public var filter: SiteFilter
  /// The moment that the state is as of, in words; nil for the end.
  public var moment: String?
  /// The blocks, named when they are asked for.
  public var rows: LongList<Row>
  /// How many blocks there are without a limit.
  public var rowCount: Int
  /// Whether there were too many blocks to look at: only the first ones count.
  public var isCut: Bool

  /// Lists blocks.
  ///
  /// - Parameters:
  ///   - blocks: In the order of the list.
  ///   - coverage: What the trace does not hold.
  ///   - source: Who was traced, and how to name things.
  ///   - filter: Which blocks were asked for.
  ///   - moment: The moment that the list is as of, in words; nil for the end.
  ///   - isCut: Whether there were too many blocks to look at.
  ///   - top: At most so many; nil for all.
  init(
    _ blocks: LongList<FoundBlock>, coverage: Coverage, source: ReportSource, filter: SiteFilter,
    moment: String? = nil, isCut: Bool = false, top: Int? = nil
  ) {
    self.isCut = isCut
    trace = source.trace
    self.coverage = CoverageSummary(coverage)
    self.filter = filter
    self.moment = moment
    rowCount = blocks.count
    rows = BlockNames(source).rows(of: blocks.limited(to: top))
  }

  /// Writes the list.
  public func write(to page: inout TextPage) {
    let program = "\(trace.commandLine) (pid \(trace.pid))" + MomentText.suffix(moment)
    page.line(Span("Allocations List of \(program)", .heading))
    page.lines(aboutPausesOf: trace)
    page.lines(about: filter, filter.text)
    if let sampling = trace.sampling {
      page.line(
        Span("Only blocks in \(sampling.name): each stands for others like it.", .warning))
    }
    if rows.isEmpty {
      page.line("No blocks to show.")
    } else {
      page.blank()
      page.table(table(bytes: page.style.bytes))
      let hidden = rowCount - rows.count
      if hidden > 0 {
        page.line(Span(CountText.more(hidden, "block") + "; --top 0 shows all", .faint))
      }
    }
    if isCut {
      page.line(
        Span("Only the first \(rowCount.grouped) blocks were looked at; ", .warning),
        "narrow the list down by category, size or time.")
    }
    coverage.write(to: &page)
  }

  /// As many columns as `main  parser.c:27` takes, or `Malloc-1.00 KiB`: names would else be cut
  /// beyond recognition.
  private static let readable = 16

  private func table(bytes: ByteStyle) -> TextTable {
    let columns: [TextTable.Column] = [
      .number("#", spare: 2), .text("Address", shortest: nil),
      .text("Category", shortest: Self.readable, spare: 1),
      .text("Timestamp", shortest: nil, spare: 4), .text("Live", shortest: nil, spare: 3),
      .number("Size"), .text("Responsible Library", spare: 5),
      .text("Responsible Caller", shortest: Self.readable),
    ]
    let cells = rows.converted { row in
      let place = row.responsible?.place.map { "  \($0)" } ?? ""
      return [
        Span("\(row.index)"), Span(HexText.of(row.address)), Span(row.category),
        Span(TimeText.timestamp(row.timeNanoseconds)), Span(row.isLive ? "●" : ""),
        Span(bytes.format(row.size)), Span(row.responsible?.imageName ?? ""),
        Span((row.responsible?.name ?? "<no stack recorded>") + place, .emphasis),
      ]
    }
    return TextTable(columns, rows: cells)
  }

  /// One row per block.
  public var csv: CSVTable? {
    let header = [
      "#", "Address", "Category", "Timestamp", "Nanoseconds", "Live", "Freed Nanoseconds", "Size",
      "Thread", "Responsible Library", "Responsible Caller", "Source", "Stack ID",
    ]
    let fields = rows.converted { row in
      CSVTable.row([
        row.index, HexText.of(row.address), row.category, TimeText.timestamp(row.timeNanoseconds),
        row.timeNanoseconds, row.isLive, row.freedNanoseconds, row.size, row.thread.text,
        row.responsible?.imageName, row.responsible?.name, row.responsible?.place, row.stack,
      ])
    }
    return CSVTable(header, rows: fields)
  }

  enum CodingKeys: String, CodingKey { case trace, coverage, filter, moment, rows, rowCount, isCut }
}

extension BlocksReport.Row: Encodable {
  enum CodingKeys: String, CodingKey {
    case index, address, category, timestamp, timeNanoseconds, freedNanoseconds, live, size
    case thread, stack, responsible
  }

  /// Writes the block; its address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(index, forKey: .index)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(category, forKey: .category)
    try container.encode(TimeText.timestamp(timeNanoseconds), forKey: .timestamp)
    try container.encode(timeNanoseconds, forKey: .timeNanoseconds)
    try container.encodeIfPresent(freedNanoseconds, forKey: .freedNanoseconds)
    try container.encode(isLive, forKey: .live)
    try container.encode(size, forKey: .size)
    try container.encode(thread, forKey: .thread)
    try container.encode(stack, forKey: .stack)
    try container.encodeIfPresent(responsible, forKey: .responsible)
  }
}
