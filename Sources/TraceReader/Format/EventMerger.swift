/// Takes the events of a trace one after the other.
protocol EventSink: ~Copyable {
  /// - Returns: false to see no more events.
  mutating func receive(_ event: RawEvent) -> Bool
}

/// Brings the events of all chunks into one order by time.
///
/// Each chunk is in order already, so this is a merge of the chunks that overlap in time. A chunk
/// is opened when the merge has come to its base time; only open chunks cost memory. At equal
/// times a deallocation comes before what is none: it was stamped before the real call, an
/// allocation after it, so a block whose address was handed on at that moment has one owner.
/// A chunk that a thread began waits for the one in which the same thread wrote before.
struct EventMerger: ~Copyable {
  /// An open chunk in the heap, ordered by the event it has next.
  private struct Head {
    var time: UInt64
    /// The top bit is clear for deallocations; below it the chunk's sequence.
    var tieBreak: UInt64
    var cursor: Int

    @inline(__always)
    func precedes(_ other: Head) -> Bool {
      time != other.time ? time < other.time : tieBreak < other.tieBreak
    }
  }

  private let file: TraceFile
  private let chunks: [EventChunk]
  private let table = OperationTable()
  private let progress: EventProgress
  private var heads: [Head] = []
  private var cursors: UnsafeMutablePointer<EventCursor>
  private var cursorCount = 0
  private var cursorCapacity = 16
  private var freeCursors: [Int] = []
  private var nextChunk = 0
  private var bytesDone: UInt64 = 0
  /// The threads that have been met.
  private(set) var slots = ThreadSlots()
  /// What could not be decoded.
  private(set) var damage: [Damage] = []

  private static let windowSize = 64 << 10
  /// With more open chunks than this, windows shrink, so that memory stays small.
  private static let manyCursors = 256
  private static let smallWindowSize = 4 << 10

  init(file: TraceFile, chunks: [EventChunk], progress: EventProgress) {
    self.file = file
    self.chunks = chunks
    self.progress = progress
    cursors = .allocate(capacity: cursorCapacity)
  }

  deinit {
    for head in heads { cursors[head.cursor].deallocate() }
    cursors.deallocate()
  }

  /// Hands all events to a sink, until it wants no more.
  mutating func run<Sink: EventSink & ~Copyable>(_ sink: inout Sink) {
    while openDueChunks() {
      guard advanceFirst(&sink) else { break }
    }
    progress.finish()
  }

  /// Hands on the events of the first chunk until another one is due.
  @inline(__always)
  private mutating func advanceFirst<Sink: EventSink & ~Copyable>(_ sink: inout Sink) -> Bool {
    let index = heads[0].cursor
    let limit = timeOfNext()
    var cursor = cursors[index]
    repeat {
      guard sink.receive(cursor.decoder.event) else {
        cursors[index] = cursor
        return false
      }
      guard cursor.advance(file: file, slots: &slots) else {
        cursors[index] = cursor
        closeFirst()
        return true
      }
    } while cursor.decoder.event.time < limit
    cursors[index] = cursor
    heads[0] = head(of: index)
    siftDown()
    return true
  }

  /// The earliest time at which another chunk has to say something.
  @inline(__always)
  private func timeOfNext() -> UInt64 {
    var limit = nextChunk < chunks.count ? chunks[nextChunk].baseTime : .max
    if heads.count > 1 { limit = min(limit, heads[1].time) }
    if heads.count > 2 { limit = min(limit, heads[2].time) }
    return limit
  }

  @inline(__always)
  private func head(of index: Int) -> Head {
    let event = cursors[index].decoder.event
    let isFree = (table.deallocations | Self.reallocBegin) >> UInt64(event.operation) & 1 != 0
    return Head(
      time: event.time,
      tieBreak: cursors[index].sequence & ~Self.topBit | (isFree ? 0 : Self.topBit),
      cursor: index)
  }

  private static let topBit: UInt64 = 1 << 63
  private static let reallocBegin = UInt64(1) << UInt64(Operation.reallocBegin.rawValue)

  // MARK: Opening and closing

  /// Opens the chunks whose base time has come; false when no chunk is left.
  @inline(__always)
  private mutating func openDueChunks() -> Bool {
    while nextChunk < chunks.count {
      if let first = heads.first, first.time < chunks[nextChunk].baseTime { break }
      nextChunk += 1
      open(nextChunk - 1)
    }
    return !heads.isEmpty
  }

  @inline(never)
  private mutating func open(_ chunkIndex: Int) {
    let chunk = chunks[chunkIndex]
    if chunk.thread != 0, wait(chunkIndex, for: chunk.thread) { return }
    let windowSize = heads.count < Self.manyCursors ? Self.windowSize : Self.smallWindowSize
    let index = freeCursors.popLast() ?? addCursor()
    var cursor = EventCursor(chunk: chunk, index: index, windowSize: windowSize, table: table)
    cursor.decoder.event.slot = slots.enter(chunk.thread, cursor: index)
    if cursor.advance(file: file, slots: &slots) {
      (cursors + index).initialize(to: cursor)
      heads.append(head(of: index))
      siftUp()
    } else {
      finish(&cursor)
      (cursors + index).initialize(to: cursor)
    }
  }

  /// Lets a chunk wait for the one its thread is still in; false when there is none.
  private mutating func wait(_ chunkIndex: Int, for thread: UInt32) -> Bool {
    let index = slots.cursor(of: thread)
    guard index >= 0, cursors[index].isOpen, cursors[index].decoder.event.thread == thread,
      cursors[index].successor < 0
    else { return false }
    cursors[index].successor = chunkIndex
    return true
  }

  /// Makes room for one more cursor and returns its index.
  private mutating func addCursor() -> Int {
    if cursorCount == cursorCapacity {
      let larger = UnsafeMutablePointer<EventCursor>.allocate(capacity: cursorCapacity * 2)
      larger.moveInitialize(from: cursors, count: cursorCount)
      cursors.deallocate()
      cursors = larger
      cursorCapacity *= 2
    }
    cursorCount += 1
    return cursorCount - 1
  }

  @inline(never)
  private mutating func closeFirst() {
    let index = heads[0].cursor
    let last = heads.removeLast()
    if !heads.isEmpty {
      heads[0] = last
      siftDown()
    }
    finish(&cursors[index])
    let successor = cursors[index].successor
    if successor >= 0 { open(successor) }
  }

  private mutating func finish(_ cursor: inout EventCursor) {
    if let entry = cursor.damage { damage.append(entry) }
    cursor.deallocate()
    cursor.isOpen = false
    freeCursors.append(cursor.index)
    bytesDone &+= UInt64(cursor.length)
    progress.report(bytesDone)
  }

  // MARK: Heap

  private mutating func siftUp() {
    var child = heads.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heads[child].precedes(heads[parent]) else { return }
      heads.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    let count = heads.count
    heads.withUnsafeMutableBufferPointer { heads in
      guard let moved = heads.first else { return }
      var hole = 0
      while true {
        var child = 2 * hole + 1
        if child >= count { break }
        if child + 1 < count, heads[child + 1].precedes(heads[child]) { child += 1 }
        guard heads[child].precedes(moved) else { break }
        heads[hole] = heads[child]
        hole = child
      }
      heads[hole] = moved
    }
  }
}
