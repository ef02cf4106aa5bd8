extension Trace {
  /// The access to a block in which the process ended; nil where it was none.
  ///
  /// A large block has a mapping of its own: the memory of one that was freed is gone, and behind the last page of
  /// one there may be none, or none that may be used so.
  /// - Complexity: All events are read once more, where the process ended in an access.
  var crashedAccess: GuardedAccess? {
    guard let crash, let address = crash.accessedAddress, !crash.isStackOverflow, !isTold(crash)
    else { return nil }
    let pageSize = UInt64(header.pageSize)
    guard Self.pageSizes.contains(pageSize), address >= 2 * pageSize else { return nil }
    let page = address - address % pageSize
    let inFront = stride(from: Self.smallestBlock, through: pageSize, by: Int(Self.smallestBlock))
      .map { page - $0 }
    let past = try? pastBlocks(covering: inFront + [address], upTo: crash.time, extent: .unknown)
    guard let past, past.isComplete else { return nil }
    let block = past.block(covering: address)
    if block.isKnown { return isGone(block, address, crash) ? GuardedAccess(crash, block) : nil }
    let neighbour = inFront.lazy.map { past.block(covering: $0) }.first { $0.isKnown }
    guard let neighbour, !neighbour.isFreed, neighbour.address &+ neighbour.size <= page else {
      return nil
    }
    return GuardedAccess(crash, neighbour)
  }

  /// What systems have; a damaged header may say anything.
  private static let pageSizes: Set<UInt64> = [1 << 12, 1 << 14, 1 << 16]
  /// Allocators put blocks so far apart, or further.
  private static let smallestBlock: UInt64 = 8

  /// Whether an error says it: a guard has stopped it, or a freed block was filled with what it followed.
  private func isTold(_ crash: Crash) -> Bool {
    guardedAccesses.contains { $0.thread == crash.thread && $0.address == crash.address }
      || zombieUses.contains {
        if case .followed = $0.evidence { $0.thread == crash.thread } else { false }
      }
  }

  /// Whether nothing is where the block was, and nothing else has been there since, as far as is known.
  private func isGone(_ block: PastBlock, _ address: UInt64, _ crash: Crash) -> Bool {
    guard block.isFreed, crash.code == Crash.notMapped else { return false }
    let end = block.deallocation.time
    return !mappingCalls.contains {
      $0.time > end && ($0.begun.start..<$0.begun.end).contains(address)
    }
      && !images.images.contains {
        $0.loadTime > end && ($0.start..<$0.end).contains(Address(address))
      }
  }
}

extension GuardedAccess {
  /// What could not be accessed.
  fileprivate var address: UInt64 { block.rawValue &+ UInt64(bitPattern: access.offset) }

  /// The access in which a process ended.
  fileprivate init(_ crash: Crash, _ block: PastBlock) {
    self.init(
      block: Address(block.address), size: block.size, isFreed: block.isFreed,
      access: MemoryAccess(
        kind: crash.access, offset: Int64(bitPattern: crash.address &- block.address),
        signal: crash.signal),
      thread: crash.thread, stack: crash.stack, time: crash.time)
  }
}
