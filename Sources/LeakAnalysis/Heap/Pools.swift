import TraceReader

/// Where the blocks lie that allocators of the program have announced.
///
/// Most lie in a block of `malloc` that is parted by such an allocator, its *pool*; others in mappings, variables
/// or stacks. They are blocks of their own: their words belong to them and to nothing that they lie in.
struct Pools: Sendable {
  /// For each announced block what it lies in, of several the innermost; -1 for no block.
  private let parents: [Int32]
  /// How many blocks come before them.
  private let first: Int
  /// The blocks that announced ones lie in.
  let isPool: Bits

  /// - Complexity: O(*a* · log *n*) for *a* announced blocks.
  init(_ blocks: LiveBlocksByAddress) {
    first = blocks.recordedCount
    var isPool = Bits(count: blocks.count)
    var parents: [Int32] = []
    parents.reserveCapacity(blocks.count - first)
    var around: [Int] = []
    for block in first..<blocks.count {
      let address = blocks.address(of: block)
      while let last = around.last, Self.end(of: last, blocks) <= address { around.removeLast() }
      let parent = around.last ?? Self.recorded(containing: address, blocks)
      if let parent { isPool[parent] = true }
      parents.append(parent.map { Int32(truncatingIfNeeded: $0) } ?? -1)
      around.append(block)
    }
    self.parents = parents
    self.isPool = isPool
  }

  /// One past the last byte of an announced block.
  static func end(of block: Int, _ blocks: LiveBlocksByAddress) -> UInt64 {
    let (end, overflows) = blocks.address(of: block).addingReportingOverflow(blocks.size(of: block))
    return overflows ? .max : end
  }

  /// The block of `malloc` that an address lies in, by its requested bytes.
  private static func recorded(
    containing address: UInt64, _ blocks: LiveBlocksByAddress
  ) -> Int? {
    let next = (0..<blocks.recordedCount).partitioningIndex { blocks.address(of: $0) > address }
    guard next > 0, address < end(of: next - 1, blocks) else { return nil }
    return next - 1
  }

  @inline(__always)
  func pool(of block: Int) -> Int? {
    guard block >= first, parents[block - first] >= 0 else { return nil }
    return Int(parents[block - first])
  }

  /// The announced block around an announced one.
  private func announcedAround(_ block: Int) -> Int? {
    pool(of: block).flatMap { $0 >= first ? $0 : nil }
  }

  /// The first announced block that begins at an address or behind it.
  func firstAnnounced(from address: UInt64, _ blocks: LiveBlocksByAddress) -> Int {
    (first..<blocks.count).partitioningIndex { blocks.address(of: $0) >= address }
  }

  /// The innermost announced block that an address lies in.
  func announced(containing address: UInt64, _ blocks: LiveBlocksByAddress) -> Int? {
    let next = (first..<blocks.count).partitioningIndex { blocks.address(of: $0) > address }
    return next > first ? innermost(next - 1, at: address, blocks) : nil
  }

  /// Of an announced block that begins no later than an address and those around it the first that holds it.
  ///
  /// At its beginning a block of no bytes does, too.
  func innermost(_ block: Int, at address: UInt64, _ blocks: LiveBlocksByAddress) -> Int? {
    var block = block
    while blocks.address(of: block) != address, Self.end(of: block, blocks) <= address {
      guard let around = announcedAround(block) else { return nil }
      block = around
    }
    return block
  }

  func contents(
    of pool: Int, _ range: Range<UInt64>, _ blocks: LiveBlocksByAddress
  ) -> [Int] {
    var found: [Int] = []
    var block = firstAnnounced(from: range.lowerBound, blocks)
    while block < blocks.count, blocks.address(of: block) < range.upperBound {
      if self.pool(of: block) == pool { found.append(block) }
      block += 1
    }
    return found
  }

  func forEachPart(
    of range: Range<UInt64>, in owner: Int?, _ blocks: LiveBlocksByAddress,
    _ body: (Range<UInt64>) -> Void
  ) {
    var start = range.lowerBound
    var block = firstAnnounced(from: start, blocks)
    if let owner, owner >= first {
      block = owner + 1
    } else if block > first {
      // One that begins before the range may reach into it, or be around one that does.
      var before: Int? = block - 1
      while let other = before {
        start = max(start, min(Self.end(of: other, blocks), range.upperBound))
        before = announcedAround(other)
      }
    }
    while block < blocks.count, blocks.address(of: block) < range.upperBound {
      let address = blocks.address(of: block)
      if address > start { body(start..<address) }
      start = max(start, min(Self.end(of: block, blocks), range.upperBound))
      block += 1
    }
    if start < range.upperBound { body(start..<range.upperBound) }
  }
}
