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
  /// The objects met so far, with the event that has freed their block.
  private var objects: [UInt64: MemoryError.EventSite?] = [:]
  private let limit: Int

  init(_ merger: consuming RefcountMerger, limit: Int) {
    self.merger = merger
    self.limit = limit
  }

  mutating func receive(_ pointer: UnsafePointer<RawEvent>) -> Bool {
    let event = pointer.pointee
    let bit = UInt64(1) << UInt64(event.operation)
    let isEnd =
      bit & table.deallocations != 0 || event.operation == Operation.reallocBegin.rawValue
    // What has the time of a free came before it: its object was there.
    judge(before: isEnd ? event.time &+ 1 : event.time)
    if isEnd {
      guard objects[event.address] != nil else { return true }
      objects[event.address] = .some(
        MemoryError.EventSite(
          operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
          thread: ThreadIndex(event.thread), time: EventTime(event.time)))
    } else if bit & table.allocations != 0 || event.operation == Operation.reallocEnd.rawValue {
      objects[event.address] = nil
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
    let known = objects[event.object.rawValue]
    if known == nil { objects[event.object.rawValue] = .some(nil) }
    if let free = known ?? nil {
      findings.append(Finding(event: event, free: free))
    } else if event.change < 0, event.count < event.change.magnitude {
      findings.append(Finding(event: event, free: nil))
    }
  }
}

/// The allocations of the blocks that findings are about.
struct OverreleasedBlocks: EventSink {
  private(set) var blocks: [MemoryError.BlockSummary?]
  private let findings: [OverreleasePass.Finding]
  private let table = OperationTable()
  private var latest: [UInt64: MemoryError.BlockSummary] = [:]
  private let objects: Set<UInt64>
  private var next = 0

  /// - Parameter findings: In the order of their times.
  init(_ findings: [OverreleasePass.Finding]) {
    self.findings = findings
    blocks = Array(repeating: nil, count: findings.count)
    objects = Set(findings.map(\.event.object.rawValue))
  }

  mutating func receive(_ pointer: UnsafePointer<RawEvent>) -> Bool {
    let event = pointer.pointee
    settle(before: event.time)
    if (UInt64(1) << UInt64(event.operation)) & table.allocations != 0,
      objects.contains(event.address)
    {
      latest[event.address] = MemoryError.BlockSummary(
        address: Address(event.address), size: event.size, alignment: event.alignment,
        allocation: MemoryError.EventSite(
          operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
          thread: ThreadIndex(event.thread), time: EventTime(event.time)))
    }
    return next < findings.count
  }

  mutating func finish() {
    settle(before: .max)
  }

  private mutating func settle(before time: UInt64) {
    while next < findings.count, findings[next].event.time.rawValue < time {
      blocks[next] = latest[findings[next].event.object.rawValue]
      next += 1
    }
  }
}
