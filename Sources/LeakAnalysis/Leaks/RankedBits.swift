/// A set of numbers, each with its position among them: an eighth of a byte per number that may be in
/// it, so that it stays in the processor's cache where a table would not.
struct RankedBits {
  private struct Group {
    var bits: UInt64 = 0
    /// How many numbers are in the groups before.
    var before: Int = 0
  }

  private var groups: [Group]

  /// - Parameters:
  ///   - count: One more than the greatest number that will be asked for.
  ///   - numbers: Those in the set, ascending, below `count`.
  init(count: Int, set numbers: [UInt32]) {
    groups = Array(repeating: Group(), count: (count + 63) / 64)
    for number in numbers { groups[Int(number >> 6)].bits |= 1 << UInt64(number & 63) }
    var before = 0
    for index in groups.indices {
      groups[index].before = before
      before += groups[index].bits.nonzeroBitCount
    }
  }

  /// The position of a number among those in the set; -1 when it is not there.
  @inline(__always)
  func rank(of number: Int) -> Int {
    let group = groups[number >> 6]
    let bit = UInt64(1) << UInt64(number & 63)
    guard group.bits & bit != 0 else { return -1 }
    return group.before &+ (group.bits & (bit &- 1)).nonzeroBitCount
  }
}
