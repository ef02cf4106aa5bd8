import LeakAnalysis
import TraceReader

/// The live blocks of a heap with their names, looked up one by one.
struct HeapObjects: @unchecked Sendable {
  private let heap: HeapBlocks
  private let memory: SnapshotMemory?
  // Belongs to one thread at a time, as all of this does.
  private let categories: BlockCategories
  private let name: String?

  /// - Parameters:
  ///   - heap: The blocks; those of the recorder do not count.
  ///   - memory: The snapshot; nil leaves the blocks' own words out.
  ///   - source: How to name things.
  ///   - name: Only blocks of classes with such a name, which may hold `*` and `?`.
  init(_ heap: HeapBlocks, in memory: SnapshotMemory?, _ source: ReportSource, name: String?) {
    self.heap = heap
    self.memory = memory
    self.name = name
    categories = source.categories
  }

  /// All blocks, whatever their names, by ascending address.
  var blocks: some Sequence<LiveBlock> {
    (0..<heap.count).lazy.map(heap.liveBlock).filter { $0.thread != .recorder }
  }

  /// How many blocks have such a name.
  var count: Int { blocks.reduce(0) { $0 + (category(of: $1) == nil ? 0 : 1) } }

  /// The first blocks that have such a name.
  func list(limit: Int) -> LongList<HeapReport.Object> {
    LongList(count: min(count, max(limit, 0))) {
      var blocks = blocks.makeIterator()
      var left = limit
      return AnyIterator {
        while left > 0, let block = blocks.next() {
          guard let object = object(block) else { continue }
          left -= 1
          return object
        }
        return nil
      }
    }
  }

  private func object(_ block: LiveBlock) -> HeapReport.Object? {
    guard let category = category(of: block) else { return nil }
    let address = block.address.rawValue
    let counts = memory.flatMap {
      category.hasSwiftCounts ? ObjectCounts(at: address, in: $0) : nil
    }
    return HeapReport.Object(
      address: address, size: block.size, name: category.name, counts: counts)
  }

  /// The category of a block; nil for one that does not have such a name.
  private func category(of block: LiveBlock) -> BlockCategory? {
    let category = categories.category(of: block, in: memory).category
    return name.map { Glob.matches(category.name, $0) } ?? true ? category : nil
  }
}
