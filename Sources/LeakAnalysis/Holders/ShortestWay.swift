import TraceReader

/// The shortest way from the roots to a block.
///
/// Found from the roots down, as each block is looked at once then: from the block up, the words of a large array would be
/// looked at again for each of its elements.
public struct ShortestWay: Sendable {
  /// What holds the block, what holds that, and so on up to the word of a root; empty where nothing leads there.
  public private(set) var holders: [Referrers.Referrer] = []

  private let scanner: EdgeScanner
  /// Whether pointers that are not to the beginnings of blocks are followed as well.
  private let isDoubtful: Bool
  /// For each block what it was found from: a block, or a position in `slots` with `rootMark` set; `unseen` before.
  private var parents: [UInt32]
  private var slots: [(slot: RootSlot, edgeClass: EdgeClass)] = []
  /// The blocks in the order in which they were found.
  private var queue: [UInt32] = []

  private static let rootMark: UInt32 = 1 << 31
  private static let unseen = UInt32.max

  /// Looks for a way to a block: by pointers to the beginnings of blocks alone where there is one.
  ///
  /// - Complexity: O(*words*) time, 8 bytes per block.
  public init(to block: Int, in analysis: LeakAnalysis) {
    scanner = analysis.scanner
    let state = analysis.reachability.state(of: block)
    isDoubtful = state == .possible
    guard state != .unreached else {
      parents = []
      return
    }
    parents = Array(repeating: Self.unseen, count: analysis.heap.blocks.count)
    beginAtRoots(analysis)
    var position = 0
    while position < queue.count, parents[block] == Self.unseen {
      follow(Int(queue[position]))
      position += 1
    }
    holders = way(to: block)
    (parents, slots, queue) = ([], [], [])
  }

  private mutating func beginAtRoots(_ analysis: LeakAnalysis) {
    let words = RootWords(analysis.heap)
    for root in analysis.roots {
      if root.isBlock {
        begin(root, root.range.lowerBound, EdgeScanner.Target(block: root.block, edgeClass: .start))
        continue
      }
      words.forEach(of: root) { address, value in
        guard let target = scanner.target(of: value, at: address),
          scanner.isHolding(root, address, target.block)
        else { return }
        begin(root, address, target)
      }
    }
  }

  private mutating func begin(_ root: Root, _ address: UInt64, _ target: EdgeScanner.Target) {
    guard isNew(target) else { return }
    parents[target.block] = UInt32(truncatingIfNeeded: slots.count) | Self.rootMark
    slots.append((RootSlot(root: root, address: address), target.edgeClass))
    queue.append(UInt32(truncatingIfNeeded: target.block))
  }

  private mutating func follow(_ block: Int) {
    scanner.forEachEdge(of: block) { _, target in
      guard isNew(target) else { return }
      parents[target.block] = UInt32(truncatingIfNeeded: block)
      queue.append(UInt32(truncatingIfNeeded: target.block))
    }
  }

  private func isNew(_ target: EdgeScanner.Target) -> Bool {
    parents[target.block] == Self.unseen && (isDoubtful || target.edgeClass == .start)
  }

  /// From a block up to the root.
  private func way(to block: Int) -> [Referrers.Referrer] {
    var way: [Referrers.Referrer] = []
    var current = block
    while parents[current] != Self.unseen {
      let parent = parents[current]
      if parent & Self.rootMark != 0 {
        let (slot, edgeClass) = slots[Int(parent & ~Self.rootMark)]
        return way + [.init(holder: .root(slot), offset: 0, edgeClass: edgeClass)]
      }
      way.append(edge(from: Int(parent), to: current))
      current = Int(parent)
    }
    return []
  }

  /// The first pointer of a block to another that is followed.
  private func edge(from holder: Int, to block: Int) -> Referrers.Referrer {
    var edge: Referrers.Referrer?
    scanner.forEachEdge(of: holder) { offset, target in
      guard edge == nil, target.block == block, isDoubtful || target.edgeClass == .start else {
        return
      }
      edge = .init(holder: .block(holder), offset: offset, edgeClass: target.edgeClass)
    }
    return edge ?? .init(holder: .block(holder), offset: 0, edgeClass: .start)
  }
}
