import TraceReader

/// Follows all pointers from the roots.
///
/// Two rounds, each word is looked at once. The first follows pointers to beginnings only, and sets
/// aside where the others lead; the second starts from those that are unreached still, and follows
/// everything.
struct Marker {
  /// A block that is pointed to, but not to its beginning, and by what.
  private struct Doubtful {
    var block: UInt32
    var holder: UInt32
    var category: UInt8
  }

  private let scanner: EdgeScanner
  private(set) var result: Reachability
  private var stack: [UInt32] = []
  private var doubtful: [Doubtful] = []
  /// Blocks that are in `doubtful` already.
  private var isDoubtful: [Bool]
  /// The category of the root that is followed.
  private var category: UInt8 = 0

  init(_ scanner: EdgeScanner) {
    self.scanner = scanner
    let count = scanner.heap.blocks.count
    result = Reachability(count: count)
    isDoubtful = Array(repeating: false, count: count)
  }

  /// Marks everything that can be reached from the roots.
  mutating func mark(from roots: [Root]) {
    let words = RootWords(scanner.heap)
    for root in roots {
      category = root.category.rawValue
      follow(root, words)
      drain(.reached)
    }
    for entry in doubtful where result.state(of: Int(entry.block)) == .unreached {
      category = entry.category
      result.mark(Int(entry.block), .possible, holder: entry.holder, category: category)
      stack.append(entry.block)
      drain(.possible)
    }
  }

  private mutating func follow(_ root: Root, _ rootWords: RootWords) {
    let scanner = scanner  // the visit must not read from what it changes
    rootWords.forEach(of: root) { address, value in
      guard let target = scanner.target(of: value),
        result.state(of: target.block) == .unreached,
        target.edgeClass == .start || !isDoubtful[target.block]
      else { return }
      note(target, holder: result.addSlot(RootSlot(root: root, address: address)))
    }
  }

  @inline(__always)
  private mutating func note(_ target: EdgeScanner.Target, holder: UInt32) {
    guard result.state(of: target.block) == .unreached else { return }
    let block = UInt32(truncatingIfNeeded: target.block)
    if target.edgeClass == .start {
      result.mark(target.block, .reached, holder: holder, category: category)
      stack.append(block)
    } else if !isDoubtful[target.block] {
      isDoubtful[target.block] = true
      doubtful.append(Doubtful(block: block, holder: holder, category: category))
    }
  }

  private mutating func drain(_ state: Reachability.State) {
    let scanner = scanner  // once, instead of counting references for each block
    while let next = stack.popLast() {
      scanner.forEachEdge(of: Int(next)) { _, target in
        if state == .reached {
          note(target, holder: next)
        } else if result.state(of: target.block) == .unreached {
          result.mark(target.block, .possible, holder: next, category: category)
          stack.append(UInt32(truncatingIfNeeded: target.block))
        }
      }
    }
  }
}
