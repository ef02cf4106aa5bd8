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
    var pending = PendingRealloc()
  }

  var live = LiveTable()
  var sites: SiteTable
  var tracker = PeakTracker()
  var timeline: TimelineBuilder
  var rare: RareEvents
  private(set) var eventCount: UInt64 = 0
  private(set) var firstTime: UInt64 = .max
  private(set) var lastTime: UInt64 = 0
  private(set) var implicitlyFreed: UInt64 = 0

  var sampling: SamplingFold

  private let limits: ReplayLimits
  private let table = OperationTable()
  private let families: FamilyTable
  private var threads: UnsafeMutablePointer<ThreadState>
  private var threadCapacity = 64

  init(
    limits: ReplayLimits, stackCount: Int, timeline: TimelineBuilder, rare: RareEvents,
    sampling: Sampling?
  ) {
    self.limits = limits
    self.sampling = SamplingFold(sampling)
    self.timeline = timeline
    families = FamilyTable(table)
    self.rare = rare
    sites = SiteTable(stackCount: stackCount)
    threads = .allocate(capacity: threadCapacity)
    threads.initialize(repeating: ThreadState(), count: threadCapacity)
  }

  deinit {
    threads.deallocate()
    families.deallocate()
  }

  /// How far ahead of an event the index of the live blocks and their entries are fetched.
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
    let isWhole = sampling.isOn ? replaySample(run, count) : replay(run, count, isSample: false)
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
  private mutating func replaySample(_ run: EventRun, _ count: Int) -> Bool {
    replay(run, count, isSample: true)
  }

  /// Replays the first events of a run; false when the last allowed time has come.
  @inline(__always)
  private mutating func replay(_ run: EventRun, _ count: Int, isSample: Bool) -> Bool {
    let fetches = live.isWorthFetching
    var position = 0
    while position < count {
      let event = run.events + position
      guard event.pointee.time <= limits.lastTime else { return false }
      if fetches { prefetch(run, position) }
      eventCount &+= 1
      replay(event, run, isSample)
      lastTime = event.pointee.time
      position &+= 1
    }
    return true
  }

  @inline(__always)
  private func prefetch(_ run: EventRun, _ position: Int) {
    if position &+ Self.indexDistance < run.visibleCount {
      live.prefetchIndex(run.events[position &+ Self.indexDistance].address)
    }
    if position &+ Self.entryDistance < run.visibleCount {
      live.prefetchEntry(run.events[position &+ Self.entryDistance].address)
    }
  }

  @inline(__always)
  private mutating func replay(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ isSample: Bool
  ) {
    timeline.advance(to: event.pointee.time, tracker.liveBytes, tracker.liveCount)
    let bit = OperationTable.bit(event.pointee.operation)
    if bit & table.allocations != 0 {
      allocate(event, run, event.pointee.operation, event.pointee.stack, isSample)
    } else if bit & table.deallocations != 0 {
      deallocate(event, run, isSample)
    } else {
      control(event, run)
    }
  }

  // MARK: Allocation

  @inline(__always)
  private mutating func allocate(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ operation: UInt8, _ stack: UInt32,
    _ isSample: Bool
  ) {
    let thread = threads + Int(run.slot)
    thread.pointee.allocations &+= 1
    let key = SiteKey(
      size: event.pointee.size, stack: stack, slot: run.slot, operation: operation,
      isExcluded: limits.exclude(event, of: run.thread))
    let site = sites.site(for: key)
    let block = LiveEntry(
      address: event.pointee.address, size: event.pointee.size,
      alignment: run.alignment(of: event), time: event.pointee.time, site: site,
      serial: thread.pointee.allocations)
    if let old = live.insert(block) { closeImplicitly(old) }
    countIn(block.size, site, event.pointee.time, isSample)
    timeline.note(tracker.liveBytes, tracker.liveCount)
  }

  @inline(__always)
  private mutating func countIn(
    _ size: UInt64, _ site: UInt32, _ time: UInt64, _ isSample: Bool
  ) {
    let record = sites.records + Int(site)
    let weight = isSample ? sampling.weight(of: size) : SampleWeight(count: 1, bytes: size)
    if !record.pointee.key.isExcluded {
      tracker.add(weight, to: record, time: time, index: eventCount)
      if isSample { sampling.add(size, to: site, at: tracker.peak.eventIndex == eventCount) }
    }
    record.pointee.tally.totalCount &+= weight.count
    record.pointee.tally.totalBytes &+= weight.bytes
  }

  /// The address is live, yet the allocator hands it out: its deallocation is not in the trace.
  @inline(never)
  private mutating func closeImplicitly(_ old: LiveEntry) {
    implicitlyFreed &+= 1
    countOut(old, sampling.isOn)
  }

  // MARK: Deallocation

  @inline(__always)
  private mutating func deallocate(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ isSample: Bool
  ) {
    guard let block = live.remove(event.pointee.address) else {
      rare.noteUnknown(event.pointee, run, index: eventCount)
      return
    }
    let operation = sites.records[Int(block.site)].key.operation
    if !families.isSurelyRight(event.pointee.operation, for: operation) {
      checkMisuse(event, run, block, operation)
    }
    countOut(block, isSample)
    _ = noteTemporary(block, run.slot, isSample)
  }

  @inline(__always)
  private mutating func countOut(_ block: LiveEntry, _ isSample: Bool) {
    let record = sites.records + Int(block.site)
    let weight =
      isSample ? sampling.weight(of: block.size) : SampleWeight(count: 1, bytes: block.size)
    if !record.pointee.key.isExcluded {
      tracker.remove(weight, from: record)
      if isSample { sampling.remove(block.size) }
    }
    record.pointee.tally.freedCount &+= weight.count
    record.pointee.tally.freedBytes &+= weight.bytes
  }

  @inline(__always)
  private mutating func noteTemporary(
    _ block: LiveEntry, _ slot: UInt32, _ isSample: Bool
  ) -> Bool {
    let record = sites.records + Int(block.site)
    let distance = threads[Int(slot)].allocations &- block.serial
    // Between two allocations of a sample there were any number of others.
    guard record.pointee.key.slot == slot, distance <= limits.temporaryDistance, !isSample
    else { return false }
    record.pointee.tally.temporaryCount &+= 1
    return true
  }

  @inline(never)
  private mutating func checkMisuse(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ block: LiveEntry, _ operation: UInt8
  ) {
    guard event.pointee.time >= limits.firstTime else { return }
    let bit = OperationTable.bit(event.pointee.operation)
    let key = sites.records[Int(block.site)].key
    if !families.areOne(operation, event.pointee.operation) {
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
  private mutating func control(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let thread = threads + Int(run.slot)
    switch UInt32(event.pointee.operation) {
    case MT_OP_REALLOC_BEGIN.rawValue: beginRealloc(event, run)
    case MT_OP_REALLOC_END.rawValue:
      // Without its beginning, cut off by a damaged chunk, it is an allocation of its own.
      let stack = thread.pointee.pending.isActive ? thread.pointee.pending.stack : 0
      thread.pointee.pending.isActive = false
      allocate(event, run, Operation.realloc.rawValue, stack, sampling.isOn)
    case MT_OP_REALLOC_FAIL.rawValue:
      rare.noteFailure(
        event.pointee, run, function: Operation.realloc.rawValue,
        stack: thread.pointee.pending.stack)
      undoRealloc(Int(run.slot))
      timeline.note(tracker.liveBytes, tracker.liveCount)
    case MT_OP_REALLOC_LEFT.rawValue:
      thread.pointee.pending.isActive = false
    case MT_OP_FAILED.rawValue:
      rare.noteFailure(
        event.pointee, run, function: UInt8(truncatingIfNeeded: event.pointee.detail),
        stack: event.pointee.stack)
    default: break
    }
  }

  /// Does the deallocating half, which counts at once: the real call may hand the address on.
  private mutating func beginRealloc(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    var pending = PendingRealloc(isActive: true, stack: event.pointee.stack)
    if let block = live.remove(event.pointee.address) {
      let operation = sites.records[Int(block.site)].key.operation
      if !families.isSurelyRight(event.pointee.operation, for: operation) {
        checkMisuse(event, run, block, operation)
      }
      countOut(block, sampling.isOn)
      pending.wasLive = true
      pending.block = block
      pending.wasTemporary = noteTemporary(block, run.slot, sampling.isOn)
    } else {
      rare.noteUnknown(event.pointee, run, index: eventCount)
    }
    threads[Int(run.slot)].pending = pending
  }

  /// Takes the deallocating half back: the old block lives on.
  private mutating func undoRealloc(_ slot: Int) {
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
    countIn(pending.block.size, pending.block.site, lastTime, sampling.isOn)
  }

  /// Brings back the blocks in the middle of a `realloc` when the events ended.
  mutating func finish() {
    for slot in 0..<threadCapacity where threads[slot].pending.isActive { undoRealloc(slot) }
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
