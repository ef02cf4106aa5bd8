/// The functions of a set of blocks, for tests that hold for several of them.
struct BlockSetCalls: Sendable {
  typealias Call = @Sendable (UnsafeRawPointer?) -> Bool

  let insert: Call
  let holds: Call
  let remove: Call

  /// Four threads at the same time insert their blocks, ask for them and remove them, again and
  /// again.
  ///
  /// - Parameters:
  ///   - rounds: How often.
  ///   - count: How many blocks a thread has in a round.
  ///   - address: The address of a block, from the thread, the round and the block's index; no two
  ///     threads have the same.
  /// - Returns: How many calls did not succeed.
  func misses(
    rounds: UInt, blocks count: UInt,
    address: @escaping @Sendable (_ thread: UInt, _ round: UInt, _ index: UInt) -> UInt
  ) async -> Int {
    await withTaskGroup(of: Int.self) { group in
      for thread: UInt in 0..<4 {
        group.addTask {
          var misses = 0
          for round in 0..<rounds {
            let blocks = (0..<count).map {
              UnsafeRawPointer(bitPattern: address(thread, round, $0))
            }
            for call in [insert, holds, remove] {
              for block in blocks where !call(block) { misses += 1 }
            }
          }
          return misses
        }
      }
      return await group.reduce(0, +)
    }
  }
}
