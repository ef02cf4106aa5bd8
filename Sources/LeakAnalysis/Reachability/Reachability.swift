import TraceReader

/// Whether each block can be reached, and what holds it.
public struct Reachability: Sendable {
  /// Whether a block can be reached.
  public enum State: UInt8, Sendable {
    /// Nothing outside of unreached blocks points to it: a leak.
    case unreached
    /// By a chain of pointers to the beginnings of blocks.
    case reached
    /// Only by a chain with a pointer into the middle of a block, or one with tags.
    case possible
  }

  /// What holds a block: the first that was found on the way from the roots.
  public enum Holder: Sendable, Hashable {
    /// A word of a root.
    case root(RootSlot)
    /// A word of another block.
    case block(Int)
  }

  private var states: [State]
  /// For each reached block the holding block, or its position in `slots` with `rootMark` set.
  private var holders: [UInt32]
  private var slots: [RootSlot] = []
  /// For each reached block the category of the root that holds it.
  private var categories: [UInt8]

  private static let rootMark: UInt32 = 1 << 31

  init(count: Int) {
    states = Array(repeating: .unreached, count: count)
    holders = Array(repeating: 0, count: count)
    categories = Array(repeating: 0, count: count)
  }

  /// Whether a block can be reached.
  @inline(__always)
  public func state(of block: Int) -> State { states[block] }

  /// What holds a block; nil for one that cannot be reached.
  public func holder(of block: Int) -> Holder? {
    guard states[block] != .unreached else { return nil }
    let holder = holders[block]
    if holder & Self.rootMark == 0 { return .block(Int(holder)) }
    return .root(slots[Int(holder & ~Self.rootMark)])
  }

  /// The blocks from one that is held by a root to the given one, and the root; nil for a block that
  /// cannot be reached.
  ///
  /// - Complexity: O(length of the chain).
  public func path(to block: Int) -> (slot: RootSlot, blocks: [Int])? {
    var path: [Int] = []
    var current = block
    while let holder = holder(of: current) {
      path.append(current)
      switch holder {
      case .root(let slot): return (slot, path.reversed())
      case .block(let next): current = next
      }
    }
    return nil
  }

  /// The category of the root that holds a block, directly or not; nil for a block that cannot be
  /// reached.
  public func rootCategory(of block: Int) -> Root.Category? {
    states[block] == .unreached ? nil : Root.Category(rawValue: categories[block])
  }

  /// How many blocks are in a state.
  public func count(of state: State) -> Int {
    states.reduce(0) { $0 + ($1 == state ? 1 : 0) }
  }

  @inline(__always)
  mutating func mark(_ block: Int, _ state: State, holder: UInt32, category: UInt8) {
    states[block] = state
    holders[block] = holder
    categories[block] = category
  }

  mutating func addSlot(_ slot: RootSlot) -> UInt32 {
    slots.append(slot)
    return UInt32(truncatingIfNeeded: slots.count - 1) | Self.rootMark
  }
}
