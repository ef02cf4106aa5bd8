/// Replays traces with announced blocks: those end with what they lie in, and count instead of it.
///
/// Slower than without, since it has to be known what lies where.
extension HeapReplay {
  /// Replays the first events of a run; false when the last allowed time has come.
  @inline(never)
  mutating func replayPools(_ run: EventRun, _ count: Int) -> Bool {
    let origin = Origin(
      run: run, thread: threads + Int(run.slot), isExcluded: limits.excludes(run.thread))
    for position in 0..<count {
      let event = run.events + position
      let time = event.pointee.time
      guard time <= limits.lastTime else { return false }
      timeline.advance(to: time, tracker.liveBytes, tracker.liveCount)
      eventCount &+= 1
      let bit = OperationTable.bit(event.pointee.operation)
      if table.gains & bit != 0 {
        beginBlock(event, origin)
      } else if table.losses & bit != 0 {
        endBlock(event, origin)
      } else {
        let isFailure = event.pointee.operation == Operation.reallocFail.rawValue
        let pool = isFailure ? lendContents(to: Int(run.slot)) : nil
        control(event, run)
        settle(pool)
      }
      lastTime = time
    }
    return true
  }

  // MARK: Beginnings

  private mutating func beginBlock(_ event: UnsafePointer<RawEvent>, _ origin: Origin) {
    let block = BlockIntervals.Block(
      key: event.pointee.address, size: LiveEntry.possibleSize(event.pointee.size))
    var pool: PoolTracker.Moving?
    if event.pointee.operation == Operation.reallocEnd.rawValue {
      pool = lendContents(to: Int(origin.run.slot), at: block.key, size: block.size)
    }
    if pools?.holds(block.key) == true { endUnseen(block.key) }
    for key in pools?.replaced(by: block) ?? [] where pool?.holds(key) != true {
      endUnseen(key)
    }
    let isExcluded = origin.isExcluded || (isFiltering && limits.filters(event))
    let share = isAnnounced(block) ? share(of: block, isExcluded) : nil
    pools?.insert(block, share)
    allocate(event, origin, false)
    settle(pool)
  }

  private func isAnnounced(_ block: BlockIntervals.Block) -> Bool {
    BlockKey.isAnnounced(block.key)
  }

  /// Takes the bytes of an announced block away from what it lies in.
  private mutating func share(
    of block: BlockIntervals.Block, _ isExcluded: Bool
  ) -> PoolTracker.Share? {
    guard var share = pools?.share(of: block) else { return nil }
    guard let pool = live.block(at: share.pool) else { return nil }
    let record = sites.records + Int(pool.site)
    if isExcluded || record.pointee.key.isExcluded { share.bytes = 0 }
    tracker.remove(SampleWeight(count: 0, bytes: share.bytes), from: record, pool.site)
    record.pointee.tally.freedBytes &+= share.bytes
    return share
  }

  // MARK: Ends

  private mutating func endBlock(_ event: UnsafePointer<RawEvent>, _ origin: Origin) {
    let key = event.pointee.address
    if event.pointee.operation == Operation.reallocBegin.rawValue {
      setAside(key, origin.run.slot)
    } else {
      for inner in pools?.contents(of: key) ?? [] { endUnseen(inner) }
    }
    let share = pools?.takeShare(of: key)
    pools?.remove(key)
    deallocate(event, origin, false)
    giveBack(share)
  }

  /// Ends a block that nobody has ended: what it lay in is gone, or another one is in its place.
  ///
  /// Of one that the allocator hands out again only what lies in it.
  private mutating func endUnseen(_ key: UInt64) {
    for inner in pools?.contents(of: key) ?? [] { endUnseen(inner) }
    let share = pools?.takeShare(of: key)
    pools?.remove(key)
    guard BlockKey.isAnnounced(key), let block = live.remove(key) else { return }
    countOut(block, sites.records + Int(block.site), false)
    giveBack(share)
  }

  /// Gives bytes back to the block that they lie in.
  private mutating func giveBack(_ share: PoolTracker.Share?) {
    guard let share, let pool = live.block(at: share.pool) else { return }
    let record = sites.records + Int(pool.site)
    tracker.lend(share.bytes, to: record, pool.site)
    record.pointee.tally.freedBytes &-= share.bytes
  }

  // MARK: Reallocation

  /// Gives a block that is about to be reallocated all of its bytes back; what lies in it lives on for the
  /// moment.
  private mutating func setAside(_ key: UInt64, _ slot: UInt32) {
    for inner in pools?.contents(of: key) ?? [] { giveBack(pools?.share(of: inner)) }
    pools?.move(key, slot)
  }

  /// Lends a block that a thread has reallocated, and that is about to be counted as a whole, the bytes of what lies
  /// in it.
  ///
  /// What is not in the same memory any more has ended.
  ///
  /// - Parameters:
  ///   - slot: The thread.
  ///   - key: Where the block is now; nil for where it was.
  ///   - size: Its bytes.
  /// - Returns: The block, for ``settle(_:)``; nil where the thread has reallocated none.
  mutating func lendContents(
    to slot: Int, at key: UInt64? = nil, size: UInt64 = 0
  ) -> PoolTracker.Moving? {
    guard var pool = pools?.moved(UInt32(slot)) else { return nil }
    let left = pool.contents
    if let key {
      let isSame = key == pool.key
      let remains = left.map { isSame && pools?.fits($0, in: key, size: size) == true }
      pool.contents = zip(left, remains).filter(\.1).map(\.0)
      for (inner, remains) in zip(left, remains) where !remains { endUnseen(inner) }
      pool.size = size
    } else {
      pools?.restore(pool)
    }
    tracker.borrow(bytes(of: pool))
    return pool
  }

  /// Takes away from a block what has been lent to it.
  mutating func settle(_ pool: PoolTracker.Moving?) {
    guard let pool else { return }
    guard let block = live.block(at: pool.key) else {
      tracker.unborrow(bytes(of: pool))
      return
    }
    let record = sites.records + Int(block.site)
    if record.pointee.key.isExcluded { tracker.unborrow(bytes(of: pool)) }
    for inner in pool.contents {
      let bytes = record.pointee.key.isExcluded ? 0 : bytes(of: inner, in: pool)
      record.pointee.tally.freedBytes &+= bytes
      pools?.setShare(PoolTracker.Share(pool: pool.key, bytes: bytes), of: inner)
    }
  }

  private mutating func bytes(of pool: PoolTracker.Moving) -> UInt64 {
    var sum: UInt64 = 0
    for inner in pool.contents { sum &+= bytes(of: inner, in: pool) }
    return sum
  }

  /// The bytes that a live block has of a pool; 0 where a filter leaves it out.
  private mutating func bytes(of key: UInt64, in pool: PoolTracker.Moving) -> UInt64 {
    guard let block = live.block(at: key),
      !sites.records[Int(block.site)].key.isExcluded
    else { return 0 }
    let offset = BlockKey.start(key) &- BlockKey.start(pool.key)
    return min(block.size, pool.size &- min(pool.size, offset))
  }
}
