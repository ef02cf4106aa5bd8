/// What the encoder and the decoder of columns remember of the events before, the same on both
/// sides.
///
/// Reset at the start of each chunk, so that chunks do not depend on each other. The rules are part
/// of the format (docs/trace-format.md, section 9.4): a change makes another encoding.
///
/// The owner frees it with ``deallocate()``.
struct ColumnModel {
  /// No block: the end of a list.
  static let none = UInt32.max

  // Stacks and sizes.
  private let afterTwo: UnsafeMutablePointer<UInt32>
  private let afterOne: UnsafeMutablePointer<UInt32>
  private let sizes: UnsafeMutablePointer<UInt64>
  private let shift: UInt32
  /// The stack before, and the one before that.
  private(set) var stack: UInt32 = 0
  private var stackBefore: UInt32 = 0

  // Blocks, in the order in which they began in the chunk.
  private let addresses: UnsafeMutablePointer<UInt64>
  private let lanes: UnsafeMutablePointer<UInt16>
  /// For a block in the list of a lane, the next one.
  private let next: UnsafeMutablePointer<UInt32>
  private let heads: UnsafeMutablePointer<UInt32>
  private let capacity: Int
  private(set) var count = 0
  /// Where the next block is expected: behind the one before.
  private(set) var expectedAddress: UInt64 = 0
  /// The block that ended last.
  private(set) var endedLast = 0
  /// The last address that was given as such for a block that ends.
  var farAddress: UInt64 = 0

  private static let smallestTable: UInt32 = 8
  private static let largestTable: UInt32 = 15
  private static let laneCount = 1024

  /// - Parameter events: The number of events in the chunk.
  init(events: Int) {
    let bits = min(max(Self.bits(events), Self.smallestTable), Self.largestTable)
    let entries = 1 << Int(bits)
    shift = 32 - bits
    afterTwo = Self.table(entries, 0)
    afterOne = Self.table(entries, 0)
    sizes = Self.table(entries, 0)
    heads = Self.table(Self.laneCount, Self.none)
    capacity = max(events, 1)
    addresses = .allocate(capacity: capacity)
    lanes = .allocate(capacity: capacity)
    next = .allocate(capacity: capacity)
  }

  func deallocate() {
    afterTwo.deallocate()
    afterOne.deallocate()
    sizes.deallocate()
    heads.deallocate()
    addresses.deallocate()
    lanes.deallocate()
    next.deallocate()
  }

  private static func bits(_ count: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: Int.bitWidth - max(count - 1, 0).leadingZeroBitCount)
  }

  private static func table<Value: FixedWidthInteger>(
    _ count: Int, _ value: Value
  ) -> UnsafeMutablePointer<Value> {
    let table = UnsafeMutablePointer<Value>.allocate(capacity: count)
    table.initialize(repeating: value, count: count)
    return table
  }

  // MARK: Stacks and sizes

  @inline(__always)
  private func slot(_ stack: UInt32) -> Int {
    Int((stack &* 0x9E37_79B1) >> shift)
  }

  @inline(__always)
  private func pairSlot() -> Int {
    let mixed = (stack &* 0x9E37_79B1) ^ (stackBefore &* 0x85EB_CA6B)
    return Int((mixed &* 0xC2B2_AE35) >> shift)
  }

  /// What followed last time on the two stacks before.
  @inline(__always)
  var stackAfterTwo: UInt32 { afterTwo[pairSlot()] }

  /// What followed last time on the stack before.
  @inline(__always)
  var stackAfterOne: UInt32 { afterOne[slot(stack)] }

  /// Notes the stack of an event.
  @inline(__always)
  mutating func follow(_ new: UInt32) {
    afterTwo[pairSlot()] = new
    afterOne[slot(stack)] = new
    (stackBefore, stack) = (stack, new)
  }

  /// The size last met with the stack of the event.
  @inline(__always)
  var expectedSize: UInt64 { sizes[slot(stack)] }

  @inline(__always)
  func note(size: UInt64) {
    sizes[slot(stack)] = size
  }

  // MARK: Blocks

  /// glibc's size of the block with its header, in units of 16 bytes.
  @inline(__always)
  private static func units(_ size: UInt64) -> UInt64 {
    max((size &+ 23) >> 4, 2)
  }

  @inline(__always)
  private static func lane(_ size: UInt64) -> Int {
    Int(truncatingIfNeeded: min(units(size), UInt64(laneCount - 1)))
  }

  /// Notes a new block; beyond the capacity, which only damaged chunks ask for, it is forgotten.
  @inline(__always)
  mutating func begin(_ address: UInt64, size: UInt64) {
    expectedAddress = address &+ Self.units(size) << 4
    guard count < capacity else { return }
    addresses[count] = address
    lanes[count] = UInt16(truncatingIfNeeded: Self.lane(size))
    count &+= 1
  }

  /// The address of a block; nil when there is none of this order.
  @inline(__always)
  func address(_ order: Int) -> UInt64? {
    order >= 0 && order < count ? addresses[order] : nil
  }

  /// Notes that a block of the chunk has ended.
  @inline(__always)
  mutating func end(_ order: Int) {
    let lane = Int(lanes[order])
    next[order] = heads[lane]
    heads[lane] = UInt32(truncatingIfNeeded: order)
    endedLast = order
  }

  /// Takes a block out of the list of a lane.
  ///
  /// - Parameters:
  ///   - size: Of the new block, which says the lane.
  ///   - rank: 0 for the one that ended last.
  /// - Returns: Its address; nil when the list is shorter.
  @inline(__always)
  func takeFreed(size: UInt64, rank: Int) -> UInt64? {
    let lane = Self.lane(size)
    var (before, order) = (Self.none, heads[lane])
    for _ in 0..<rank {
      guard order != Self.none else { return nil }
      (before, order) = (order, next[Int(order)])
    }
    guard order != Self.none else { return nil }
    let rest = next[Int(order)]
    if before == Self.none { heads[lane] = rest } else { next[Int(before)] = rest }
    return addresses[Int(order)]
  }

  /// The rank of an address in the list of a lane; nil when it is not among the first.
  func rank(of address: UInt64, size: UInt64) -> Int? {
    var order = heads[Self.lane(size)]
    for rank in 0..<PlaceCode.ranks {
      guard order != Self.none else { return nil }
      if addresses[Int(order)] == address { return rank }
      order = next[Int(order)]
    }
    return nil
  }
}
