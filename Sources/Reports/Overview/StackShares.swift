import TraceReader

/// How many bytes each of the stacks holds that go through one place.
///
/// Sites mostly come in the order of their stacks, and only the places that are shown are asked.
struct StackShares {
  private var shares: [(stack: StackID, bytes: UInt64)] = []

  /// Adds bytes of a stack.
  mutating func add(_ bytes: UInt64, of stack: StackID) {
    if let last = shares.indices.last, shares[last].stack == stack {
      shares[last].bytes &+= bytes
    } else {
      shares.append((stack, bytes))
    }
  }

  /// How many stacks there are, and which of them holds most: of several the one with the least ID.
  func summed() -> (count: Int, heaviest: (stack: StackID, bytes: UInt64)) {
    var heaviest = (stack: StackID.none, bytes: UInt64(0))
    var sum = heaviest
    var count = 0
    for share in shares.sorted(by: { $0.stack < $1.stack }) {
      if count == 0 || share.stack != sum.stack {
        count += 1
        sum = (share.stack, 0)
      }
      sum.bytes &+= share.bytes
      if sum.bytes > heaviest.bytes || count == 1 { heaviest = sum }
    }
    return (count, heaviest)
  }
}
