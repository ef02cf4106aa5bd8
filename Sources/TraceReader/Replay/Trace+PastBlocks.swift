extension Trace {
  /// Finds the last block that covered each of some addresses.
  ///
  /// - Parameters:
  ///   - addresses: In any order; equal ones count once.
  ///   - time: Events after it are left out.
  ///   - extent: How far the blocks of the process's allocator reach.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: One element per address.
  /// - Throws: Nothing at present: parts that cannot be read are left out.
  /// - Complexity: O(*events* · log *addresses*) time, 104 bytes per address.
  public func pastBlocks(
    covering addresses: consuming [UInt64], upTo time: EventTime, extent: BlockExtent,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws(TraceError) -> PastBlocks {
    addresses.sort()
    var last: UInt64?
    addresses.removeAll { address in
      defer { last = address }
      return address == last
    }
    var pass = PastBlocksPass(addresses, upTo: time.rawValue, extent: extent)
    if !pass.blocks.isEmpty {
      var merger = EventMerger(
        file: file, chunks: eventChunks(to: time.rawValue), progress: progress)
      merger.run(&pass)
      pass.finish()
    }
    return PastBlocks(
      addresses: pass.positions.addresses, blocks: pass.blocks, isComplete: pass.workLeft > 0)
  }
}

/// Follows the blocks that cover some addresses.
///
/// What it keeps is bounded by the addresses. The positions of those that a block covers follow each other from
/// the first one at its beginning or behind it, so that no table of blocks is needed.
struct PastBlocksPass: EventSink {
  /// The beginning of a `realloc`.
  private struct Pending {
    var isActive = false
    var stack: UInt32 = 0
    var address: UInt64 = 0
    var index: UInt64 = 0
  }

  /// How many addresses are changed before the pass gives up.
  private static let greatestWork = 1 << 30

  private(set) var positions: AddressPositions
  private(set) var blocks: [PastBlock]
  private(set) var workLeft = Self.greatestWork
  private let lastTime: UInt64
  private let extent: BlockExtent
  private var index: UInt64 = 0
  /// By the slots of the threads.
  private var pending: [Pending] = []
  private let (gains, losses): (UInt64, UInt64)

  /// - Parameters:
  ///   - addresses: Ascending, each once.
  ///   - time: The first event after it ends the pass.
  ///   - extent: How far blocks reach.
  init(_ addresses: [UInt64], upTo time: UInt64, extent: BlockExtent) {
    positions = AddressPositions(addresses)
    blocks = Array(repeating: PastBlock(), count: addresses.count)
    lastTime = time
    self.extent = extent
    let table = OperationTable()
    (gains, losses) = (table.gains, table.losses)
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      let event = run.events + position
      guard event.pointee.time <= lastTime, workLeft > 0 else { return false }
      look(at: event, run)
      index &+= 1
    }
    return true
  }

  @inline(__always)
  private mutating func look(at event: UnsafePointer<RawEvent>, _ run: EventRun) {
    let operation = UInt64(event.pointee.operation)
    if (gains &>> operation) & 1 != 0 {
      begin(event, run)
    } else if (losses &>> operation) & 1 != 0 {
      end(event, run)
    } else if operation == UInt64(Operation.reallocFail.rawValue) {
      restore(Int(run.slot))
    } else if operation == UInt64(Operation.reallocLeft.rawValue) {
      takePending(Int(run.slot)) { _ in }
    }
  }

  // MARK: Blocks

  @inline(__always)
  private mutating func begin(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    var (operation, stack) = (event.pointee.operation, event.pointee.stack)
    if operation == Operation.reallocEnd.rawValue {
      (operation, stack) = (Operation.realloc.rawValue, 0)
      takePending(Int(run.slot)) { stack = $0.stack }
    }
    let size = extent.reach(event.pointee.size)
    guard let first = positions.first(from: event.pointee.address, size: size) else { return }
    cover(first, event.pointee, size, operation, stack, run.thread)
  }

  @inline(never)
  private mutating func cover(
    _ first: Int, _ event: RawEvent, _ size: UInt64, _ operation: UInt8, _ stack: UInt32,
    _ thread: UInt32
  ) {
    var position = first
    while position < blocks.count, positions.addresses[position] &- event.address < size {
      blocks[position].begin(event, operation, stack, thread: thread, index: index)
      position += 1
    }
    workLeft -= position - first
    // Its end has to be seen, too.
    positions.addPage(of: event.address, at: first)
  }

  @inline(__always)
  private mutating func end(_ event: UnsafePointer<RawEvent>, _ run: EventRun) {
    if event.pointee.operation == Operation.reallocBegin.rawValue {
      notePending(event.pointee, Int(run.slot))
    }
    guard let first = first(from: event.pointee.address) else { return }
    close(first, event.pointee, run.thread)
  }

  @inline(never)
  private mutating func close(_ first: Int, _ event: RawEvent, _ thread: UInt32) {
    var position = first
    while position < blocks.count, blocks[position].isKnown,
      blocks[position].address == event.address, !blocks[position].isFreed
    {
      blocks[position].finish(event, thread: thread, index: index)
      position += 1
      workLeft -= 1
    }
  }

  /// The position of the first address that a block which begins here may cover; nil where none is.
  @inline(__always)
  private func first(from start: UInt64) -> Int? {
    positions.position(from: start)
  }

  // MARK: Reallocation

  @inline(never)
  private mutating func notePending(_ event: RawEvent, _ slot: Int) {
    while pending.count <= slot { pending.append(Pending()) }
    pending[slot] = Pending(
      isActive: true, stack: event.stack, address: event.address, index: index)
  }

  private mutating func takePending(_ slot: Int, _ body: (Pending) -> Void) {
    guard slot < pending.count, pending[slot].isActive else { return }
    pending[slot].isActive = false
    body(pending[slot])
  }

  /// A `realloc` that failed has ended no block.
  private mutating func restore(_ slot: Int) {
    guard slot < pending.count, pending[slot].isActive else { return }
    pending[slot].isActive = false
    let (start, index) = (pending[slot].address, pending[slot].index)
    var position = first(from: start) ?? blocks.count
    while position < blocks.count, blocks[position].address == start, blocks[position].end == index
    {
      blocks[position].revive()
      position += 1
      workLeft -= 1
    }
  }

  /// Brings back the blocks in the middle of a `realloc` when the events ended.
  mutating func finish() {
    for slot in pending.indices { restore(slot) }
  }
}
