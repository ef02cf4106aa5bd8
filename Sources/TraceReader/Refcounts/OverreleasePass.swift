/// Finds retains and releases of objects whose block is free, and releases of objects that have no
/// strong reference any more.
///
/// Only addresses that had reference count events before are followed.
struct OverreleasePass: EventSink, ~Copyable {
  /// An event that is wrong, and the free of its object's block; nil when that was live.
  struct Finding {
    var event: RefcountEvent
    var free: MemoryError.EventSite?
  }

  private(set) var findings: [Finding] = []
  private var merger: RefcountMerger
  private let table = OperationTable()
  /// An object met so far.
  private struct Object {
    /// The event that freed a block at its address last.
    var free: MemoryError.EventSite?
    var isFreed = false
  }
  private var objects: [UInt64: Object] = [:]
  private let limit: Int

  init(_ merger: consuming RefcountMerger, limit: Int) {
    self.merger = merger
    self.limit = limit
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      guard follow(run.events[position], run) else { return false }
    }
    return true
  }

  private mutating func follow(_ event: RawEvent, _ run: EventRun) -> Bool {
    let bit = OperationTable.bit(event.operation)
    let isEnd =
      bit & table.deallocations != 0 || event.operation == Operation.reallocBegin.rawValue
    // What has the time of a free came before it: its object was there.
    judge(before: isEnd ? event.time &+ 1 : event.time)
    if isEnd {
      guard let object = objects[event.address], !object.isFreed else { return true }
      let free = MemoryError.EventSite(
        operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
        thread: ThreadIndex(run.thread), time: EventTime(event.time))
      // Blocks without an object at an address where there was one: its own free is what counts.
      objects[event.address] = Object(free: object.free ?? free, isFreed: true)
    } else if bit & table.allocations != 0 || event.operation == Operation.reallocEnd.rawValue {
      objects[event.address]?.isFreed = false
    }
    return findings.count < limit
  }

  /// Judges the events that come after all blocks' events.
  mutating func finish() {
    judge(before: .max)
  }

  private mutating func judge(before time: UInt64) {
    while findings.count < limit, let next = merger.nextTime(), next.rawValue < time,
      let event = merger.next()
    {
      judge(event)
    }
  }

  private mutating func judge(_ event: RefcountEvent) {
    let object = objects[event.object.rawValue]
    let isDead = event.isOfNoObject || object?.isFreed ?? false
    if isDead || event.change < 0 && event.count < event.change.magnitude {
      findings.append(Finding(event: event, free: isDead ? object?.free : nil))
    }
    // From here on it is the object that lies there now.
    if !isDead { objects[event.object.rawValue] = Object() }
  }
}

/// The allocations of the blocks that findings are about, and the frees of those that had no
/// reference count events while they lived.
struct OverreleasedBlocks: EventSink {
  private(set) var blocks: [MemoryError.BlockSummary?]
  private(set) var frees: [MemoryError.EventSite?]
  private let findings: [OverreleasePass.Finding]
  private let table = OperationTable()
  private var latest: [UInt64: MemoryError.BlockSummary] = [:]
  private var latestFree: [UInt64: MemoryError.EventSite] = [:]
  private let objects: Set<UInt64>
  /// The findings by the time at which their object was there for certain.
  private let order: [(time: EventTime, finding: Int)]
  private var next = 0

  init(_ findings: [OverreleasePass.Finding]) {
    self.findings = findings
    order = findings.indices.map { ((findings[$0].free?.time ?? findings[$0].event.time), $0) }
      .sorted { $0.0 < $1.0 }
    blocks = Array(repeating: nil, count: findings.count)
    frees = findings.map(\.free)
    objects = Set(findings.map(\.event.object.rawValue))
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      note(run.events + position, run)
      guard next < findings.count else { return false }
    }
    return true
  }

  private mutating func note(_ pointer: UnsafePointer<RawEvent>, _ run: EventRun) {
    let event = pointer.pointee
    settle(before: event.time)
    guard objects.contains(event.address) else { return }
    let bit = OperationTable.bit(event.operation)
    if bit & table.allocations != 0 {
      latestFree[event.address] = nil
      latest[event.address] = MemoryError.BlockSummary(
        address: Address(event.address), size: event.size, alignment: run.alignment(of: pointer),
        allocation: site(event, run))
    } else if bit & table.deallocations != 0 {
      latestFree[event.address] = site(event, run)
    }
  }

  private func site(_ event: RawEvent, _ run: EventRun) -> MemoryError.EventSite {
    MemoryError.EventSite(
      operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
      thread: ThreadIndex(run.thread), time: EventTime(event.time))
  }

  mutating func finish() {
    settle(before: .max)
  }

  private mutating func settle(before time: UInt64) {
    while next < findings.count, order[next].time.rawValue < time {
      let finding = order[next].finding
      let event = findings[finding].event
      blocks[finding] = latest[event.object.rawValue]
      if event.isOfNoObject, frees[finding] == nil {
        frees[finding] = latestFree[event.object.rawValue]
      }
      next += 1
    }
  }
}
