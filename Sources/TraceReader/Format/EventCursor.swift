/// Where a merge is in one chunk.
struct EventCursor {
  /// The events to go through, which are the reader's.
  private(set) var batch: EventBatch
  /// The next one among them.
  var next = 0
  /// Retained.
  let reader: Unmanaged<ChunkReader>

  /// The number of the chunk among all chunks, which decides between equal times.
  let sequence: UInt64
  /// The number of this cursor, for ``ThreadSlots``.
  let index: Int
  /// A dense number of the thread of the batch.
  private(set) var slot: UInt32 = 0
  var isOpen = true
  /// Chunks that wait for this one, from the first to the last; -1 when there are none.
  private(set) var firstSuccessor = -1
  private(set) var lastSuccessor = -1
  /// They wait until this one has come to this time; the greatest when there are none.
  private(set) var successorLimit = UInt64.max

  /// Begins before the first event of a reader's chunk.
  ///
  /// - Parameters:
  ///   - reader: The reader, at its beginning.
  ///   - index: The number of the cursor.
  init(reader: ChunkReader, index: Int) {
    self.reader = .passRetained(reader)
    self.index = index
    batch = reader.batch
    sequence = reader.chunk.sequence
  }

  func deallocate() {
    reader.release()
  }

  /// The time of the next event.
  @inline(__always)
  var nextTime: UInt64 { batch.events[next].time }

  /// Goes on to the next batch of the chunk.
  ///
  /// - Returns: false at the end of the chunk.
  mutating func takeBatch(slots: inout ThreadSlots) -> Bool {
    next = 0
    let reader = reader.takeUnretainedValue()
    reader.decode()
    batch = reader.batch
    slot = slots.enter(batch.thread, cursor: index)
    if batch.threadAfter != batch.thread { _ = slots.enter(batch.threadAfter, cursor: index) }
    return batch.count > 0
  }

  /// Whether the chunk holds events of a thread here or directly behind the batch.
  func holds(_ thread: UInt32) -> Bool {
    batch.thread == thread || batch.threadAfter == thread
  }

  /// How many events there are before one that is not before `limit`; one at least.
  @inline(__always)
  func length(before limit: UInt64) -> Int {
    if batch.greatestTime < limit { return batch.count &- next }
    var end = next &+ 1
    while end < batch.count, batch.events[end].time < limit { end &+= 1 }
    return end &- next
  }

  // MARK: Successors

  /// Lets a chunk wait, behind those that do so already, until there are no more events of a time.
  mutating func addSuccessor(_ chunk: Int, waitingFor time: UInt64) {
    if firstSuccessor < 0 { firstSuccessor = chunk }
    lastSuccessor = chunk
    successorLimit = time == .max ? .max : time + 1
  }

  /// Lets chunks wait that have waited for another one.
  mutating func takeSuccessors(from first: Int, to last: Int, limit: UInt64) {
    (firstSuccessor, lastSuccessor, successorLimit) = (first, last, limit)
  }

  mutating func clearSuccessors() {
    (firstSuccessor, lastSuccessor, successorLimit) = (-1, -1, .max)
  }
}

/// Dense numbers for the threads of a trace, in the order in which their events come.
///
/// Thread indices come from the file and may be any number, so they cannot index an array.
struct ThreadSlots {
  private(set) var threads: [UInt32] = []
  private var slots: [UInt32: UInt32] = [:]
  private var cursors: [Int] = []

  /// More threads than this share the last slot: a damaged trace can name any number of them.
  private static let greatestCount = 1 << 22

  mutating func slot(of thread: UInt32) -> UInt32 {
    if let slot = slots[thread] { return slot }
    guard threads.count < Self.greatestCount else { return UInt32(Self.greatestCount - 1) }
    let slot = UInt32(threads.count)
    threads.append(thread)
    cursors.append(-1)
    slots[thread] = slot
    return slot
  }

  /// Notes that a thread goes on in the chunk with this cursor, and returns the thread's slot.
  mutating func enter(_ thread: UInt32, cursor: Int) -> UInt32 {
    let slot = slot(of: thread)
    cursors[Int(slot)] = cursor
    return slot
  }

  /// The cursor that a thread was last seen in; -1 when there is none.
  func cursor(of thread: UInt32) -> Int {
    slots[thread].map { cursors[Int($0)] } ?? -1
  }
}
