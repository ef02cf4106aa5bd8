import LeakAnalysis
import TraceReader

/// Puts leaked blocks together in rows.
struct LeakRowBuilder {
  private struct Key: Hashable {
    var name: String
    var detail: UInt64
  }

  private let blocks: HeapBlocks
  private let names: LeakRowNames
  private var positions: [Key: Int] = [:]
  /// For each row the order of its oldest block.
  private var ages: [UInt32] = []
  private var rows: [LeakRow] = []
  private var singles = SingleBlocks()

  /// - Parameters:
  ///   - names: What rows say about blocks.
  ///   - capacity: At most so many blocks will be added.
  init(_ names: LeakRowNames, capacity: Int) {
    self.names = names
    blocks = names.heap.blocks
    if names.grouping == .block { singles.reserve(capacity) }
  }

  /// Adds a block; `isNew` says whether the trace compared with does not have it, nil without such
  /// a one.
  mutating func add(_ block: Int, isNew: Bool? = nil) {
    let category = names.category(of: block)
    if names.grouping == .block {
      if isNew ?? true { singles.add(block, name: category.name) }
      return
    }
    let key = key(block, category)
    let position = positions[key] ?? rows.count
    if position == rows.count {
      positions[key] = position
      ages.append(.max)
      rows.append(names.row(of: block, named: key.name, category))
      rows[position].newCount = isNew.map { _ in 0 }
      rows[position].newBytes = isNew.map { _ in 0 }
    }
    rows[position].count &+= 1
    rows[position].bytes &+= blocks.ownBytes(of: block)
    if names.isRoot(block) { rows[position].rootCount &+= 1 }
    if let tree = names.tree(block) {
      rows[position].treeCount = (rows[position].treeCount ?? 0) &+ tree.count
      rows[position].treeBytes = (rows[position].treeBytes ?? 0) &+ tree.bytes
    }
    if isNew == true {
      rows[position].newCount = (rows[position].newCount ?? 0) &+ 1
      rows[position].newBytes = (rows[position].newBytes ?? 0) &+ blocks.ownBytes(of: block)
    }
    if blocks.order(of: block) < ages[position] {
      ages[position] = blocks.order(of: block)
      names.describe(block, in: &rows[position])
    }
  }

  private func key(_ block: Int, _ category: BlockCategory) -> Key {
    let (site, source) = (blocks.site(of: block), names.source)
    let responsible = { source.names.responsible(of: site.stack) }
    switch names.grouping {
    case .stack:
      let stack = source.names.likeness(of: site.stack)
      return Key(name: category.name, detail: UInt64(stack.rawValue))
    case .type, .block: return Key(name: category.name, detail: 0)
    case .function: return Key(name: responsible()?.name ?? "<no stack recorded>", detail: 0)
    case .image: return Key(name: responsible()?.imageName ?? "<no image>", detail: 0)
    case .thread:
      return Key(
        name: source.threads.summary(of: site.thread).text, detail: UInt64(site.thread.rawValue))
    }
  }

  /// The rows with the most bytes first, of what they are or of their trees, with their responsible frames; without those
  /// that hold nothing new.
  consuming func finish() -> LongList<LeakRow> {
    if names.grouping == .block {
      singles.sort(blocks)
      return names.rows(of: singles)
    }
    rows.removeAll { $0.newCount == 0 }
    for index in rows.indices { names.complete(&rows[index]) }
    return LongList(
      rows.sorted {
        // What drags others along comes before what is most of that.
        let (first, second) = (($0.weight, $0.treeBytes ?? 0), ($1.weight, $1.treeBytes ?? 0))
        guard first == second else { return first > second }
        return ($1.count, $0.name, $0.address) < ($0.count, $1.name, $1.address)
      })
  }
}

/// What rows say about leaked blocks.
struct LeakRowNames: @unchecked Sendable {
  // Belongs to one thread at a time, as all of this does.
  let heap: HeapImage
  let source: ReportSource
  let types: any TypeNaming
  let grouping: LeaksGrouping
  /// Whether the rows count what the trace compared with does not have.
  var isComparison = false
  /// Whether nothing that is leaked, too, holds a block.
  let isRoot: (_ block: Int) -> Bool
  /// The tree that a block is the head of, empty for a leaked block that is none; nil where trees are not told apart.
  var tree: (_ block: Int) -> BlockSum? = { _ in nil }
  /// What holds a block, in words.
  var holder: (_ block: Int) -> String? = { _ in nil }

  func category(of block: Int) -> BlockCategory {
    grouping == .type
      ? types.detailedCategory(of: block, in: heap) : types.category(of: block, in: heap)
  }

  /// A row that counts nothing yet, of blocks like one.
  func row(of block: Int, named name: String, _ category: BlockCategory) -> LeakRow {
    let hasType = [.stack, .type, .block].contains(grouping)
    var row = LeakRow(
      name: name, type: hasType ? BlockTypeSummary(category) : nil, address: 0, size: 0,
      timeNanoseconds: 0, stack: 0)
    describe(block, in: &row)
    return row
  }

  /// Says which block is the oldest one of a row.
  func describe(_ block: Int, in row: inout LeakRow) {
    row.address = heap.blocks.address(of: block)
    row.size = heap.blocks.size(of: block)
    row.timeNanoseconds = source.clock.nanoseconds(heap.blocks.time(of: block))
    row.stack = heap.blocks.site(of: block).stack.rawValue
  }

  /// Adds what is looked up once for each row.
  func complete(_ row: inout LeakRow) {
    // Where a pool begins as its first block does, the stack tells them apart.
    let block = heap.blocks.blocks(at: row.address).first {
      heap.blocks.site(of: $0).stack.rawValue == row.stack
    }
    row.heldBy = block.flatMap(holder)
    row.responsible = source.names.responsible(of: StackID(row.stack))
  }

  /// A row for each block, made when it is asked for.
  func rows(of singles: SingleBlocks) -> LongList<LeakRow> {
    LongList(count: singles.count) { AnyIterator(singles.lazy.map(row(of:)).makeIterator()) }
  }

  private func row(of block: Int) -> LeakRow {
    let (category, size) = (category(of: block), heap.blocks.ownBytes(of: block))
    var row = row(of: block, named: category.name, category)
    row.count = 1
    row.bytes = size
    row.rootCount = isRoot(block) ? 1 : 0
    let tree = tree(block)
    row.treeCount = tree?.count
    row.treeBytes = tree?.bytes
    row.newCount = isComparison ? 1 : nil
    row.newBytes = isComparison ? size : nil
    complete(&row)
    return row
  }
}
