import TraceReader

/// What points to each block.
public struct Referrers: Sendable {
  /// A pointer to a block.
  public struct Referrer: Sendable, Hashable {
    /// What it is in.
    public var holder: Reachability.Holder
    /// Where in the holding block it is, in bytes; 0 for roots.
    public var offset: UInt64
    /// How it points.
    public var edgeClass: EdgeClass
  }

  private let scanner: EdgeScanner
  /// The blocks that point to block *n* are at `first[n] ..< first[n + 1]` of `sources`.
  private var first: [Int]
  private var sources: [UInt32] = []
  /// Words of roots that point to blocks, by ascending block.
  private var slots: [(block: UInt32, slot: RootSlot, edgeClass: EdgeClass)] = []

  /// Turns all pointers of a heap round.
  ///
  /// - Complexity: O(*words*) time, 8 bytes per block and 4 per pointer.
  public init(_ analysis: LeakAnalysis) {
    scanner = analysis.scanner
    let heap = analysis.heap
    let count = heap.blocks.count
    first = Array(repeating: 0, count: count + 1)
    for block in 0..<count {
      scanner.forEachEdge(of: block) { _, target in first[target.block + 1] += 1 }
    }
    for block in 0..<count { first[block + 1] += first[block] }
    sources = Array(repeating: 0, count: first[count])
    var next = first
    for block in 0..<count {
      scanner.forEachEdge(of: block) { _, target in
        sources[next[target.block]] = UInt32(truncatingIfNeeded: block)
        next[target.block] += 1
      }
    }
    let words = RootWords(heap)
    for root in analysis.roots { addSlots(of: root, words) }
    slots.sort { ($0.block, $0.slot.address) < ($1.block, $1.slot.address) }
  }

  private mutating func addSlots(of root: Root, _ words: RootWords) {
    words.forEach(of: root) { address, value in
      guard let target = scanner.target(of: value, at: address) else { return }
      slots.append(
        (
          UInt32(truncatingIfNeeded: target.block), RootSlot(root: root, address: address),
          target.edgeClass
        ))
    }
  }

  /// All pointers to a block: those of roots first, then by ascending address.
  public func referrers(of block: Int) -> [Referrer] {
    let first = slots.partitioningIndex { $0.block >= block }
    var result = slots[first...].prefix { $0.block == block }.map {
      Referrer(holder: .root($0.slot), offset: 0, edgeClass: $0.edgeClass)
    }
    var previous: UInt32?
    for source in sources[self.first[block]..<self.first[block + 1]] where source != previous {
      previous = source
      scanner.forEachEdge(of: Int(source)) { offset, target in
        guard target.block == block else { return }
        result.append(
          Referrer(holder: .block(Int(source)), offset: offset, edgeClass: target.edgeClass))
      }
    }
    return result
  }
}
