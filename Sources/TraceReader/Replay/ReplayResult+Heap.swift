extension ReplayResult {
  /// Takes the figures out of a replay that has ended.
  ///
  /// - Parameters:
  ///   - coverage: That of the trace.
  ///   - heap: The replay.
  ///   - threads: The recorder's indices of the replay's slots.
  ///   - clock: That of the trace.
  ///   - keepsLiveBlocks: Whether the live blocks are taken, too: the replay has none then.
  init(
    coverage: Coverage, heap: inout HeapReplay, threads: [UInt32], clock: TraceClock,
    keepsLiveBlocks: Bool
  ) {
    self.coverage = coverage
    self.coverage.implicitlyFreed = heap.implicitlyFreed
    peak = heap.tracker.peak
    timeline = heap.timeline.finished(clock: clock)
    eventCount = heap.eventCount
    firstTime = EventTime(heap.eventCount == 0 ? 0 : heap.firstTime)
    lastTime = EventTime(heap.lastTime)
    failedAllocationCount = heap.rare.failureCount
    failedAllocations = heap.rare.failures.map { failure in
      var failure = failure
      failure.thread = ThreadIndex(naming: failure.thread, threads)
      return failure
    }
    let positions = takeSites(of: heap, threads: threads)
    if heap.sampling.isOn { estimate(from: heap, positions: positions) }
    guard keepsLiveBlocks else { return }
    let entries = heap.live.takeEntries { entry in
      let position = positions[Int(entry.site)]
      entry.site = UInt32(truncatingIfNeeded: position)
      return position >= 0
    }
    liveBlocks = LiveBlocks(entries, sites: sites, handedOut: heap.pools?.handedOut ?? [:])
  }

  /// Fills `sites` and `total`.
  ///
  /// - Returns: For each site of the replay its position in `sites`; -1 for those left out.
  private mutating func takeSites(
    of heap: borrowing HeapReplay, threads: [UInt32]
  ) -> [Int] {
    var positions: [Int] = []
    positions.reserveCapacity(heap.sites.count)
    // One site is no small thing, and as the array grows there are two of it.
    sites.reserveCapacity(heap.sites.count)
    for number in 0..<heap.sites.count {
      let record = heap.sites.records[number]
      let tally = heap.tracker.finished(record, number)
      guard !record.key.isExcluded, tally.totalCount > 0 else {
        positions.append(-1)
        continue
      }
      positions.append(sites.count)
      total += tally
      sites.append(
        Site(
          stack: StackID(record.key.stack),
          thread: ThreadIndex(naming: ThreadIndex(record.key.slot), threads),
          operation: Operation(rawValue: record.key.operation),
          sizeClass: SizeClass(bytes: record.key.sizeClass), tally: tally))
    }
    return positions
  }
}

extension ThreadIndex {
  /// The recorder's index of a thread that is known by its slot.
  init(naming slot: ThreadIndex, _ threads: [UInt32]) {
    let position = Int(slot.rawValue)
    self = position < threads.count ? ThreadIndex(threads[position]) : .recorder
  }
}

extension MemoryError {
  /// The same error with the recorder's indices in place of slots.
  func naming(_ threads: [UInt32]) -> MemoryError {
    var error = self
    error.offending.thread = ThreadIndex(naming: offending.thread, threads)
    if let block {
      error.block?.allocation.thread = ThreadIndex(naming: block.allocation.thread, threads)
    }
    if let neighbour {
      error.neighbour?.allocation.thread = ThreadIndex(naming: neighbour.allocation.thread, threads)
    }
    if let firstFree {
      error.firstFree?.thread = ThreadIndex(naming: firstFree.thread, threads)
    }
    return error
  }
}
