import CTraceFormat

/// Goes through the events of one chunk, reading it window by window and batch by batch.
struct EventCursor {
  /// The events decoded last.
  let events: UnsafeMutablePointer<RawEvent>
  /// The next event among them.
  var next = 0
  /// How many there are.
  private(set) var count = 0

  /// The number of the chunk among all chunks, which decides between equal times.
  let sequence: UInt64
  /// The number of this cursor, for ``ThreadSlots``.
  let index: Int
  /// Bytes of events in the chunk.
  let length: Int
  var isOpen = true
  /// Chunks that wait for this one, from the first to the last; -1 when there are none.
  private(set) var firstSuccessor = -1
  private(set) var lastSuccessor = -1
  /// They wait until this one has come to this time; the greatest when there are none.
  private(set) var successorLimit = UInt64.max
  /// Why the chunk ended early; nil when it did not.
  private(set) var damage: Damage?

  private var decoder: EventDecoder
  private var hasEnded = false
  private let chunkOffset: UInt64
  private let isCut: Bool
  private let predictor: UnsafeMutablePointer<mt_predictor>?
  private let buffer: UnsafeMutableRawBufferPointer
  private var nextOffset: UInt64
  private var unread: Int

  init(chunk: EventChunk, index: Int, windowSize: Int, table: OperationTable, slot: UInt32) {
    self.index = index
    length = chunk.length
    sequence = chunk.sequence
    chunkOffset = chunk.offset
    isCut = chunk.isCut
    nextOffset = chunk.offset
    unread = chunk.length
    let capacity = min(chunk.length, max(windowSize, 2 * EventDecoder.guardLength))
    buffer = .allocate(byteCount: capacity + EventDecoder.guardLength, alignment: 16)
    events = .allocate(capacity: EventDecoder.batchSize)
    events.initialize(repeating: RawEvent(), count: EventDecoder.batchSize)
    predictor = chunk.isPredicted ? .allocate(capacity: 1) : nil
    predictor?.initialize(to: mt_predictor())
    decoder = EventDecoder(
      events: events, window: UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped),
      time: chunk.baseTime, thread: chunk.thread, table: table, predictor: predictor)
    decoder.slot = slot
  }

  func deallocate() {
    buffer.deallocate()
    events.deallocate()
    predictor?.deallocate()
  }

  /// The time of the next event.
  var nextTime: UInt64 { events[next].time }

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

  /// The thread that the next event to be decoded belongs to.
  var thread: UInt32 { decoder.thread }

  /// Decodes the next batch.
  ///
  /// - Returns: false at the end of the chunk, which may be early: see ``damage``.
  @inline(never)
  mutating func nextBatch(file: TraceFile, slots: inout ThreadSlots) -> Bool {
    next = 0
    decoder.clearBatch()
    while !hasEnded, decoder.count == 0 {
      if decoder.position >= decoder.lastStart, unread > 0 { refill(from: file) }
      switch decoder.fill() {
      case .batch: if decoder.position >= decoder.lastStart, unread == 0 { hasEnded = true }
      case .thread: decoder.slot = slots.enter(decoder.thread, cursor: index)
      case .end: hasEnded = true
      case .pastEnd: stop(isCut ? nil : "an event runs past the end of its chunk")
      case .malformed: stop("bytes that are no event")
      }
    }
    count = decoder.count
    return count > 0
  }

  private mutating func stop(_ reason: String?) {
    hasEnded = true
    guard let reason, damage == nil else { return }
    let rest = UInt64(decoder.end - decoder.position) &+ UInt64(unread)
    damage = Damage(
      offset: chunkOffset &+ UInt64(length) &- rest, length: rest, reason: reason)
  }

  /// Moves the rest of the window to its front and reads on behind it.
  private mutating func refill(from file: TraceFile) {
    let base = buffer.baseAddress.unsafelyUnwrapped
    let rest = decoder.end - decoder.position
    base.copyMemory(from: decoder.position, byteCount: rest)
    let room = buffer.count - EventDecoder.guardLength - rest
    let wanted = min(room, unread)
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[rest..<rest + wanted])
    var done = 0
    do throws(TraceError) {
      done = try file.read(at: nextOffset, into: target)
    } catch {
      damage = Damage(offset: nextOffset, length: UInt64(unread), reason: error.context)
    }
    // A file that became shorter while it is read is a cut file.
    unread = done < wanted ? 0 : unread - done
    nextOffset &+= UInt64(done)
    let end = rest + done
    UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + EventDecoder.guardLength])
      .initializeMemory(as: UInt8.self, repeating: 0)
    decoder.position = UnsafeRawPointer(base)
    decoder.end = UnsafeRawPointer(base + end)
    let isLast = unread == 0 || end < EventDecoder.guardLength
    decoder.lastStart = isLast ? decoder.end : decoder.end - EventDecoder.guardLength
  }
}
