import CTraceFormat

/// Follows the heap of the traced process through all its events.
///
/// One pass; per event no class instance, no dictionary and no reference count is touched. What is
/// rare (errors, frees of unknown addresses, failed allocations) goes to ``RareEvents``.
struct HeapReplay: ~Copyable, EventSink {
  /// A `realloc` whose outcome is not known yet.
  struct PendingRealloc {
    var isActive = false
    var wasLive = false
    var wasTemporary = false
    var stack: UInt32 = 0
    /// The old block, when it was live.
    var block = LiveEntry(address: 0, size: 0, alignment: 0, time: 0, site: 0, serial: 0)
  }

  /// What the replay keeps of a thread.
  struct ThreadState {
    /// Allocations so far, wrapping.
    var allocations: UInt32 = 0
    /// For the events that come next, whether their blocks are not among those found lately: the
    /// lowest bit is that of the event ``HeapReplay/indexDistance`` events ahead.
    var strangers: UInt32 = 0
    var pending = PendingRealloc()
  }

  var live = LiveTable()
  var sites: SiteTable
  var tracker = PeakTracker()
  var timeline: TimelineBuilder
  var rare: RareEvents
  var eventCount: UInt64 = 0
  private(set) var firstTime: UInt64 = .max
  var lastTime: UInt64 = 0
  private(set) var implicitlyFreed: UInt64 = 0

  var sampling: SamplingFold

  /// What announced blocks lie in; nil in a trace without any.
  var pools: PoolTracker?

  let limits: ReplayLimits
  let table: OperationTable
  /// Whether filters have to look at each block.
  let isFiltering: Bool
  private(set) var threads: UnsafeMutablePointer<ThreadState>
  private var threadCapacity = 64

  init(
    limits: ReplayLimits, stackCount: Int, timeline: TimelineBuilder, rare: RareEvents,
    sampling: Sampling?, isOneFamily: Bool = false, hasAnnounced: Bool = false
  ) {
    self.limits = limits
    self.sampling = SamplingFold(sampling)
    pools = hasAnnounced ? PoolTracker() : nil
    self.timeline = timeline
    table = OperationTable(isOneFamily: isOneFamily)
    isFiltering = limits.isFiltering
    self.rare = rare
    sites = SiteTable(stackCount: stackCount, table: table)
    threads = .allocate(capacity: threadCapacity)
    threads.initialize(repeating: ThreadState(), count: threadCapacity)
  }

  deinit {
    threads.deallocate()
  }

  /// How far ahead of an event the index of the live blocks and their entries are fetched; at most
  /// ``EventBatch/margin``.
  private static let indexDistance = 24
  private static let entryDistance = 12

  @inline(__always)
  mutating func receive(_ run: EventRun) -> Bool {
    if Int(run.slot) >= threadCapacity { growThreads(Int(run.slot)) }
    if run.events.pointee.time < limits.startTime { return receiveRest(of: run) }
    return receiveAll(run)
  }

  @inline(__always)
  private mutating func receiveAll(_ run: EventRun) -> Bool {
    firstTime = min(firstTime, run.events.pointee.time)
    let allowed = limits.eventCount &- eventCount
    let count = UInt64(run.count) <= allowed ? run.count : Int(allowed)
    let isWhole: Bool
    if sampling.isOn {
      isWhole = replaySample(run, count)
    } else if pools == nil {
      isWhole = replayAll(run, count)
    } else {
      isWhole = replayPools(run, count)
    }
    return isWhole && count == run.count
  }

