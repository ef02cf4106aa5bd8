extension Trace {
  /// The events of every block that contains an address, in order.
  ///
  /// - Parameters:
  ///   - address: Any address inside a block, not only its start.
  ///   - options: The time range, `liveAt` and `eventLimit` restrict the events; the rest does
  ///     not matter.
  /// - Returns: Allocations and deallocations; empty when no block contained the address.
  /// - Throws: Nothing at present: parts that cannot be read are left out.
  public func history(
    of address: Address, options: ReplayOptions = ReplayOptions()
  ) throws(TraceError) -> [HistoryEntry] {
    var pass = HistoryPass(address: address.rawValue, limits: ReplayLimits(options))
    var merger = EventMerger(
      file: file, chunks: eventChunks,
      progress: EventProgress(total: eventBytes, body: options.progress))
    merger.run(&pass)
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

  private(set) var entries: [HistoryEntry] = []
  private let address: UInt64
  private let limits: ReplayLimits
  private let table = OperationTable()
  private var index: UInt64 = 0
  /// By the start of the block.
  private var blocks: [UInt64: Block] = [:]
  /// Threads in the middle of a `realloc` of a block that is followed, and its start.
  private var pending: [UInt32: UInt64] = [:]

  init(address: UInt64, limits: ReplayLimits) {
    self.address = address
    self.limits = limits
  }

  mutating func receive(_ pointer: UnsafePointer<RawEvent>) -> Bool {
    let event = pointer.pointee
    guard event.time <= limits.lastTime, index < limits.eventCount else { return false }
    let bit = UInt64(1) << UInt64(event.operation)
    if bit & table.allocations != 0 || event.operation == Operation.reallocEnd.rawValue {
      begin(event)
    } else if bit & table.deallocations != 0 || event.operation == Operation.reallocBegin.rawValue {
      end(event)
    } else if event.operation == Operation.reallocFail.rawValue {
      restore(event)
    } else if event.operation == Operation.reallocLeft.rawValue {
      pending[event.slot] = nil
    }
    index &+= 1
    return true
  }

  @inline(__always)
  private mutating func begin(_ event: RawEvent) {
    if address &- event.address < max(event.size, 1) {
      blocks[event.address] = Block(size: event.size, isLive: true)
      add(event, event.address, event.size, isUnexpected: false)
    } else if !blocks.isEmpty {
      blocks[event.address] = nil
    }
  }

  @inline(__always)
  private mutating func end(_ event: RawEvent) {
    guard !blocks.isEmpty || event.address == address else { return }
    guard let block = blocks[event.address] else {
      if event.address == address { add(event, address, nil, isUnexpected: true) }
      return
    }
    add(event, event.address, block.size, isUnexpected: !block.isLive)
    blocks[event.address]?.isLive = false
    if event.operation == Operation.reallocBegin.rawValue, block.isLive {
      pending[event.slot] = event.address
    }
  }

  private mutating func restore(_ event: RawEvent) {
    guard let start = pending.removeValue(forKey: event.slot), let block = blocks[start] else {
      return
    }
    blocks[start]?.isLive = true
    add(event, start, block.size, isUnexpected: false)
  }

  private mutating func add(_ event: RawEvent, _ block: UInt64, _ size: UInt64?, isUnexpected: Bool)
  {
    guard event.time >= limits.firstTime else { return }
    entries.append(
      HistoryEntry(
        event: Event(event), eventIndex: index, block: Address(block), blockSize: size,
        offset: address &- block, isUnexpected: isUnexpected))
  }
}
