extension Trace {
  /// The events of every block that contains an address, in order.
  ///
  /// - Parameters:
  ///   - address: Any address inside a block, not only its start.
  ///   - options: The time range, `liveAt` and `eventLimit` restrict the events; the rest does
  ///     not matter.
  ///   - damaged: Called with each part that cannot be read, and was left out.
  /// - Returns: Allocations, deallocations and attempts of `realloc`; empty when no block contained the address.
  /// - Throws: Nothing at present.
  public func history(
    of address: Address, options: ReplayOptions = ReplayOptions(),
    damaged: (Damage) -> Void = { _ in }
  ) throws(TraceError) -> [HistoryEntry] {
    let limits = ReplayLimits(options)
    var pass = HistoryPass(
      address: address.rawValue, limits: limits,
      hasAnnounced: header.flags.contains(.announced))
    var merger = EventMerger(
      file: file, chunks: eventChunks(to: limits.lastTime), progress: options.progress)
    merger.run(&pass)
    merger.damage.forEach(damaged)
    return pass.entries
  }
}

/// Follows the blocks that contain one address.
private struct HistoryPass: EventSink {
  /// A block that contains the address, or was the last one to do so from its start.
  private struct Block {
    var size: UInt64
    var isLive: Bool
  }

  /// A `realloc` that has begun.
  private struct Pending {
    /// The key of the block.
    var key: UInt64
    /// Where its beginning is among the entries; nil where it is left out.
    var entry: Int?
  }

  private(set) var entries: [HistoryEntry] = []
  private let address: UInt64
  private let limits: ReplayLimits
  private let table = OperationTable()
  private var index: UInt64 = 0
  /// By the key of the block.
  private var blocks: [UInt64: Block] = [:]
  /// Threads in the middle of a `realloc` of a block that is followed.
  private var pending: [UInt32: Pending] = [:]
  /// Tells which announced blocks end without a word; nil in a trace without any.
  private var implied: ImpliedEnds?

  init(address: UInt64, limits: ReplayLimits, hasAnnounced: Bool) {
    implied = hasAnnounced ? ImpliedEnds() : nil
    self.address = address
    self.limits = limits
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      let event = run.events + position
      guard event.pointee.time <= limits.lastTime, index < limits.eventCount else { return false }
      if implied != nil { endImplied(event, run) }
      follow(event, run)
      index &+= 1
    }
    return true
  }

  @inline(__always)
  private mutating func follow(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let operation = event.pointee.operation
    let bit = OperationTable.bit(operation)
    if bit & table.allocations != 0 || operation == Operation.reallocEnd.rawValue {
      begin(event, run)
    } else if bit & table.deallocations != 0 || operation == Operation.reallocBegin.rawValue {
      end(event, run)
    } else if operation == Operation.reallocFail.rawValue {
      restore(event, run)
    } else if operation == Operation.reallocLeft.rawValue {
      pending[run.slot] = nil
    }
  }

  /// Notes which announced blocks end with what they lie in, or are replaced.
  @inline(never)
  private mutating func endImplied(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let keys = implied?.follow(
      event.pointee.operation, event.pointee.address, event.pointee.size, run.slot)
    for key in keys ?? [] { blocks[key]?.isLive = false }
  }

  /// Where the block of an event begins.
  @inline(__always)
  private func start(of event: UnsafePointer<RawEvent>) -> UInt64 {
    BlockKey.address(
      of: event.pointee.address, Operation(rawValue: event.pointee.operation)
    ).rawValue
  }

  @inline(__always)
  private mutating func begin(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let (start, size) = (start(of: event), event.pointee.size)
    if address &- start < max(size, 1) {
      blocks[event.pointee.address] = Block(size: size, isLive: true)
      add(event, run, start, size, isUnexpected: false)
    } else if !blocks.isEmpty {
      blocks[event.pointee.address] = nil
    }
  }

  @inline(__always)
  private mutating func end(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let (start, key) = (start(of: event), event.pointee.address)
    guard !blocks.isEmpty || start == address else { return }
    guard let block = blocks[key] else {
      if start == address { add(event, run, address, nil, isUnexpected: true) }
      return
    }
    let position = entries.count
    add(event, run, start, block.size, isUnexpected: !block.isLive)
    blocks[key]?.isLive = false
    if event.pointee.operation == Operation.reallocBegin.rawValue, block.isLive {
      pending[run.slot] = Pending(key: key, entry: position < entries.count ? position : nil)
    }
  }

  /// Makes the beginning of a `realloc` that returned NULL the whole of it: the block lives on, and
  /// only the beginning has a stack.
  private mutating func restore(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    guard let begun = pending.removeValue(forKey: run.slot) else { return }
    blocks[begun.key]?.isLive = true
    guard let entry = begun.entry else { return }
    entries[entry].event.operation = .reallocFail
    entries[entry].event.size = event.pointee.size
  }

  private mutating func add(
    _ event: UnsafePointer<RawEvent>, _ run: EventRun, _ block: UInt64, _ size: UInt64?,
    isUnexpected: Bool
  ) {
    guard event.pointee.time >= limits.firstTime else { return }
    entries.append(
      HistoryEntry(
        event: Event(run.batch, event), eventIndex: index, block: Address(block), blockSize: size,
        offset: address &- block, isUnexpected: isUnexpected))
  }
}