  /// Passes over the events before the first one that counts.
  ///
  /// Only the beginnings of `realloc` are of use: their ends may count, and have their stacks.
  @inline(never)
  private mutating func receiveRest(of run: EventRun) -> Bool {
    var count = 0
    while count < run.count, run.events[count].time < limits.startTime {
      let event = run.events + count
      guard event.pointee.time <= limits.lastTime else { return false }
      let isBegin = event.pointee.operation == Operation.reallocBegin.rawValue
      threads[Int(run.slot)].pending = PendingRealloc(
        isActive: isBegin, stack: isBegin ? event.pointee.stack : 0)
      lastTime = max(lastTime, event.pointee.time)
      count += 1
    }
    return count == run.count || receiveAll(run.part(from: count, count: run.count - count))
  }

  /// Passes over chunks without reading them.
  mutating func passOver(_ chunks: some Sequence<EventChunk>) {
    for chunk in chunks { lastTime = max(lastTime, chunk.lastTime ?? 0) }
  }

  @inline(never)
  private mutating func replayAll(_ run: EventRun, _ count: Int) -> Bool {
    replay(run, count, isSample: false)
  }

  @inline(never)
  private mutating func replaySample(_ run: EventRun, _ count: Int) -> Bool {
    replay(run, count, isSample: true)
  }

  /// Replays the first events of a run; false when the last allowed time has come.
  @inline(__always)
  private mutating func replay(_ run: EventRun, _ count: Int, isSample: Bool) -> Bool {
    var position = 0
    while position < count {
      let time = run.events[position].time
      guard time <= limits.lastTime else { return false }
      timeline.advance(to: time, tracker.liveBytes, tracker.liveCount)
      // Until then, no event need ask for the time.
      let end = run.position(
        after: min(timeline.lastTime, limits.lastTime), from: position, to: count)
      replay(run, position, end, isSample)
      lastTime = run.events[end &- 1].time
      position = end
    }
    return true
  }

  /// What the events of a run have in common.
  struct Origin {
    let run: EventRun
    let thread: UnsafeMutablePointer<ThreadState>
    /// Whether no block of the thread counts.
    let isExcluded: Bool
  }

  @inline(__always)
  private mutating func replay(_ run: EventRun, _ start: Int, _ end: Int, _ isSample: Bool) {
    let origin = Origin(
      run: run, thread: threads + Int(run.slot), isExcluded: limits.excludes(run.thread))
    let (fetches, gains, losses) = (live.isWorthFetching, table.gains, table.losses)
    var strangers = origin.thread.pointee.strangers
    var event = run.events + start
    let last = run.events + end
    while event < last {
      if fetches { prefetch(event, &strangers) }
      eventCount &+= 1
      let operation = UInt64(event.pointee.operation)
      // The other way round, the compiler would call `allocate`: 18 instructions more an event.
      if (gains &>> operation) & 1 != 0 {
        allocate(event, origin, isSample)
      } else if (losses &>> operation) & 1 != 0 {
        deallocate(event, origin, isSample)
      } else {
        control(event, run)
      }
      event += 1
    }
    origin.thread.pointee.strangers = strangers
  }

  /// Starts to load what later events need: nothing for blocks that were found lately.
  @inline(__always)
  private func prefetch(_ event: UnsafePointer<RawEvent>, _ strangers: inout UInt32) {
    strangers &<<= 1
    strangers |= live.prefetchIndexOfStranger(event[Self.indexDistance].address)
    if strangers & 1 &<< UInt32(Self.indexDistance - Self.entryDistance) != 0 {
      live.prefetchEntry(event[Self.entryDistance].address)
    }
  }

  // MARK: Allocation

