import CTraceFormat

/// Goes through the events of one chunk, reading it window by window and batch by batch.
struct EventCursor {
  /// The encodings of event chunks that it decodes.
  static let encodings = [
    MT_ENCODING_VARINT.rawValue, MT_ENCODING_PREDICTED.rawValue, MT_ENCODING_COLUMNS.rawValue,
  ]

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
  /// Takes the place of the decoder for a chunk in columns, from its first batch on.
  private var columns: ColumnDecoder?
  private let isInColumns: Bool
  private let table: OperationTable
  private let baseTime: UInt64
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
    isInColumns = chunk.encoding == MT_ENCODING_COLUMNS.rawValue
    self.table = table
    baseTime = chunk.baseTime
    let windowSize = isInColumns ? 0 : windowSize
    let capacity = min(chunk.length, max(windowSize, 2 * EventDecoder.guardLength))
    buffer = .allocate(byteCount: capacity + EventDecoder.guardLength, alignment: 16)
    events = .allocate(capacity: EventDecoder.batchSize)
    events.initialize(repeating: RawEvent(), count: EventDecoder.batchSize)
    predictor = chunk.encoding == MT_ENCODING_PREDICTED.rawValue ? .allocate(capacity: 1) : nil
    predictor?.initialize(to: mt_predictor())
    decoder = EventDecoder(
      events: events, window: UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped),
      time: chunk.baseTime, thread: chunk.thread, table: table, predictor: predictor)
    decoder.slot = slot
  }

  func deallocate() {
    columns?.deallocate()
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
  var thread: UInt32 { columns?.thread ?? decoder.thread }

  /// Decodes the next batch.
  ///
  /// - Returns: false at the end of the chunk, which may be early: see ``damage``.
  @inline(never)
  mutating func nextBatch(file: TraceFile, slots: inout ThreadSlots) -> Bool {
    next = 0
    if isInColumns { return nextColumnBatch(file: file, slots: &slots) }
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

  // MARK: Columns

  /// As ``nextBatch(file:slots:)``, for a chunk in columns, which is read as a whole.
  private mutating func nextColumnBatch(file: TraceFile, slots: inout ThreadSlots) -> Bool {
    count = 0
    if columns == nil, !hasEnded { openColumns(file) }
    while !hasEnded, count == 0, columns != nil {
      let outcome = columns?.fill(events, &count, slot: decoder.slot)
      if outcome == .thread {
        decoder.slot = slots.enter(thread, cursor: index)
      } else if outcome == .malformed {
        stopColumns("columns that do not fit together")
      } else if let columns, columns.next == columns.count {
        hasEnded = true
      }
    }
    return count > 0
  }

  private mutating func openColumns(_ file: TraceFile) {
    guard !isCut, length <= ColumnLayout.greatestLength else {
      stopColumns(isCut ? "the end of its chunk is missing" : "a chunk of columns is too long")
      return
    }
    let content = UnsafeMutableRawBufferPointer.allocate(
      byteCount: length + ColumnDecoder.guardLength, alignment: 16)
    content.initializeMemory(as: UInt8.self, repeating: 0)
    var done = 0
    do throws(TraceError) {
      done = try file.read(
        at: chunkOffset, into: UnsafeMutableRawBufferPointer(rebasing: content[..<length]))
    } catch {
      content.deallocate()
      stopColumns(error.context)
      return
    }
    columns = ColumnDecoder(
      takingOver: content, time: baseTime, thread: decoder.thread, table: table)
    if done < length || columns == nil { stopColumns("columns that do not fit together") }
  }

  /// The place of damage inside columns says nothing: the rest of the chunk's events is lost.
  private mutating func stopColumns(_ reason: String) {
    hasEnded = true
    damage = Damage(offset: chunkOffset, length: UInt64(length), reason: reason)
  }
}
