/// Live blocks by where they lie: finds those that hold an address, or lie in a range.
///
/// ```
/// levels   of size 2^n: [granule of that size: blocks that begin in it]
/// ```
/// A block is in the level of the least granule that is no smaller than it, so that it touches two at most
/// and each level is asked for two to find what holds an address.
struct BlockIntervals {
  /// A block, by its key.
  struct Block {
    var key: UInt64
    var size: UInt64
  }

  /// The blocks that begin in a granule: hardly ever more than two.
  fileprivate struct Granule {
    var first: Block
    var others: [Block] = []
  }

  private var levels = [AddressTable<Granule>](repeating: AddressTable(), count: 64)
  /// Bit *n* is set when there are blocks in level *n*.
  private var used: UInt64 = 0

  /// Blocks of less than 16 bytes are among those of 16.
  private static let leastLevel = 4

  private static func level(of size: UInt64) -> Int {
    max(leastLevel, UInt64.bitWidth - (max(size, 1) - 1).leadingZeroBitCount)
  }

  /// Adds a block whose key is not there.
  mutating func insert(_ block: Block) {
    let level = min(Self.level(of: block.size), levels.count - 1)
    let granule = block.key >> UInt64(level)
    used |= 1 << UInt64(level)
    levels[level].update(granule) { found in
      if found?.others.append(block) == nil { found = Granule(first: block) }
    }
  }

  /// Takes a block out that is there.
  mutating func remove(_ block: Block) {
    let level = min(Self.level(of: block.size), levels.count - 1)
    let granule = block.key >> UInt64(level)
    levels[level].update(granule) { found in
      if found?.first.key != block.key {
        found?.others.removeAll { $0.key == block.key }
      } else if found?.others.isEmpty == true {
        found = nil
      } else if let next = found?.others.removeFirst() {
        found?.first = next
      }
    }
    if levels[level].isEmpty { used &= ~(1 << UInt64(level)) }
  }

  /// Visits the blocks that may touch a range, and some others.
  ///
  /// - Parameters:
  ///   - first: The first byte of the range.
  ///   - last: Its last byte.
  ///   - body: Called with each block.
  private func forEachCandidate(_ first: UInt64, _ last: UInt64, _ body: (Block) -> Void) {
    var rest = used
    while rest != 0 {
      let level = rest.trailingZeroBitCount
      rest &= rest - 1
      let start = first >> UInt64(level)
      let (low, high) = (start - min(start, 1), last >> UInt64(level))
      if high - low < UInt64(levels[level].capacity) {
        for granule in low...high { levels[level][granule].map { $0.visit(body) } }
      } else {
        levels[level].forEach { $0.visit(body) }
      }
    }
  }

  /// The smallest block that holds a range as a whole.
  func smallest(around range: Block) -> Block? {
    let last = range.key &+ (max(range.size, 1) - 1)
    guard last >= range.key else { return nil }
    var found: Block?
    forEachCandidate(range.key, range.key) { block in
      if block.holds(range.key, last), found.map({ block.size < $0.size }) ?? true {
        found = block
      }
    }
    return found
  }

  /// The blocks that share bytes with a range, but for those that hold it as a whole and more.
  func overlapping(_ range: Block) -> [Block] {
    let last = range.key &+ (max(range.size, 1) - 1)
    guard last >= range.key else { return [] }
    var found: [Block] = []
    forEachCandidate(range.key, last) { block in
      let end = block.key &+ (max(block.size, 1) - 1)
      let isAround = block.holds(range.key, last) && block.size > range.size
      if block.key <= last, end >= range.key, !isAround { found.append(block) }
    }
    return found
  }
}

extension BlockIntervals.Granule {
  fileprivate func visit(_ body: (BlockIntervals.Block) -> Void) {
    body(first)
    others.forEach(body)
  }
}

extension BlockIntervals.Block {
  fileprivate func holds(_ first: UInt64, _ last: UInt64) -> Bool {
    first >= key && first - key < max(size, 1) && last - key < max(size, 1)
  }
}
