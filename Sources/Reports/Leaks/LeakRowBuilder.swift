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
  private var sums: [LeakSum] = []
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
    let position = positions[key] ?? sums.count
    if position == sums.count {
      positions[key] = position
      sums.append(LeakSum(key.name, of: block, isComparison: isNew != nil))
    }
    let (size, tree) = (blocks.ownBytes(of: block), names.tree(block))
    sums[position].count &+= 1
    sums[position].bytes &+= size
    if names.isRoot(block) { sums[position].rootCount &+= 1 }
    if let tree { sums[position].tree = (sums[position].tree ?? BlockSum()).adding(tree) }
    if isNew == true { sums[position].new?.add(size) }
    if blocks.order(of: block) < blocks.order(of: Int(sums[position].oldest)) {
      sums[position].oldest = UInt32(truncatingIfNeeded: block)
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

  /// The rows with the most bytes first, of what they are or of their trees; without those that hold
  /// nothing new.
  consuming func finish() -> LongList<LeakRow> {
    if names.grouping == .block {
      singles.sort(blocks)
      return names.rows(of: singles)
    }
    positions = [:]
    sums.removeAll { $0.new?.count == 0 }
    sums.sort { LeakSum.precedes($0, $1, in: blocks) }
    return names.rows(of: sums)
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

  /// A row that counts nothing yet.
  ///
  /// - Parameters:
  ///   - block: The one that the row shows: the oldest.
  ///   - name: Of the row.
  ///   - category: What the blocks are.
  /// - Returns: What is looked up once for each row.
  private func row(of block: Int, named name: String, _ category: BlockCategory) -> LeakRow {
    let hasType = [.stack, .type, .block].contains(grouping)
    let stack = heap.blocks.site(of: block).stack
    var row = LeakRow(
      name: name, type: hasType ? BlockTypeSummary(category) : nil,
      address: heap.blocks.address(of: block), size: heap.blocks.size(of: block),
      timeNanoseconds: source.clock.nanoseconds(heap.blocks.time(of: block)),
      stack: stack.rawValue)
    row.heldBy = holder(block)
    row.responsible = source.names.responsible(of: stack)
    return row
  }

  /// A row for each sum, made when it is asked for.
  func rows(of sums: [LeakSum]) -> LongList<LeakRow> {
    LongList(count: sums.count) { AnyIterator(sums.lazy.map(row(of:)).makeIterator()) }
  }

  private func row(of sum: LeakSum) -> LeakRow {
    var row = row(of: Int(sum.oldest), named: sum.name, category(of: Int(sum.first)))
    (row.count, row.bytes, row.rootCount) = (sum.count, sum.bytes, sum.rootCount)
    (row.treeCount, row.treeBytes) = (sum.tree?.count, sum.tree?.bytes)
    (row.newCount, row.newBytes) = (sum.new?.count, sum.new?.bytes)
    return row
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
    return row
  }
}
