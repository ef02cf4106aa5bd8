import TraceReader

extension LongList<FoundBlock> {
  /// Some of the blocks of a collection, in its order or the greatest first.
  ///
  /// In its order takes no memory, the greatest first 4 bytes per block, and 2 while they are sorted:
  /// blocks are put together when they are asked for.
  ///
  /// - Parameters:
  ///   - blocks: In order of allocation.
  ///   - isWanted: Which of them.
  ///   - bySize: Whether the greatest come first instead of the oldest.
  ///   - size: The requested bytes of a block.
  ///   - make: Puts a block together.
  /// - Returns: The wanted blocks.
  static func selection<Blocks: RandomAccessCollection & Sendable>(
    of blocks: Blocks, where isWanted: @escaping @Sendable (Blocks.Element) -> Bool, bySize: Bool,
    size: @escaping @Sendable (Blocks.Element) -> UInt64,
    _ make: @escaping @Sendable (Blocks.Element) -> FoundBlock
  ) -> LongList<FoundBlock> where Blocks.Index == Int {
    let count = blocks.reduce(0) { $0 + (isWanted($1) ? 1 : 0) }
    guard bySize else {
      return LongList(count: count) {
        AnyIterator(blocks.lazy.filter(isWanted).map(make).makeIterator())
      }
    }
    var positions: [UInt32] = []
    positions.reserveCapacity(count)
    for position in blocks.indices where isWanted(blocks[position]) {
      positions.append(UInt32(truncatingIfNeeded: position))
    }
    positions.sort {
      (size(blocks[Int($1)]), $0) < (size(blocks[Int($0)]), $1)
    }
    return LongList(count: count) { [positions] in
      AnyIterator(positions.lazy.map { make(blocks[Int($0)]) }.makeIterator())
    }
  }
}

/// Turns blocks into rows of the Allocations List.
struct BlockNames: @unchecked Sendable {
  // Belongs to one thread at a time, as all of this does.
  private let source: ReportSource

  init(_ source: ReportSource) {
    self.source = source
  }

  /// Names blocks one by one.
  func rows(of blocks: LongList<FoundBlock>) -> LongList<BlocksReport.Row> {
    LongList(count: blocks.count) {
      var index = 0
      let blocks = blocks.makeIterator()
      return AnyIterator {
        guard let block = blocks.next() else { return nil }
        defer { index += 1 }
        return row(block, index: index)
      }
    }
  }

  private func row(_ block: FoundBlock, index: Int) -> BlocksReport.Row {
    BlocksReport.Row(
      index: index, address: block.address.rawValue,
      category: source.categories.category(
        stack: block.stack, size: block.size, block.operation
      ).name,
      timeNanoseconds: source.clock.nanoseconds(block.time),
      freedNanoseconds: block.freed.map(source.clock.nanoseconds), size: block.size,
      thread: source.threads.summary(of: block.thread), stack: block.stack.rawValue,
      responsible: source.names.responsible(of: block.stack))
  }
}
