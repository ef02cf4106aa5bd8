/// Brings the events of all chunks into one order by time.
///
/// Each chunk is in order already, so this is a merge of the chunks that overlap in time. A chunk
/// is opened when the merge has come to its base time; only open chunks cost memory. At equal
/// times a deallocation comes before what is none: it was stamped before the real call, an
/// allocation after it, so a block whose address was handed on at that moment has one owner.
/// A chunk that a thread began waits for the one in which the same thread wrote before, as long as
/// their times are equal.
///
/// One processor does all of it. A second one that decodes ahead made it slower: an event is 1.4 bytes
/// in the file and 32 when it is decoded, which is more to hand over than to decode.
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
  private var heads: UnsafeMutablePointer<Head>
  private var headCount = 0
  private var cursors: UnsafeMutablePointer<EventCursor>
  private var cursorCount = 0
  private var cursorCapacity = 16
  private var freeCursors: [Int] = []
  private let chunkCount: Int
  private var nextChunk = 0
  private var nextBaseTime: UInt64
  /// For a chunk that waits, the one that waits behind it.
  private var waiting: [Int: Int] = [:]
  private var bytesDone: UInt64 = 0
  /// The threads that have been met.
  private(set) var slots = ThreadSlots()
  /// What could not be decoded.
  private(set) var damage: [Damage] = []
  /// When the events are missing that could not be.
  private(set) var lostTimes: [LostTimes] = []

  /// - Parameters:
  ///   - file: What the chunks are of.
  ///   - chunks: Those to be merged, in the order of their base times.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  init(
    file: TraceFile, chunks: [EventChunk], progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) {
    self.file = file
    self.chunks = chunks
    chunkCount = chunks.count
    nextBaseTime = chunks.first?.baseTime ?? .max
    self.progress = EventProgress(of: chunks, body: progress)
    cursors = .allocate(capacity: cursorCapacity)
    heads = .allocate(capacity: cursorCapacity)
  }

  deinit {
    for position in 0..<headCount { cursors[heads[position].cursor].deallocate() }
    cursors.deallocate()
    heads.deallocate()
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
    let cursor = cursors + heads[0].cursor
    let limit = min(timeOfNext(), cursor.pointee.successorLimit)
    repeat {
      let count = cursor.pointee.length(before: limit)
      guard sink.receive(run(of: cursor, count)) else { return false }
      cursor.pointee.next &+= count
      if cursor.pointee.next == cursor.pointee.batch.count {
        guard nextBatch(of: cursor) else {
          closeFirst()
          return true
        }
      }
    } while cursor.pointee.nextTime < limit
    heads[0] = head(of: cursor)
    siftDown()
    if cursor.pointee.nextTime >= cursor.pointee.successorLimit { releaseSuccessor(of: cursor) }
    return true
  }

  @inline(__always)
  private func run(of cursor: UnsafeMutablePointer<EventCursor>, _ count: Int) -> EventRun {
    let next = cursor.pointee.next
    return EventRun(
      batch: cursor.pointee.batch, events: UnsafePointer(cursor.pointee.batch.events + next),
      count: count, slot: cursor.pointee.slot)
  }

  /// Goes on to the next batch of a chunk; false at its end.
  @inline(never)
  private mutating func nextBatch(of cursor: UnsafeMutablePointer<EventCursor>) -> Bool {
    cursor.pointee.takeBatch(slots: &slots)
  }

  /// The earliest time at which another chunk has to say something.
  @inline(__always)
  private func timeOfNext() -> UInt64 {
    var limit = nextBaseTime
    if headCount > 1 { limit = min(limit, heads[1].time) }
    if headCount > 2 { limit = min(limit, heads[2].time) }
    return limit
  }

  @inline(__always)
  private func head(of cursor: UnsafeMutablePointer<EventCursor>) -> Head {
    let event = cursor.pointee.batch.events + cursor.pointee.next
    let frees = table.deallocations | Self.reallocBegin
    let isFree = frees >> UInt64(event.pointee.operation) & 1 != 0
    return Head(
      time: event.pointee.time,
      tieBreak: cursor.pointee.sequence & ~Self.topBit | (isFree ? 0 : Self.topBit),
      cursor: cursor.pointee.index)
  }

  private static let topBit: UInt64 = 1 << 63
  private static let reallocBegin = UInt64(1) << UInt64(Operation.reallocBegin.rawValue)

  // MARK: Opening and closing

  /// Opens the chunks whose base time has come; false when no chunk is left.
  @inline(__always)
  private mutating func openDueChunks() -> Bool {
    while nextChunk < chunkCount {
      if headCount > 0, heads[0].time < nextBaseTime { break }
      nextChunk += 1
      nextBaseTime = nextChunk < chunkCount ? chunks[nextChunk].baseTime : .max
      open(nextChunk - 1)
    }
    return headCount > 0
  }

  @inline(never)
  private mutating func open(_ chunkIndex: Int) {
    if !wait(chunkIndex, for: chunks[chunkIndex].thread) { _ = openNow(chunkIndex) }
  }

  /// Opens a chunk.
  ///
  /// - Returns: Its cursor; nil when it has no events.
  private mutating func openNow(_ chunkIndex: Int) -> Int? {
    let reader = ChunkReader(
      chunks[chunkIndex], in: file, sizes: .init(openChunks: headCount), table: table)
    let index = freeCursors.popLast() ?? addCursor()
    let cursor = cursors + index
    cursor.initialize(to: EventCursor(reader: reader, index: index))
    guard nextBatch(of: cursor) else {
      finish(cursor)
      return nil
    }
    heads[headCount] = head(of: cursor)
    headCount += 1
    siftUp()
    return index
  }

  /// Lets a chunk wait for the one its thread is still in; false when there is none.
  private mutating func wait(_ chunkIndex: Int, for thread: UInt32) -> Bool {
    let index = slots.cursor(of: thread)
    guard index >= 0, cursors[index].isOpen, cursors[index].holds(thread),
      cursors[index].nextTime == chunks[chunkIndex].baseTime
    else { return false }
    let last = cursors[index].lastSuccessor
    if last >= 0 { waiting[last] = chunkIndex }
    cursors[index].addSuccessor(chunkIndex, waitingFor: cursors[index].nextTime)
    return true
  }

  /// Makes room for one more cursor and returns its index.
  private mutating func addCursor() -> Int {
    if cursorCount == cursorCapacity {
      let larger = UnsafeMutablePointer<EventCursor>.allocate(capacity: cursorCapacity * 2)
      larger.moveInitialize(from: cursors, count: cursorCount)
      cursors.deallocate()
      cursors = larger
      let moreHeads = UnsafeMutablePointer<Head>.allocate(capacity: cursorCapacity * 2)
      moreHeads.moveInitialize(from: heads, count: headCount)
      heads.deallocate()
      heads = moreHeads
      cursorCapacity *= 2
    }
    cursorCount += 1
    return cursorCount - 1
  }

  @inline(never)
  private mutating func closeFirst() {
    let cursor = cursors + heads[0].cursor
    headCount -= 1
    if headCount > 0 {
      heads[0] = heads[headCount]
      siftDown()
    }
    finish(cursor)
    releaseSuccessor(of: cursor)
  }

  @inline(never)
  private mutating func releaseSuccessor(of cursor: UnsafeMutablePointer<EventCursor>) {
    let (last, limit) = (cursor.pointee.lastSuccessor, cursor.pointee.successorLimit)
    var chunk = cursor.pointee.firstSuccessor
    cursor.pointee.clearSuccessors()
    while chunk >= 0 {
      let rest = waiting.removeValue(forKey: chunk) ?? -1
      if let opened = openNow(chunk), rest >= 0, cursors[opened].nextTime < limit {
        // The others go on waiting, now for this one.
        cursors[opened].takeSuccessors(from: rest, to: last, limit: limit)
        return
      }
      chunk = rest
    }
  }

  private mutating func finish(_ cursor: UnsafeMutablePointer<EventCursor>) {
    let reader = cursor.pointee.reader.takeUnretainedValue()
    if let entry = reader.damage { damage.append(entry) }
    if let lost = reader.lostTimes { lostTimes.append(lost) }
    bytesDone &+= UInt64(reader.chunk.length)
    cursor.pointee.deallocate()
    cursor.pointee.isOpen = false
    freeCursors.append(cursor.pointee.index)
    progress.report(bytesDone)
  }

  // MARK: Heap

  private mutating func siftUp() {
    var child = headCount - 1
    let moved = heads[child]
    while child > 0 {
      let parent = (child - 1) / 2
      guard moved.precedes(heads[parent]) else { break }
      heads[child] = heads[parent]
      child = parent
    }
    heads[child] = moved
  }

  @inline(__always)
  private mutating func siftDown() {
    let (heads, count) = (heads, headCount)
    let moved = heads[0]
    var hole = 0
    while true {
      var child = 2 &* hole &+ 1
      if child >= count { break }
      if child &+ 1 < count, heads[child &+ 1].precedes(heads[child]) { child &+= 1 }
      guard heads[child].precedes(moved) else { break }
      heads[hole] = heads[child]
      hole = child
    }
    heads[hole] = moved
  }
}
