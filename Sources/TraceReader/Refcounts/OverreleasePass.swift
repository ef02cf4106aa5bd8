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
