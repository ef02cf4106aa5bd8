/// Finds out what the suspect deallocations of a replay were about.
///
/// A replay keeps nothing of blocks that were freed, so that its memory is bounded by live blocks.
/// When it has met deallocations of addresses that were not live, this second pass goes through
/// the events again and follows just those addresses.
struct SuspectPass: EventSink {
  /// A deallocation of an address that the trace has never seen allocated.
  struct Stranger {
    var suspect: RareEvents.Suspect
    /// The deallocation of the same address before it.
    var previous: MemoryError.EventSite?
    /// A live block that ends or begins next to the address.
    var neighbour: MemoryError.BlockSummary?
  }

  /// The latest block known to have contained a suspect address.
  private struct Life {
    var block: MemoryError.BlockSummary
    var end: MemoryError.EventSite?
  }

  /// How many lives are changed before the pass gives up: in a damaged trace, each of millions of
  /// blocks can contain all suspects.
  private static let greatestWork = 1 << 28

  private let suspects: [RareEvents.Suspect]
  private var next = 0
  private var index: UInt64 = 0
  /// The distinct suspect addresses in ascending order, and for each what is known.
  private let addresses: [UInt64]
  private var lives: [Life?]
  /// For each address the live blocks next to it.
  private var neighbours: [Neighbours]
  /// For each address the last deallocation of it as a stranger.
  private var ends: [MemoryError.EventSite?]
  /// For the start of a followed block, the positions of the addresses in it and next to it.
  private var followed: [UInt64: Range<Int>] = [:]
  private var pages: PageFilter
  private let table = OperationTable()
  /// For each slot in the middle of a `realloc`, its stack and the start of the old block.
  private var pending: [UInt32: (stack: UInt32, address: UInt64)] = [:]
  private var workLeft = Self.greatestWork

  private(set) var errors: [MemoryError] = []
  /// Deallocations of addresses that the trace has never seen allocated.
  private(set) var strangers: [Stranger] = []

