import TraceReader

/// Blocks that a program hands out in cells, as the chunks of a memory pool: who has a cell has the block.
///
/// ```
/// +0 cell   +n cell   +2n cell   …   each has an owner of its own, and nobody needs the address of the first
/// ```
/// Many pools have no list of their chunks, as they never give one back: those of gawk, mawk and Tcl, for example.
/// Nothing in a block tells. But a pointer that was left somewhere, or a number that looks like one, leads to a place
/// or two of a block, while owners of cells lead to many. A block is in use where reached memory leads to at
/// least sixteen of its places. Where it leads to so many of all blocks from one call, most of which are divided, by what
/// their cells lead to as well, each one from there is in use that something leads to.
struct CellBlocks: Sendable {
  private var blocks: Set<Int> = []

  /// Fewer places in a block, or in all from one call, prove nothing.
  fileprivate static let leastCount = 16
  /// Smaller blocks have no room for so many.
  fileprivate static let leastSize = UInt64(leastCount) * 8
  /// Of most blocks from the call of a pool at least so many places have owners.
  fileprivate static let leastOfMost = 4

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - scanner: Finds the pointers.
  ///   - reachability: What was reached while none, or fewer, were known.
  ///   - roots: Where more pointers are.
  ///   - facts: Knows the calls of allocator functions.
  /// - Complexity: O(*words*) where there are possible leaks that may be such blocks, else O(*blocks*).
  init(
    _ scanner: EdgeScanner, _ reachability: Reachability, _ roots: [Root], _ facts: StackFacts
  ) {
    var places = OwnedPlaces(scanner.heap.blocks, reachability, facts)
    guard !places.isEmpty else { return }
    for block in 0..<scanner.heap.blocks.count
    where !reachability.isUnreached(block) && !scanner.hasAsyncFrames(block) {
      let start = scanner.heap.blocks.address(of: block)
      let isReached = reachability.state(of: block) == .reached
      scanner.forEachEdge(of: block, where: { $0 != block && places.mayCount($0) }) {
        places.note(scanner.heap.memory.word(at: start &+ $0), to: $1, isReached: isReached)
      }
    }
    let words = RootWords(scanner.heap)
    for root in roots where !root.mayHaveLeftovers {
      words.forEach(of: root) { address, value in
        let target = scanner.target(of: value, at: address, where: { places.mayCount($0) })
        if let target { places.note(value, to: target, isReached: true) }
      }
    }
    blocks = places.cellBlocks(reachability)
  }

  /// Adds others.
  ///
  /// - Returns: Whether there was one among them that was not known.
  mutating func add(_ others: CellBlocks) -> Bool {
    let count = blocks.count
    blocks.formUnion(others.blocks)
    return blocks.count > count
  }

  /// Whether who has a place in a block has the block.
  func contains(_ block: Int) -> Bool { blocks.contains(block) }
}

/// The places in blocks that something leads to.
private struct OwnedPlaces {
  private let blocks: HeapBlocks
  /// For each site its groups: those of the same call, of the same call from the same caller, and so on.
  private var groups: [[Int]]
  private var groupCount = 0
  /// For each block that something leads into the places.
  private var places: [Int: Places] = [:]

  /// Sets of places, by hashes of their offsets.
  private struct Places {
    /// Those that reached memory leads to.
    var reached: UInt64 = 0
    /// Those and what only memory leads to which is doubtful itself.
    var all: UInt64 = 0
  }

  var isEmpty: Bool { groupCount == 0 }

  init(_ blocks: HeapBlocks, _ reachability: Reachability, _ facts: StackFacts) {
    self.blocks = blocks
    groups = Array(repeating: [], count: blocks.sites.count)
    var doubtful = Set<Int>()
    for block in 0..<blocks.count
    where reachability.state(of: block) == .possible
      && blocks.size(of: block) >= CellBlocks.leastSize
    {
      doubtful.insert(blocks.siteIndex(of: block))
    }
    guard !doubtful.isEmpty else { return }
    var numbers: [[UInt64]: Int] = [:]
    for site in doubtful.sorted() {
      for key in Self.keys(blocks.sites[site], facts) where numbers[key] == nil {
        numbers[key] = numbers.count
      }
    }
    groupCount = numbers.count
    for (index, site) in blocks.sites.enumerated() {
      groups[index] = Self.keys(site, facts).compactMap { numbers[$0] }
    }
  }

  /// The innermost call of a stack, the two innermost ones, and so on.
  private static func keys(_ site: Site, _ facts: StackFacts) -> [[UInt64]] {
    let calls = facts.calls(site.stack)
    return calls.indices.map { Array(calls[...$0]) }
  }

  /// Whether something may come of noting a pointer into a block.
  func mayCount(_ block: Int) -> Bool { !groups[blocks.siteIndex(of: block)].isEmpty }

  /// Notes a pointer.
  mutating func note(_ value: UInt64, to target: EdgeScanner.Target, isReached: Bool) {
    guard target.edgeClass == .interior else { return }
    let place = (value &- blocks.address(of: target.block)) >> 3
    let bit: UInt64 = 1 << (place & 63)
    places[target.block, default: Places()].all |= bit
    if isReached { places[target.block]?.reached |= bit }
  }

  /// The blocks that are in use by their cells.
  func cellBlocks(_ reachability: Reachability) -> Set<Int> {
    let pools = poolGroups()
    var found: Set<Int> = []
    for block in 0..<blocks.count where reachability.state(of: block) == .possible {
      let count = places[block]?.reached.nonzeroBitCount ?? 0
      let isOfPool = groups[blocks.siteIndex(of: block)].contains { pools[$0] }
      if count >= CellBlocks.leastCount || isOfPool { found.insert(block) }
    }
    return found
  }

  /// For each group whether most of its blocks are handed out in cells, and some of these in use.
  private func poolGroups() -> [Bool] {
    var all = Array(repeating: 0, count: groupCount)
    var (divided, owned) = (all, all)
    for block in 0..<blocks.count {
      let places = places[block] ?? Places()
      for group in groups[blocks.siteIndex(of: block)] {
        all[group] += 1
        owned[group] += places.reached.nonzeroBitCount
        if places.all.nonzeroBitCount >= CellBlocks.leastOfMost { divided[group] += 1 }
      }
    }
    return all.indices.map {
      divided[$0] * 2 >= all[$0] && owned[$0] >= CellBlocks.leastCount
    }
  }
}
