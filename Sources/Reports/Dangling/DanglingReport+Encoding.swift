import LeakAnalysis

extension DanglingReport {
  enum CodingKeys: String, CodingKey {
    case trace, coverage, snapshot, live, counts, exitCount, hasUnknownBlocks, isComplete, rows
    case rowCount, deinitialized
  }

  /// Writes the document `memtrace.dangling`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(snapshot, forKey: .snapshot)
    try container.encode(live, forKey: .live)
    let counts = DanglingPointer.Confidence.allCases.map { ($0.name, self.counts[$0] ?? 0) }
    try container.encode(Dictionary(uniqueKeysWithValues: counts), forKey: .counts)
    try container.encode(exitCount, forKey: .exitCount)
    try container.encode(hasUnknownBlocks, forKey: .hasUnknownBlocks)
    try container.encode(isComplete, forKey: .isComplete)
    try container.encode(rows, forKey: .rows)
    try container.encode(rowCount, forKey: .rowCount)
    try container.encode(deinitialized, forKey: .deinitialized)
  }
}

extension DanglingReport.Row: Encodable {
  enum CodingKeys: String, CodingKey {
    case confidence, isFromExit, holder, holderKind, offset, holderAllocated, name, type, count
    case blocks, edge, allocated, freed, examples
  }

  /// Writes the row.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(confidence.name, forKey: .confidence)
    try container.encode(isFromExit, forKey: .isFromExit)
    try container.encode(holder, forKey: .holder)
    try container.encode(holderKind, forKey: .holderKind)
    try container.encodeIfPresent(offset, forKey: .offset)
    try container.encodeIfPresent(holderAllocated, forKey: .holderAllocated)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(type, forKey: .type)
    try container.encode(count, forKey: .count)
    try container.encode(blocks, forKey: .blocks)
    try container.encode(edge, forKey: .edge)
    try container.encode(allocated, forKey: .allocated)
    try container.encode(freed, forKey: .freed)
    try container.encode(examples, forKey: .examples)
  }
}

extension DanglingReport.Example: Encodable {
  enum CodingKeys: String, CodingKey {
    case holder, holderBlock, pointer, block, size, mayBeEarlier
  }

  /// Writes the addresses as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(holder.map(HexText.of), forKey: .holder)
    try container.encodeIfPresent(holderBlock.map(HexText.of), forKey: .holderBlock)
    try container.encode(HexText.of(pointer), forKey: .pointer)
    try container.encode(HexText.of(block), forKey: .block)
    try container.encode(size, forKey: .size)
    try container.encode(mayBeEarlier, forKey: .mayBeEarlier)
  }
}
