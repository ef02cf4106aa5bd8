import TraceReader

/// Follows all pointers from the roots.
///
/// Two rounds, each word is looked at once. The first follows pointers to beginnings only, and sets
/// aside where the others lead; the second starts from those that are unreached still, and follows
/// everything.
struct Marker: ~Copyable {
  private let scanner: EdgeScanner
  private let roots: [Root]
  private(set) var result: Reachability
  private var stack = GrowingList<UInt32>()
  /// Blocks that are pointed to, but not to their beginnings, in the order in which they were met.
  private var doubtful = GrowingList<UInt32>()
  /// The category of the root that is followed.
  private var category: UInt8 = 0

  /// - Parameters:
  ///   - scanner: Finds what a block points to.
  ///   - roots: In the order in which they are to be followed.
  init(_ scanner: EdgeScanner, roots: [Root]) {
    self.scanner = scanner
    self.roots = roots
    result = Reachability(count: scanner.heap.blocks.count, roots: roots)
  }

  /// Marks everything that can be reached from the roots.
  mutating func mark() {
    let words = RootWords(scanner.heap)
    for root in roots {
      category = root.category.rawValue
      result.beginRoot()
      follow(root, words)
      drain(.reached)
    }
    for position in 0..<doubtful.count {
      let block = doubtful[position]
      guard result.isUnreached(Int(block)) else { continue }
      category = result.category(of: Int(block))
      result.mark(
        Int(block), .possible, holder: result.holderNumber(of: Int(block)), category: category)
      stack.append(block)
      drain(.possible)
    }
  }

  private mutating func follow(_ root: Root, _ rootWords: RootWords) {
    let scanner = scanner  // the visit must not read from what it changes
    if root.isBlock {
      let target = EdgeScanner.Target(block: root.block, edgeClass: .start)
      if isNews(target) { note(target, holder: result.addSlot(root.range.lowerBound)) }
      return
    }
    rootWords.forEach(of: root) { address, value in
      guard let target = scanner.target(of: value, at: address, where: { result.isUnreached($0) }),
        isNews(target),
        scanner.isHolding(root, address, target.block)
      else { return }
      note(target, holder: result.addSlot(address))
    }
  }

  /// Whether a pointer tells more of its block than is known.
  @inline(__always)
  private func isNews(_ target: EdgeScanner.Target) -> Bool {
    result.isUnreached(target.block)
      && (target.edgeClass == .start || !result.isDoubtful(target.block))
  }

  @inline(__always)
  private mutating func note(_ target: EdgeScanner.Target, holder: UInt32) {
    guard isNews(target) else { return }
    let block = UInt32(truncatingIfNeeded: target.block)
    if target.edgeClass == .start {
      result.mark(target.block, .reached, holder: holder, category: category)
      stack.append(block)
    } else {
      result.markDoubtful(target.block, holder: holder, category: category)
      doubtful.append(block)
    }
  }

  private mutating func drain(_ state: Reachability.State) {
    let scanner = scanner  // once, instead of counting references for each block
    while let next = stack.popLast() {
      // Who has a part of a pool has the pool, which cannot go before it.
      if let pool = scanner.heap.blocks.pool(of: Int(next)), result.isUnreached(pool) {
        result.mark(pool, state, holder: next, category: category)
        stack.append(UInt32(truncatingIfNeeded: pool))
      }
      scanner.forEachEdge(of: Int(next), where: { result.isUnreached($0) }) { _, target in
        if state == .reached {
          note(target, holder: next)
        } else if result.isUnreached(target.block) {
          result.mark(target.block, .possible, holder: next, category: category)
          stack.append(UInt32(truncatingIfNeeded: target.block))
        }
      }
    }
  }
}
