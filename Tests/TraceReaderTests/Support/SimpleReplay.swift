import TraceReader

/// What ``Trace/replay(_:)`` does, written so that it is easy to believe: with dictionaries, one event
/// after the other, and a copy of all figures at each new peak.
struct SimpleReplay {
  struct Key: Hashable {
    var stack: StackID
    var thread: ThreadIndex
    var operation: Operation
    var sizeClass: SizeClass
  }

  struct Block: Hashable {
    var key: Key
    var size: UInt64
    var serial: UInt64
    var isExcluded: Bool
  }

  private struct Pending {
    var stack: StackID
    var address: Address
    var block: Block?
    var wasTemporary = false
  }

  private(set) var sites: [Key: Tally] = [:]
  private(set) var live: [Address: Block] = [:]
  private(set) var peak = Peak()
  private(set) var eventCount: UInt64 = 0
  private(set) var lastTime = EventTime.distantPast
  private(set) var implicitlyFreed: UInt64 = 0
  /// Live bytes and blocks after each event, with its time.
  private(set) var course: [(time: EventTime, bytes: UInt64, count: UInt64)] = []

  private let options: ReplayOptions
  private var liveBytes: UInt64 = 0
  private var liveCount: UInt64 = 0
  private var allocations: [ThreadIndex: UInt64] = [:]
  private var pending: [ThreadIndex: Pending] = [:]
  private static let greatestSize: UInt64 = 1 << 56 - 1

  /// Replays the events of a trace; of the options, only `sizes` and `liveAt` count.
  init(_ trace: Trace, _ options: ReplayOptions) throws {
    self.options = options
    var events: [Event] = []
    try trace.forEachEvent { _, event in
      events.append(event)
      return true
    }
    for event in events {
      if let limit = options.liveAt, event.time > limit { break }
      replay(event)
    }
    for thread in pending.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      if let begun = pending[thread] { undo(begun, at: lastTime) }
    }
    course.append((lastTime, liveBytes, liveCount))
    // Blocks of excluded sites are followed, not counted.
    live = live.filter { !$0.value.isExcluded }
  }

  private mutating func replay(_ event: Event) {
    eventCount += 1
    switch event.operation {
    case .reallocBegin:
      let (block, wasTemporary) = remove(event)
      pending[event.thread] = Pending(
        stack: event.stack, address: event.address, block: block, wasTemporary: wasTemporary)
    case .reallocEnd:
      insert(event, .realloc, pending.removeValue(forKey: event.thread)?.stack ?? .none)
    case .reallocFail:
      if let begun = pending.removeValue(forKey: event.thread) { undo(begun, at: lastTime) }
    case .reallocLeft:
      pending[event.thread] = nil
    default:
      if event.kind == .allocation { insert(event, event.operation, event.stack) }
      if event.kind == .deallocation { _ = remove(event) }
    }
    lastTime = event.time
    course.append((event.time, liveBytes, liveCount))
  }

  private mutating func insert(_ event: Event, _ operation: Operation, _ stack: StackID) {
    allocations[event.thread, default: 0] += 1
    let size = min(event.size, Self.greatestSize)
    let isExcluded =
      event.thread == .recorder || options.sizes.map { !$0.contains(event.size) } ?? false
    let key = Key(
      stack: stack, thread: event.thread, operation: operation,
      sizeClass: SizeClass(containing: size))
    let block = Block(
      key: key, size: size, serial: allocations[event.thread] ?? 0, isExcluded: isExcluded)
    if let old = live.updateValue(block, forKey: event.address) {
      implicitlyFreed += 1
      countOut(old)
    }
    countIn(block, at: event.time)
  }

  private mutating func remove(_ event: Event) -> (Block?, Bool) {
    guard let block = live.removeValue(forKey: event.address) else { return (nil, false) }
    countOut(block)
    let isTemporary =
      block.key.thread == event.thread
      && (allocations[event.thread] ?? 0) - block.serial <= UInt64(options.temporaryDistance)
    if isTemporary, !block.isExcluded { sites[block.key]?.temporaryCount += 1 }
    return (block, isTemporary)
  }

  private mutating func undo(_ pending: Pending, at time: EventTime) {
    guard let block = pending.block, live[pending.address] == nil else { return }
    live[pending.address] = block
    guard !block.isExcluded else { return }
    sites[block.key]?.totalCount -= 1
    sites[block.key]?.totalBytes -= block.size
    sites[block.key]?.freedCount -= 1
    sites[block.key]?.freedBytes -= block.size
    if pending.wasTemporary { sites[block.key]?.temporaryCount -= 1 }
    countIn(block, at: time)
  }

  private mutating func countIn(_ block: Block, at time: EventTime) {
    guard !block.isExcluded else { return }
    sites[block.key, default: Tally()].totalCount += 1
    sites[block.key]?.totalBytes &+= block.size
    liveCount += 1
    liveBytes &+= block.size
    guard liveBytes > peak.bytes else { return }
    (peak.bytes, peak.count, peak.time) = (liveBytes, liveCount, time)
    peak.eventIndex = eventCount
    for (key, tally) in sites {
      sites[key]?.peakCount = tally.liveCount
      sites[key]?.peakBytes = tally.liveBytes
    }
  }

  private mutating func countOut(_ block: Block) {
    guard !block.isExcluded else { return }
    sites[block.key]?.freedCount += 1
    sites[block.key]?.freedBytes &+= block.size
    liveCount -= 1
    liveBytes &-= block.size
  }

  /// The greatest live bytes and blocks in each bucket of a timeline.
  func buckets(like timeline: Timeline) -> (bytes: [UInt64], counts: [UInt64]) {
    var bytes = Array(repeating: UInt64(0), count: timeline.liveBytes.count)
    var counts = bytes
    var (position, last) = (0, (bytes: UInt64(0), count: UInt64(0)))
    for bucket in bytes.indices {
      let end = timeline.start.rawValue + UInt64(bucket + 1) * timeline.bucketTicks
      (bytes[bucket], counts[bucket]) = last
      while position < course.count, course[position].time.rawValue < end {
        last = (course[position].bytes, course[position].count)
        bytes[bucket] = max(bytes[bucket], last.bytes)
        counts[bucket] = max(counts[bucket], last.count)
        position += 1
      }
    }
    return (bytes, counts)
  }
}