  @inline(__always)
  mutating func allocate(
    _ event: UnsafePointer<RawEvent>, _ origin: Origin, _ isSample: Bool
  ) {
    let thread = origin.thread
    var (operation, stack) = (event.pointee.operation, event.pointee.stack)
    if operation == Operation.reallocEnd.rawValue {
      // Without its beginning, cut off by a damaged chunk, it is an allocation of its own.
      stack = thread.pointee.pending.isActive ? thread.pointee.pending.stack : 0
      thread.pointee.pending.isActive = false
      operation = Operation.realloc.rawValue
    }
    thread.pointee.allocations &+= 1
    let isExcluded = origin.isExcluded || (isFiltering && limits.filters(event))
    let size = LiveEntry.possibleSize(event.pointee.size)
    let key = SiteKey(
      size: size, stack: stack, slot: origin.run.slot, operation: operation,
      isExcluded: isExcluded)
    let site = sites.site(for: key)
    begin(
      LiveEntry(
        address: event.pointee.address, size: size, alignment: origin.run.batch.code(of: event),
        time: event.pointee.time, site: site, serial: thread.pointee.allocations),
      isExcluded, isSample)
  }

  @inline(__always)
  private mutating func begin(_ block: LiveEntry, _ isExcluded: Bool, _ isSample: Bool) {
    if let old = live.insert(block) { closeImplicitly(old) }
    countIn(block.size, block.site, isExcluded, block.time, isSample)
  }

  @inline(__always)
  private mutating func countIn(
    _ size: UInt64, _ site: UInt32, _ isExcluded: Bool, _ time: UInt64, _ isSample: Bool
  ) {
    let record = sites.records + Int(site)
    let weight = isSample ? sampling.weight(of: size) : SampleWeight(count: 1, bytes: size)
    if !isExcluded {
      let (bytes, count) = tracker.add(
        weight, to: record, site, time: time, index: eventCount)
      timeline.note(bytes, count)
      if isSample { sampling.add(size, to: site, at: tracker.peak.eventIndex == eventCount) }
    }
    record.pointee.tally.totalCount &+= weight.count
    record.pointee.tally.totalBytes &+= weight.bytes
  }

  /// The address is live, yet the allocator hands it out: its deallocation is not in the trace.
  @inline(never)
  private mutating func closeImplicitly(_ old: LiveEntry) {
    implicitlyFreed &+= 1
    countOut(old, sites.records + Int(old.site), sampling.isOn)
  }

  // MARK: Deallocation

  /// Ends the life of a block, also for the beginning of a `realloc`: the real call may hand the
  /// address on.
  @inline(__always)
  mutating func deallocate(
    _ event: UnsafePointer<RawEvent>, _ origin: Origin, _ isSample: Bool
  ) {
    let operation = event.pointee.operation
    guard let block = live.remove(event.pointee.address) else {
      deallocateUnknown(event, origin.run)
      return
    }
    let record = sites.records + Int(block.site)
    if !record.pointee.rightDeallocations.contains(operation) {
      checkMisuse(event, origin.run, block)
    }
    countOut(block, record, isSample)
    let isTemporary = noteTemporary(block, record, origin, isSample)
    if operation == Operation.reallocBegin.rawValue {
      origin.thread.pointee.pending = PendingRealloc(
        isActive: true, wasLive: true, wasTemporary: isTemporary, stack: event.pointee.stack,
        block: block)
    }
  }

  @inline(never)
  private mutating func deallocateUnknown(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    rare.noteUnknown(event.pointee, run, index: eventCount)
    if event.pointee.operation == Operation.reallocBegin.rawValue {
      threads[Int(run.slot)].pending = PendingRealloc(isActive: true, stack: event.pointee.stack)
    }
  }

  @inline(__always)
  mutating func countOut(
    _ block: LiveEntry, _ record: UnsafeMutablePointer<SiteRecord>, _ isSample: Bool
  ) {
    let weight =
      isSample ? sampling.weight(of: block.size) : SampleWeight(count: 1, bytes: block.size)
    if !record.pointee.key.isExcluded {
      tracker.remove(weight, from: record, block.site)
      if isSample { sampling.remove(block.size) }
    }
    record.pointee.tally.freedCount &+= weight.count
    record.pointee.tally.freedBytes &+= weight.bytes
  }

