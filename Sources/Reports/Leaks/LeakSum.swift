import LeakAnalysis

/// What the blocks of a row add up to.
///
/// A fifth of the row itself in memory: a program may have one for each of a million stacks.
struct LeakSum: Sendable {
  /// What the blocks are; by function, image or thread the name of that.
  let name: String
  /// The block that was added first: it says of what type all are.
  let first: UInt32
  /// The one that was allocated first.
  var oldest: UInt32
  var count: UInt64 = 0
  var bytes: UInt64 = 0
  var rootCount: UInt64 = 0
  /// The trees that the blocks are the heads of; nil where trees are not told apart.
  var tree: BlockSum?
  /// What the trace compared with does not have; nil when there is no such one.
  var new: BlockSum?

  /// A sum that counts nothing yet.
  ///
  /// - Parameters:
  ///   - name: Of the row.
  ///   - block: The block that is about to be added.
  ///   - isComparison: Whether new blocks are counted.
  init(_ name: String, of block: Int, isComparison: Bool) {
    self.name = name
    first = UInt32(truncatingIfNeeded: block)
    oldest = first
    new = isComparison ? BlockSum() : nil
  }

  /// What sums are sorted by: the bytes that go when these do, or that they are.
  var weight: UInt64 { new?.bytes ?? max(tree?.bytes ?? 0, bytes) }

  /// Whether the row of one sum comes before that of another: what drags others along comes before
  /// what is most of that.
  static func precedes(_ left: LeakSum, _ right: LeakSum, in blocks: HeapBlocks) -> Bool {
    let (first, second) = (
      (left.weight, left.tree?.bytes ?? 0), (right.weight, right.tree?.bytes ?? 0)
    )
    guard first == second else { return first > second }
    guard left.count == right.count, left.name == right.name else {
      return (right.count, left.name) < (left.count, right.name)
    }
    return blocks.address(of: Int(left.oldest)) < blocks.address(of: Int(right.oldest))
  }
}
