import LeakAnalysis
import TraceReader

/// Leaked blocks of one kind: a row of the table.
public struct LeakRow: Sendable, Hashable, Encodable {
  /// What the blocks are; by function, image or thread the name of that.
  public var name: String
  /// What is known of the type; nil where blocks are told apart by size only.
  public var type: BlockTypeSummary?
  /// How many blocks.
  public var count: UInt64 = 0
  /// Their requested bytes.
  public var bytes: UInt64 = 0
  /// Blocks of these that nothing points to, or that are part of a root cycle.
  public var rootCount: UInt64 = 0
  /// The address of the oldest one.
  public var address: UInt64
  /// Its requested bytes.
  public var size: UInt64
  /// When it was allocated, nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// The ID of the stack that allocated it.
  public var stack: UInt32
  /// The responsible frame; nil without a stack.
  public var responsible: ReportFrame?
  /// How many more than in the trace it is compared with; nil when it is compared with none.
  public var newCount: UInt64?
  /// The requested bytes of these.
  public var newBytes: UInt64?
  /// What points to the oldest one; only of possible leaks.
  public var heldBy: String?

  enum CodingKeys: String, CodingKey {
    case name, type, count, bytes, rootCount, address, size, timeNanoseconds, stack, responsible
    case newCount, newBytes, heldBy
  }

  /// Writes the row; the address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(type, forKey: .type)
    try container.encode(count, forKey: .count)
    try container.encode(bytes, forKey: .bytes)
    try container.encode(rootCount, forKey: .rootCount)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(size, forKey: .size)
    try container.encode(timeNanoseconds, forKey: .timeNanoseconds)
    try container.encode(stack, forKey: .stack)
    try container.encodeIfPresent(responsible, forKey: .responsible)
    try container.encodeIfPresent(newCount, forKey: .newCount)
    try container.encodeIfPresent(newBytes, forKey: .newBytes)
    try container.encodeIfPresent(heldBy, forKey: .heldBy)
  }
}

/// Puts leaked blocks together in rows.
struct LeakRowBuilder {
  private struct Key: Hashable {
    var name: String
    var detail: UInt64
  }

  private let heap: HeapImage
  private let source: ReportSource
  private let types: any TypeNaming
  private let grouping: LeaksGrouping
  private var positions: [Key: Int] = [:]
  /// For each row the order of its oldest block.
  private var ages: [UInt32] = []
  private(set) var rows: [LeakRow] = []

  init(
    heap: HeapImage, source: ReportSource, types: any TypeNaming, grouping: LeaksGrouping
  ) {
    self.heap = heap
    self.source = source
    self.types = types
    self.grouping = grouping
  }

  /// Adds a block; `isNew` says whether the trace compared with does not have it, nil without such
  /// a one.
  mutating func add(_ block: Int, isRoot: Bool, isNew: Bool? = nil) {
    let site = heap.blocks.site(of: block)
    let category =
      grouping == .type
      ? types.detailedCategory(of: block, in: heap) : types.category(of: block, in: heap)
    let key = key(block, site, category)
    let position = positions[key] ?? rows.count
    if position == rows.count {
      positions[key] = position
      ages.append(.max)
      rows.append(
        LeakRow(
          name: key.name, type: hasType ? BlockTypeSummary(category) : nil, address: 0, size: 0,
          timeNanoseconds: 0, stack: 0, newCount: isNew.map { _ in 0 },
          newBytes: isNew.map { _ in 0 }))
    }
    rows[position].count &+= 1
    rows[position].bytes &+= heap.blocks.size(of: block)
    if isRoot { rows[position].rootCount &+= 1 }
    if isNew == true {
      rows[position].newCount = (rows[position].newCount ?? 0) &+ 1
      rows[position].newBytes = (rows[position].newBytes ?? 0) &+ heap.blocks.size(of: block)
    }
    if heap.blocks.order(of: block) < ages[position] {
      ages[position] = heap.blocks.order(of: block)
      rows[position].address = heap.blocks.address(of: block)
      rows[position].size = heap.blocks.size(of: block)
      rows[position].timeNanoseconds = source.clock.nanoseconds(heap.blocks.time(of: block))
      rows[position].stack = site.stack.rawValue
    }
  }

  private var hasType: Bool { [.stack, .type, .block].contains(grouping) }

  private func key(_ block: Int, _ site: Site, _ category: BlockCategory) -> Key {
    let responsible = { source.names.responsible(of: site.stack) }
    switch grouping {
    case .stack: return Key(name: category.name, detail: UInt64(site.stack.rawValue))
    case .type: return Key(name: category.name, detail: 0)
    case .block: return Key(name: category.name, detail: UInt64(block))
    case .function: return Key(name: responsible()?.name ?? "<no stack recorded>", detail: 0)
    case .image: return Key(name: responsible()?.imageName ?? "<no image>", detail: 0)
    case .thread:
      return Key(
        name: source.threads.summary(of: site.thread).text, detail: UInt64(site.thread.rawValue))
    }
  }

  /// The rows with the most bytes that matter first, with their responsible frames; without those
  /// that hold nothing new.
  ///
  /// - Parameter holder: What holds a block, in words.
  /// - Returns: The rows.
  mutating func finish(holder: (_ block: Int) -> String? = { _ in nil }) -> [LeakRow] {
    rows.removeAll { $0.newCount == 0 }
    for index in rows.indices {
      rows[index].heldBy = heap.blocks.block(at: rows[index].address).flatMap(holder)
      rows[index].responsible = source.names.responsible(of: StackID(rows[index].stack))
    }
    return rows.sorted {
      let (first, second) = ($0.newBytes ?? $0.bytes, $1.newBytes ?? $1.bytes)
      return (second, $1.count, $0.name, $0.address) < (first, $0.count, $1.name, $1.address)
    }
  }
}