  @inline(__always)
  private func noteTemporary(
    _ block: LiveEntry, _ record: UnsafeMutablePointer<SiteRecord>, _ origin: Origin,
    _ isSample: Bool
  ) -> Bool {
    let distance = origin.thread.pointee.allocations &- block.serial
    // Between two allocations of a sample there were any number of others.
    guard record.pointee.key.slot == origin.run.slot, distance <= limits.temporaryDistance,
      !isSample
    else { return false }
    record.pointee.tally.temporaryCount &+= 1
    return true
  }

  @inline(never)
  private mutating func checkMisuse(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ block: LiveEntry
  ) {
    guard event.pointee.time >= limits.firstTime else { return }
    let bit = OperationTable.bit(event.pointee.operation)
    let key = sites.records[Int(block.site)].key
    if !table.areOne(key.operation, event.pointee.operation) {
      rare.noteMisuse(.mismatched, event.pointee, run, block, key)
      return
    }
    if bit & table.sized != 0, min(event.pointee.size, LiveEntry.greatestSize) != block.size {
      rare.noteMisuse(.wrongSize(event.pointee.size), event.pointee, run, block, key)
    }
    let alignment = run.alignment(of: event)
    if bit & table.aligned != 0, alignment != block.alignment {
      rare.noteMisuse(.wrongAlignment(alignment), event.pointee, run, block, key)
    }
  }

  // MARK: Control

  @inline(never)
  mutating func control(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let slot = Int(run.slot)
    switch UInt32(event.pointee.operation) {
    case MT_OP_REALLOC_FAIL.rawValue:
      rare.noteFailure(
        event.pointee, run, function: Operation.realloc.rawValue,
        stack: threads[slot].pending.stack)
      undoRealloc(slot, at: event == run.events ? lastTime : (event - 1).pointee.time)
    case MT_OP_REALLOC_LEFT.rawValue:
      threads[slot].pending.isActive = false
    case MT_OP_FAILED.rawValue:
      rare.noteFailure(
        event.pointee, run, function: UInt8(truncatingIfNeeded: event.pointee.detail),
        stack: event.pointee.stack)
    default: break
    }
  }

  /// Takes the deallocating half back: the old block lives on.
  private mutating func undoRealloc(_ slot: Int, at time: UInt64) {
    let pending = threads[slot].pending
    threads[slot].pending.isActive = false
    guard pending.isActive, pending.wasLive else { return }
    if let newer = live.insert(pending.block) {
      // Somebody has been given the address meanwhile, so the old block is gone.
      _ = live.insert(newer)
      return
    }
    let record = sites.records + Int(pending.block.site)
    let weight = sampling.weight(of: pending.block.size)
    record.pointee.tally.totalCount &-= weight.count
    record.pointee.tally.totalBytes &-= weight.bytes
    record.pointee.tally.freedCount &-= weight.count
    record.pointee.tally.freedBytes &-= weight.bytes
    if sampling.isOn { sampling.takeBack(pending.block.size, from: pending.block.site) }
    if pending.wasTemporary { record.pointee.tally.temporaryCount &-= 1 }
    countIn(
      pending.block.size, pending.block.site, record.pointee.key.isExcluded, time, sampling.isOn)
  }

  /// Brings back the blocks in the middle of a `realloc` when the events ended.
  mutating func finish() {
    for slot in 0..<threadCapacity where threads[slot].pending.isActive {
      let pool = lendContents(to: slot)
      undoRealloc(slot, at: lastTime)
      settle(pool)
    }
  }

  @inline(never)
  private mutating func growThreads(_ slot: Int) {
    var capacity = threadCapacity
    while capacity <= slot { capacity *= 2 }
    let larger = UnsafeMutablePointer<ThreadState>.allocate(capacity: capacity)
    larger.moveInitialize(from: threads, count: threadCapacity)
    (larger + threadCapacity).initialize(
      repeating: ThreadState(), count: capacity - threadCapacity)
    threads.deallocate()
    threads = larger
    threadCapacity = capacity
  }
}
