extension GenerationsReport {
  /// Writes a row for each generation and, below it, its greatest categories.
  public func write(to page: inout TextPage) {
    let state = moment.map { "live at \($0)" } ?? "live at the end"
    page.line(
      Span("Generations of \(trace.commandLine) (pid \(trace.pid)), \(state)", .heading))
    page.line(
      Span("Each holds what was allocated from its mark to the next one and still lives.", .faint))
    page.lines(about: trace)
    page.lines(about: query.filter, query.filter.nameText)
    page.blank()
    page.table(table(page))
    let hidden = generationCount - generations.count
    if hidden > 0 {
      page.line(
        Span("… \(hidden.grouped) more that grew less; --generations 0 shows all", .faint))
    }
    coverage.write(to: &page)
  }

  private func table(_ page: TextPage) -> TextTable {
    var table = TextTable([
      .text("Snapshot"), .text("Timestamp", shortest: nil, spare: 1), .number("Growth"),
      .number("# Persistent"),
    ])
    for generation in generations {
      table.add([
        Span(generation.name, .emphasis), Span(TimeText.timestamp(generation.timeNanoseconds)),
        Span(generation.growth.bytesText(page)), Span(generation.growth.countText),
      ])
      for category in generation.categories {
        table.add([
          Span("  " + category.name), "", Span(category.growth.bytesText(page)),
          Span(category.growth.countText),
        ])
      }
      let hidden = generation.categoryCount - generation.categories.count
      if hidden > 0, !generation.categories.isEmpty {
        table.add([Span("  … \(hidden.grouped) more", .faint)])
      }
    }
    return table
  }

  /// For each generation a row of its sum, then one per category.
  public var csv: CSVTable? {
    let isEstimate = trace.sampling != nil
    var table = CSVTable(
      ["Snapshot", "Timestamp", "Nanoseconds", "Category", "Growth", "# Persistent"]
        + (isEstimate ? ["Growth Margin", "# Persistent Margin"] : []))
    for generation in generations {
      func add(_ category: String, _ growth: Growth) {
        let fields: [any CSVField] = [
          generation.name, TimeText.timestamp(generation.timeNanoseconds),
          generation.timeNanoseconds, category, growth.bytes, growth.count,
        ]
        let margins: [any CSVField] = isEstimate ? [growth.bytesMargin, growth.countMargin] : []
        table.add((fields + margins).map(\.csvText))
      }
      add(AllocationsReport.totalName, generation.growth)
      for category in generation.categories { add(category.name, category.growth) }
    }
    return table
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, filter, moment, total, generations, generationCount
  }

  /// Writes the document `memtrace.generations`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(query.filter, forKey: .filter)
    try container.encodeIfPresent(moment, forKey: .moment)
    try container.encode(total, forKey: .total)
    try container.encode(generations, forKey: .generations)
    try container.encode(generationCount, forKey: .generationCount)
  }
}

extension GenerationsReport.Growth: Encodable {
  enum CodingKeys: String, CodingKey {
    case growthBytes, persistentCount, growthBytesMargin, persistentCountMargin
  }

  /// Writes the numbers, with margins where they are estimates.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(bytes, forKey: .growthBytes)
    try container.encode(count, forKey: .persistentCount)
    try container.encodeIfPresent(bytesMargin, forKey: .growthBytesMargin)
    try container.encodeIfPresent(countMargin, forKey: .persistentCountMargin)
  }

  fileprivate func bytesText(_ page: TextPage) -> String {
    page.bytes(bytes) + MarginText.suffix(bytesMargin, of: bytes)
  }

  fileprivate var countText: String {
    count.grouped + MarginText.suffix(countMargin, of: count)
  }
}

extension GenerationsReport.Category: Encodable {
  enum CodingKeys: String, CodingKey { case name, type, stacks, stackCount }

  /// Writes the name and the numbers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(type, forKey: .type)
    try growth.encode(to: encoder)
    try container.encode(stacks, forKey: .stacks)
    try container.encode(stackCount, forKey: .stackCount)
  }
}

extension GenerationsReport.Stack: Encodable {
  enum CodingKeys: String, CodingKey { case stack, frames }

  /// Writes the frames and the numbers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .stack)
    try growth.encode(to: encoder)
    try container.encode(frames, forKey: .frames)
  }
}

extension GenerationsReport.Generation: Encodable {
  enum CodingKeys: String, CodingKey {
    case index, name, origin, timestamp, timeNanoseconds, endNanoseconds, categories
    case categoryCount
  }

  /// Writes the mark, the numbers and the categories.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(index, forKey: .index)
    try container.encode(name, forKey: .name)
    try container.encode(origin, forKey: .origin)
    try container.encode(TimeText.timestamp(timeNanoseconds), forKey: .timestamp)
    try container.encode(timeNanoseconds, forKey: .timeNanoseconds)
    try container.encode(endNanoseconds, forKey: .endNanoseconds)
    try growth.encode(to: encoder)
    try container.encode(categories, forKey: .categories)
    try container.encode(categoryCount, forKey: .categoryCount)
  }
}