  init(suspects: [RareEvents.Suspect]) {
    self.suspects = suspects
    addresses = Set(suspects.map(\.address)).sorted()
    lives = Array(repeating: nil, count: addresses.count)
    neighbours = Array(repeating: Neighbours(), count: addresses.count)
    ends = Array(repeating: nil, count: addresses.count)
    pages = PageFilter()
    addresses.forEach { pages.insert($0) }
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      index &+= 1
      look(at: run.events + position, run)
      guard next < suspects.count, workLeft > 0 else { return false }
    }
    return true
  }

  @inline(__always)
  private mutating func look(at event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let bit = OperationTable.bit(event.pointee.operation)
    if bit & table.allocations != 0 {
      begin(event, run, event.pointee.operation, event.pointee.stack)
    } else if bit & table.deallocations != 0 {
      end(event, run)
    } else {
      control(event, run)
    }
  }

  /// Suspects that the pass has not come to.
  var unjudgedCount: Int { suspects.count - next }

  @inline(__always)
  private mutating func control(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    switch Operation(rawValue: event.pointee.operation) {
    case .reallocBegin:
      pending[run.slot] = (event.pointee.stack, event.pointee.address)
      end(event, run)
    case .reallocEnd:
      let stack = pending.removeValue(forKey: run.slot)?.stack ?? 0
      begin(event, run, Operation.realloc.rawValue, stack)
    case .reallocLeft:
      pending[run.slot] = nil
    case .reallocFail:
      restore(run.slot)
    default: break
    }
  }

  // MARK: Lives

  @inline(__always)
  private mutating func begin(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ operation: UInt8, _ stack: UInt32
  ) {
    let (size, overflows) = event.pointee.size.addingReportingOverflow(2 * Neighbours.reach)
    guard
      pages.mayContain(
        event.pointee.address &- Neighbours.reach, size: overflows ? event.pointee.size : size)
    else { return }
    follow(event, run, operation, stack)
  }

  @inline(never)
  private mutating func follow(
    _ pointer: UnsafePointer<RawEvent>, _ run: EventRun, _ operation: UInt8, _ stack: UInt32
  ) {
    let event = pointer.pointee
    let (last, overflow) = event.address.addingReportingOverflow(max(event.size, 1) &- 1)
    let inside = event.address...(overflow ? .max : last)
    let near = positions(
      from: inside.lowerBound - min(inside.lowerBound, Neighbours.reach),
      to: inside.upperBound + min(.max - inside.upperBound, Neighbours.reach))
    // A block that starts here now is no longer the one that was followed from here.
    followed[event.address] = nil
    guard !near.isEmpty else { return }
    let allocation = MemoryError.EventSite(
      operation: Operation(rawValue: operation), stack: StackID(stack),
      thread: ThreadIndex(run.slot), time: EventTime(event.time))
    let block = MemoryError.BlockSummary(
      address: Address(event.address), size: event.size, alignment: run.alignment(of: pointer),
      allocation: allocation)
    workLeft -= near.count
    for position in near {
      if inside.contains(addresses[position]) {
        lives[position] = Life(block: block)
      } else {
        neighbours[position].add(block, of: addresses[position])
      }
    }
    followed[event.address] = near
    pages.insert(event.address)
  }

  /// The positions of the addresses between two, both included.
  private func positions(from first: UInt64, to last: UInt64) -> Range<Int> {
    let start = addresses.partitioningIndex { $0 >= first }
    return start..<max(start, addresses.partitioningIndex { $0 > last })
  }

  @inline(__always)
  private mutating func end(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    if suspects[next].index == index { judge(event.pointee) }
    guard pages.mayContain(event.pointee.address, size: 1) else { return }
    close(event.pointee, run)
  }

  @inline(never)
  private mutating func close(_ event: RawEvent, _ run: EventRun) {
    guard let positions = followed[event.address] else { return }
    workLeft -= positions.count
    let site = MemoryError.EventSite(
      operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
      thread: ThreadIndex(run.slot), time: EventTime(event.time))
    for position in positions {
      if lives[position]?.block.address.rawValue == event.address, lives[position]?.end == nil {
        lives[position]?.end = site
      }
      neighbours[position].remove(blockAt: event.address)
    }
  }

  /// A `realloc` that failed has ended no block.
  private mutating func restore(_ slot: UInt32) {
    guard let address = pending.removeValue(forKey: slot)?.address else { return }
    restoreStranger(address, slot)
    guard let positions = followed[address] else { return }
    workLeft -= positions.count
    for position in positions
    where lives[position]?.end?.operation == .reallocBegin
      && lives[position]?.end?.thread.rawValue == slot
    {
      lives[position]?.end = nil
    }
  }

  private mutating func restoreStranger(_ address: UInt64, _ slot: UInt32) {
    let position = addresses.partitioningIndex { $0 >= address }
    guard position < addresses.count, addresses[position] == address,
      ends[position]?.operation == .reallocBegin, ends[position]?.thread.rawValue == slot
    else { return }
    ends[position] = nil
  }

  // MARK: Judgement

  private mutating func judge(_ event: RawEvent) {
    let suspect = suspects[next]
    next += 1
    let position = addresses.partitioningIndex { $0 >= event.address }
    guard position < lives.count else { return }
    guard let life = lives[position] else {
      let neighbour = neighbours[position].likeliest(
        for: Operation(rawValue: event.operation), of: event.address)
      strangers.append(
        Stranger(suspect: suspect, previous: ends[position], neighbour: neighbour))
      ends[position] = Self.site(suspect)
      return
    }
    let offset = event.address &- life.block.address.rawValue
    let kind: MemoryError.Kind
    if offset != 0 {
      kind = .freeOfInterior(offset: offset)
    } else {
      kind = Self.kindOfSecondEnd(event.operation)
    }
    errors.append(
      MemoryError(
        kind: kind, address: Address(event.address), block: life.block, firstFree: life.end,
        offending: Self.site(suspect)))
  }

  static func kindOfSecondEnd(_ operation: UInt8) -> MemoryError.Kind {
    Operation(rawValue: operation) == .reallocBegin ? .reallocOfFreed : .doubleFree
  }

  static func site(_ suspect: RareEvents.Suspect) -> MemoryError.EventSite {
    MemoryError.EventSite(
      operation: Operation(rawValue: suspect.operation), stack: StackID(suspect.stack),
      thread: ThreadIndex(suspect.slot), time: EventTime(suspect.time))
  }
}

/// Says for most addresses at once that they are of no interest.
struct PageFilter {
  private var bits = [UInt64](repeating: 0, count: 1024)
  private static let pageShift: UInt64 = 12

  @inline(__always)
  private static func hash(_ page: UInt64) -> Int {
    Int(truncatingIfNeeded: (page &* 0x9e37_79b9_7f4a_7c15) >> 48)
  }

  mutating func insert(_ address: UInt64) {
    let bit = Self.hash(address >> Self.pageShift)
    bits[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  @inline(__always)
  func mayContain(_ address: UInt64, size: UInt64) -> Bool {
    let first = address >> Self.pageShift
    let last = (address &+ (max(size, 1) &- 1)) >> Self.pageShift
    // Large blocks and those that wrap around are looked at closely.
    guard last &- first < 8 else { return true }
    for page in first...last {
      let bit = Self.hash(page)
      if bits[bit >> 6] >> UInt64(bit & 63) & 1 != 0 { return true }
    }
    return false
  }
}
