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
    var key: UInt64
    var block: MemoryError.BlockSummary
    var end: MemoryError.EventSite?

    /// The time of its latest event.
    var lastTime: EventTime { max(block.allocation.time, end?.time ?? block.allocation.time) }
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
  /// Tells which announced blocks end without a word; nil in a trace without any.
  private var implied: ImpliedEnds?

  private(set) var errors: [MemoryError] = []
  /// Deallocations of addresses that the trace has never seen allocated.
  private(set) var strangers: [Stranger] = []

  /// - Parameters:
  ///   - suspects: In the order of their events.
  ///   - hasAnnounced: Whether a block may be of the program's own allocators.
  init(suspects: [RareEvents.Suspect], hasAnnounced: Bool = false) {
    self.suspects = suspects
    implied = hasAnnounced ? ImpliedEnds() : nil
    let keys = suspects.map(\.address)
    // What is freed in the wrong way lives as a block of the other kind.
    addresses = Set(hasAnnounced ? keys + keys.map(BlockKey.other) : keys).sorted()
    lives = Array(repeating: nil, count: addresses.count)
    neighbours = Array(repeating: Neighbours(), count: addresses.count)
    ends = Array(repeating: nil, count: addresses.count)
    pages = PageFilter()
    addresses.forEach { pages.insert($0) }
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      index &+= 1
      if implied != nil { closeImplied(run.events + position, run) }
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
      address: BlockKey.address(of: event.address, allocation.operation), size: event.size,
      alignment: run.alignment(of: pointer), allocation: allocation)
    workLeft -= near.count
    for position in near {
      if inside.contains(addresses[position]) {
        lives[position] = Life(key: event.address, block: block)
      } else {
        neighbours[position].add(block, of: place(addresses[position]))
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

  /// Notes which announced blocks end with what they lie in, or are replaced.
  @inline(never)
  private mutating func closeImplied(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let keys = implied?.follow(
      event.pointee.operation, event.pointee.address, event.pointee.size, run.slot)
    for key in keys ?? [] { close(event.pointee, run, key: key) }
  }

  @inline(never)
  private mutating func close(_ event: RawEvent, _ run: EventRun) {
    close(event, run, key: event.address)
  }

  /// Ends the block with a key, by an event that may be about another one.
  private mutating func close(_ event: RawEvent, _ run: EventRun, key: UInt64) {
    guard let positions = followed[key] else { return }
    workLeft -= positions.count
    let site = MemoryError.EventSite(
      operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
      thread: ThreadIndex(run.slot), time: EventTime(event.time))
    for position in positions {
      if lives[position]?.key == key, lives[position]?.end == nil { lives[position]?.end = site }
      neighbours[position].remove(blockAt: place(key))
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

  /// Where a block with a key is.
  private func place(_ key: UInt64) -> UInt64 {
    implied == nil ? key : BlockKey.start(key)
  }

  // MARK: Judgement

  private mutating func judge(_ event: RawEvent) {
    let suspect = suspects[next]
    next += 1
    let position = addresses.partitioningIndex { $0 >= event.address }
    guard position < lives.count else { return }
    if let error = mismatch(event, suspect, position) {
      errors.append(error)
      return
    }
    if isOfOtherThread(suspect, position) { return }
    guard let life = lives[position] else {
      let neighbour = neighbours[position].likeliest(
        for: Operation(rawValue: event.operation), of: place(event.address))
      strangers.append(
        Stranger(suspect: suspect, previous: ends[position], neighbour: neighbour))
      ends[position] = Self.site(suspect)
      return
    }
    let offset = event.address &- life.key
    let kind: MemoryError.Kind
    if offset != 0 {
      kind = .freeOfInterior(offset: offset)
    } else {
      kind = Self.kindOfSecondEnd(event.operation)
    }
    errors.append(
      MemoryError(
        kind: kind, address: suspect.blockAddress, block: life.block, firstFree: life.end,
        offending: Self.site(suspect)))
  }

  /// For a deallocation of a block of the other kind: by `free` of one that was announced, or the other way round.
  ///
  /// Not where a block of this kind was at the address later.
  private func mismatch(
    _ event: RawEvent, _ suspect: RareEvents.Suspect, _ position: Int
  ) -> MemoryError? {
    guard implied != nil else { return nil }
    let key = BlockKey.other(event.address)
    let other = addresses.partitioningIndex { $0 >= key }
    guard other < lives.count, addresses[other] == key, let life = lives[other], life.key == key,
      life.end == nil
    else { return nil }
    if let own = lives[position], own.key == event.address,
      own.lastTime >= life.block.allocation.time
    {
      return nil
    }
    return MemoryError(
      kind: .mismatched, address: suspect.blockAddress, block: life.block, firstFree: nil,
      offending: Self.site(suspect))
  }

  /// Whether an announced block ended with what it lay in, which another thread has freed so shortly before that
  /// the times of both events do not tell which came first.
  private func isOfOtherThread(_ suspect: RareEvents.Suspect, _ position: Int) -> Bool {
    guard let life = lives[position], life.key == suspect.address, let end = life.end,
      BlockKey.isAnnounced(suspect.address), end.operation != .announcedEnd
    else { return false }
    return end.thread.rawValue != suspect.slot
      && suspect.time &- end.time.rawValue <= Self.untimedSpan
  }

  /// How much earlier than it was an event may be said to be: the recorder's `MT_UNTIMED_SPAN`.
  private static let untimedSpan: UInt64 = 4096

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
