/// Holders as lines of a tree, where lists are not written out: of elements that each hold the one above in the
/// same way, the first two and the last have lines.
struct HolderRows {
  /// A line of the tree.
  enum Line {
    /// A holder, and how far to the right it is.
    case holder(TraceTreeReport.Holder, depth: Int)
    /// So many elements of a list that are left out.
    case row(Int, depth: Int)
  }

  /// The tree, what is held before its holders.
  private(set) var lines: [Line] = []
  private let holders: [TraceTreeReport.Holder]
  /// Whether a holder has exactly one holder, which is the next one.
  private let hasOneHolder: [Bool]

  /// Fewer elements are not worth a line that stands for them.
  private static let least = 4

  /// - Parameter holders: What holds a block and its holders, in the order of printing.
  init(_ holders: [TraceTreeReport.Holder]) {
    self.holders = holders
    hasOneHolder = Self.only(holders)
    addAll()
  }

  private mutating func addAll() {
    // What is left out moves all that comes below it to the left.
    var moved: [(depth: Int, by: Int)] = []
    var index = 0
    while index < holders.count {
      let holder = holders[index]
      while let last = moved.last, holder.depth <= last.depth { moved.removeLast() }
      let depth = holder.depth - moved.reduce(0) { $0 + $1.by }
      lines.append(.holder(holder, depth: depth))
      index += 1
      guard index >= 2, isStep(index - 2) else { continue }
      let hidden = rowLength(from: index)
      guard hidden >= Self.least else { continue }
      lines.append(.row(hidden, depth: depth + 1))
      moved.append((holder.depth, hidden - 1))
      index += hidden
    }
  }

  /// How many holders from one on can be left out; the one after them is the last of the list.
  private func rowLength(from index: Int) -> Int {
    var end = index - 1
    while isStep(end) { end += 1 }
    return end - index
  }

  /// Whether a holder and the next one are elements of a list.
  private func isStep(_ index: Int) -> Bool {
    guard index + 1 < holders.count, hasOneHolder[index] else { return false }
    let (one, next) = (holders[index], holders[index + 1])
    return one.root == nil && next.root == nil && one.name == next.name && one.size == next.size
      && one.offset == next.offset && one.edge == next.edge
  }

  private static func only(_ holders: [TraceTreeReport.Holder]) -> [Bool] {
    var counts = Array(repeating: 0, count: holders.count)
    var path: [Int] = []
    for (index, holder) in holders.enumerated() {
      while path.count >= holder.depth { path.removeLast() }
      if let above = path.last { counts[above] += 1 }
      path.append(index)
    }
    return counts.map { $0 == 1 }
  }
}
