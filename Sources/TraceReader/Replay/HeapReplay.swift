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
  private var threads: UnsafeMutablePointer<ThreadState>
  private var threadCapacity = 64

  init(
    limits: ReplayLimits, stackCount: Int, timeline: TimelineBuilder, rare: RareEvents,
    sampling: Sampling?
  ) {
    self.limits = limits
    self.sampling = SamplingFold(sampling)
    self.timeline = timeline
    self.rare = rare
    sites = SiteTable(stackCount: stackCount)
    threads = .allocate(capacity: threadCapacity)
    threads.initialize(repeating: ThreadState(), count: threadCapacity)
  }

  deinit {
    threads.deallocate()
  }

  func prepare(_ events: UnsafeMutablePointer<RawEvent>, count: Int) {
    live.prepare(events, count: count)
  }

  @inline(__always)
  mutating func receive(_ event: UnsafePointer<RawEvent>) -> Bool {
    guard event.pointee.time <= limits.lastTime, eventCount < limits.eventCount else {
      return false
    }
    eventCount &+= 1
    if Int(event.pointee.slot) >= threadCapacity { growThreads(Int(event.pointee.slot)) }
    let bit = UInt64(1) << UInt64(event.pointee.operation)
    if bit & table.allocations != 0 {
      allocate(event, event.pointee.operation, event.pointee.stack)
    } else if bit & table.deallocations != 0 {
      deallocate(event)
    } else {
      control(event)
    }
    lastTime = event.pointee.time
    if firstTime > event.pointee.time { firstTime = event.pointee.time }
    timeline.note(tracker.liveBytes, tracker.liveCount, at: event.pointee.time)
    return true
  }

  // MARK: Allocation

  @inline(__always)
  private mutating func allocate(
    _ event: UnsafePointer<RawEvent>, _ operation: UInt8, _ stack: UInt32
  ) {
    let thread = threads + Int(event.pointee.slot)
    thread.pointee.allocations &+= 1
    let key = SiteKey(
      sizeClass: SizeClass(containing: event.pointee.size).bytes, stack: stack,
      slot: event.pointee.slot,
      operation: operation, isExcluded: limits.exclude(event))
    let site = sites.site(for: key)
    let block = LiveEntry(
      address: event.pointee.address, size: event.pointee.size, alignment: event.pointee.alignment,
      time: event.pointee.time,
      site: site, serial: thread.pointee.allocations)
    if let old = live.insert(block) { closeImplicitly(old) }
    countIn(block.size, site, event.pointee.time)
  }

  @inline(__always)
  private mutating func countIn(_ size: UInt64, _ site: UInt32, _ time: UInt64) {
    let record = sites.records + Int(site)
    let weight = sampling.weight(of: size)
    if !record.pointee.key.isExcluded {
      tracker.add(weight, to: record, time: time, index: eventCount)
      if sampling.isOn { sampling.add(size, to: site, at: tracker.peak.eventIndex == eventCount) }
    }
    record.pointee.tally.totalCount &+= weight.count
    record.pointee.tally.totalBytes &+= weight.bytes
  }

  /// The address is live, yet the allocator hands it out: its deallocation is not in the trace.
  @inline(never)
  private mutating func closeImplicitly(_ old: LiveEntry) {
    implicitlyFreed &+= 1
    countOut(old)
  }

  // MARK: Deallocation

  @inline(__always)
  private mutating func deallocate(_ event: UnsafePointer<RawEvent>) {
    guard let block = live.remove(event.pointee.address) else {
      rare.noteUnknown(event.pointee, index: eventCount)
      return
    }
    let operation = sites.records[Int(block.site)].key.operation
    let bit = UInt64(1) << UInt64(event.pointee.operation)
    if bit & (table.sized | table.aligned) != 0
      || !table.areOfOneFamily(operation, event.pointee.operation)
    {
      checkMisuse(event, block, operation)
    }
    countOut(block)
    _ = noteTemporary(block, event.pointee.slot)
  }

  @inline(__always)
  private mutating func countOut(_ block: LiveEntry) {
    let record = sites.records + Int(block.site)
    let weight = sampling.weight(of: block.size)
    if !record.pointee.key.isExcluded {
      tracker.remove(weight, from: record)
      if sampling.isOn { sampling.remove(block.size) }
    }
    record.pointee.tally.freedCount &+= weight.count
    record.pointee.tally.freedBytes &+= weight.bytes
  }

  @inline(__always)
  private mutating func noteTemporary(_ block: LiveEntry, _ slot: UInt32) -> Bool {
    let record = sites.records + Int(block.site)
    let distance = threads[Int(slot)].allocations &- block.serial
    // Between two allocations of a sample there were any number of others.
    guard record.pointee.key.slot == slot, distance <= limits.temporaryDistance, !sampling.isOn
    else {
      return false
    }
    record.pointee.tally.temporaryCount &+= 1
    return true
  }

  @inline(never)
  private mutating func checkMisuse(
    _ event: UnsafePointer<RawEvent>, _ block: LiveEntry, _ operation: UInt8
  ) {
    guard event.pointee.time >= limits.firstTime else { return }
    let bit = UInt64(1) << UInt64(event.pointee.operation)
    if !table.areOfOneFamily(operation, event.pointee.operation) {
      rare.noteMisuse(.mismatched, event.pointee, block, sites.records[Int(block.site)].key)
      return
    }
    if bit & table.sized != 0, min(event.pointee.size, LiveEntry.greatestSize) != block.size {
      rare.noteMisuse(
        .wrongSize(event.pointee.size), event.pointee, block, sites.records[Int(block.site)].key)
    }
    if bit & table.aligned != 0, event.pointee.alignment != block.alignment {
      rare.noteMisuse(
        .wrongAlignment(event.pointee.alignment), event.pointee, block,
        sites.records[Int(block.site)].key)
    }
  }

  // MARK: Control

  @inline(never)
  private mutating func control(_ event: UnsafePointer<RawEvent>) {
    let thread = threads + Int(event.pointee.slot)
    switch Operation(rawValue: event.pointee.operation) {
    case .reallocBegin: beginRealloc(event)
    case .reallocEnd:
      // Without its beginning, cut off by a damaged chunk, it is an allocation of its own.
      let stack = thread.pointee.pending.isActive ? thread.pointee.pending.stack : 0
      thread.pointee.pending.isActive = false
      allocate(event, Operation.realloc.rawValue, stack)
    case .reallocFail:
      rare.noteFailure(
        event.pointee, function: Operation.realloc.rawValue, stack: thread.pointee.pending.stack)
      undoRealloc(Int(event.pointee.slot))
    case .reallocLeft:
      thread.pointee.pending.isActive = false
    case .failed:
      rare.noteFailure(event.pointee, function: event.pointee.function, stack: event.pointee.stack)
    default: break
    }
  }

  /// Does the deallocating half, which counts at once: the real call may hand the address on.
  private mutating func beginRealloc(_ event: UnsafePointer<RawEvent>) {
    var pending = PendingRealloc(isActive: true, stack: event.pointee.stack)
    if let block = live.remove(event.pointee.address) {
      let operation = sites.records[Int(block.site)].key.operation
      if !table.areOfOneFamily(operation, event.pointee.operation) {
        checkMisuse(event, block, operation)
      }
      countOut(block)
      pending.wasLive = true
      pending.block = block
      pending.wasTemporary = noteTemporary(block, event.pointee.slot)
    } else {
      rare.noteUnknown(event.pointee, index: eventCount)
    }
    threads[Int(event.pointee.slot)].pending = pending
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
    countIn(pending.block.size, pending.block.site, lastTime)
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
