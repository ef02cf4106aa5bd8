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

  /// For each block its state, whether a doubtful pointer leads to it, and the category of the root
  /// that holds it.
  private var marks: [Mark]
  /// What holds each block.
  ///
  /// For each block that something leads to the holding block, or its position in `slots` with
  /// `rootMark` set. For each other one the node above it, see ``nodeAbove(_:)``.
  private var holders: [UInt32]
  private let roots: [Root]
  /// For each root how many slots those before it have.
  private var firstSlots: [Int] = []
  /// The addresses of the words of roots that hold blocks, in the order of the roots.
  private var slots: [UInt64] = []

  private static let rootMark: UInt32 = 1 << 31

  private struct Mark {
    /// The state in bits 0 and 1, doubt in bit 2, the category from bit 3 on.
    private var bits: UInt8 = 0

    init() {}

    init(_ state: State, isDoubtful: Bool, _ category: UInt8) {
      bits = state.rawValue | (isDoubtful ? 4 : 0) | category << 3
    }

    var state: State { State(rawValue: bits & 3) ?? .unreached }
    var isUnreached: Bool { bits & 3 == 0 }
    var isDoubtful: Bool { bits & 4 != 0 }
    var category: UInt8 { bits >> 3 }
  }

  init(count: Int, roots: [Root]) {
    self.roots = roots
    marks = Array(repeating: Mark(), count: count)
    holders = Array(repeating: 0, count: count)
  }

  /// Whether a block can be reached.
  @inline(__always)
  public func state(of block: Int) -> State { marks[block].state }

  /// What holds a block; nil for one that cannot be reached.
  public func holder(of block: Int) -> Holder? {
    guard !marks[block].isUnreached else { return nil }
    let holder = holders[block]
    if holder & Self.rootMark == 0 { return .block(Int(holder)) }
    let slot = Int(holder & ~Self.rootMark)
    // The last one that begins there: those without slots begin where the next one does.
    let root = firstSlots.partitioningIndex { $0 > slot } - 1
    return .root(RootSlot(root: roots[root], address: slots[slot]))
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
    marks[block].isUnreached ? nil : Root.Category(rawValue: marks[block].category)
  }

  /// How many blocks are in a state.
  public func count(of state: State) -> Int {
    marks.reduce(0) { $0 + ($1.state == state ? 1 : 0) }
  }

  /// The category of what holds a block, reached or only doubtful.
  func category(of block: Int) -> UInt8 { marks[block].category }

  /// What holds a block, for ``mark(_:_:holder:category:)``.
  func holderNumber(of block: Int) -> UInt32 { holders[block] }

  @inline(__always)
  func isUnreached(_ block: Int) -> Bool { marks[block].isUnreached }

  /// Whether something leads to a block that is not reached, but not to its beginning.
  @inline(__always)
  func isDoubtful(_ block: Int) -> Bool { marks[block].isDoubtful }

  @inline(__always)
  mutating func mark(_ block: Int, _ state: State, holder: UInt32, category: UInt8) {
    marks[block] = Mark(state, isDoubtful: false, category)
    holders[block] = holder
  }

  /// Notes the first pointer to a block that is not one to its beginning.
  @inline(__always)
  mutating func markDoubtful(_ block: Int, holder: UInt32, category: UInt8) {
    marks[block] = Mark(.unreached, isDoubtful: true, category)
    holders[block] = holder
  }

  /// The node of ``LeakForest`` that holds an unreached block; nil where none is above it.
  func nodeAbove(_ block: Int) -> Int? {
    holders[block] == Self.rootMark ? nil : Int(holders[block])
  }

  /// Notes the node above an unreached block.
  mutating func setNodeAbove(_ block: Int, _ node: UInt32?) {
    holders[block] = node ?? Self.rootMark
  }

  /// Begins with the slots of the next root.
  mutating func beginRoot() { firstSlots.append(slots.count) }

  /// Adds a word of the root.
  ///
  /// - Returns: What it is called as a holder.
  mutating func addSlot(_ address: UInt64) -> UInt32 {
    slots.append(address)
    return UInt32(truncatingIfNeeded: slots.count - 1) | Self.rootMark
  }
}
