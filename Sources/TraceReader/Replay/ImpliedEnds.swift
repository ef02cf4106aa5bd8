/// Tells which announced blocks end without a word: what they lie in is gone, or another block is in their place.
///
/// The same rules as in ``HeapReplay``, for those who look at events one by one.
package struct ImpliedEnds {
  private var pools = PoolTracker()
  private let table = OperationTable()

  /// Knows of no block.
  package init() {}

  /// Takes in the next event, before whoever asks does.
  ///
  /// - Parameter event: The event.
  /// - Returns: The keys of the announced blocks that end with it, but for its own.
  package mutating func follow(_ event: Event) -> [UInt64] {
    follow(event.operation.rawValue, event.blockKey, event.size, event.thread.rawValue)
  }

  /// Likewise.
  mutating func follow(
    _ operation: UInt8, _ key: UInt64, _ size: UInt64, _ thread: UInt32
  ) -> [UInt64] {
    let bit = OperationTable.bit(operation)
    if table.gains & bit != 0 {
      let block = BlockIntervals.Block(key: key, size: LiveEntry.possibleSize(size))
      return begin(block, isReallocation: table.allocations & bit == 0, thread)
    }
    if table.losses & bit != 0 {
      return end(key, isReallocation: table.deallocations & bit == 0, thread)
    }
    if operation == Operation.reallocFail.rawValue, let moving = pools.moved(thread) {
      pools.restore(moving)
      settle(moving)
    }
    return []
  }

  private mutating func begin(
    _ block: BlockIntervals.Block, isReallocation: Bool, _ thread: UInt32
  ) -> [UInt64] {
    var ended: [UInt64] = []
    var kept: PoolTracker.Moving?
    if isReallocation, var moving = pools.moved(thread) {
      let inside = moving.contents.filter {
        block.key == moving.key && pools.fits($0, in: block.key, size: block.size)
      }
      for key in moving.contents where !inside.contains(key) { remove(key, &ended) }
      moving.contents = inside
      kept = moving
    }
    if pools.holds(block.key) {
      remove(block.key, &ended)
      ended.removeLast()
    }
    for key in pools.replaced(by: block) where kept?.contents.contains(key) != true {
      remove(key, &ended)
    }
    pools.insert(block, BlockKey.isAnnounced(block.key) ? pools.share(of: block) : nil)
    if let kept { settle(kept) }
    return ended
  }

  private mutating func end(_ key: UInt64, isReallocation: Bool, _ thread: UInt32) -> [UInt64] {
    var ended: [UInt64] = []
    if isReallocation {
      pools.move(key, thread)
    } else {
      for inner in pools.contents(of: key) { remove(inner, &ended) }
      pools.remove(key)
    }
    return ended
  }

  /// Takes a block out, with all that lies in it; it is the last one of those that have ended.
  private mutating func remove(_ key: UInt64, _ ended: inout [UInt64]) {
    for inner in pools.contents(of: key) { remove(inner, &ended) }
    pools.remove(key)
    ended.append(key)
  }

  private mutating func settle(_ moving: PoolTracker.Moving) {
    for key in moving.contents {
      pools.setShare(PoolTracker.Share(pool: moving.key, bytes: 0), of: key)
    }
  }
}
