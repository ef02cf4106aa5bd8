/// Reads the reference count events of a trace in the order of their times.
///
/// The chunks of a thread follow each other, so that about one chunk per thread is open at a time.
struct RefcountMerger: ~Copyable {
  private(set) var damage: [Damage] = []

  private let file: TraceFile
  private let chunks: [EventChunk]
  private var nextChunk = 0
  private var open: [Source] = []
  /// Which of `open` has the next event, as long as that comes before `limit`.
  private var current = 0
  /// nil: to be chosen anew.
  private var limit: EventTime?

  /// An open chunk with its next event.
  private final class Source {
    var decoder: RefcountDecoder
    var event: RefcountEvent
    let chunk: EventChunk

    init?(_ chunk: EventChunk, bytes: [UInt8]) {
      decoder = RefcountDecoder(bytes, baseTime: chunk.baseTime, thread: chunk.thread)
      guard let first = decoder.next() else { return nil }
      event = first
      self.chunk = chunk
    }

    /// Goes on to the next event.
    ///
    /// - Returns: false at the end.
    func advance() -> Bool {
      guard let following = decoder.next(), following.time.rawValue <= chunk.end else {
        return false
      }
      event = following
      return true
    }

    func precedes(_ other: Source) -> Bool {
      (event.time, chunk.sequence) < (other.event.time, other.chunk.sequence)
    }
  }

  /// Begins before the first event of chunks, which are in the order of their base times.
  init(file: TraceFile, chunks: [EventChunk]) {
    self.file = file
    self.chunks = chunks
  }

  /// The time of the next event; nil at the end.
  mutating func nextTime() -> EventTime? {
    guard choose() else { return nil }
    return open[current].event.time
  }

  /// The next event; nil at the end.
  mutating func next() -> RefcountEvent? {
    guard choose() else { return nil }
    let event = open[current].event
    if !open[current].advance() {
      noteDamage(of: open[current])
      open.remove(at: current)
      limit = nil
    }
    return event
  }

  /// Makes `current` the chunk with the earliest event; false when there is none.
  private mutating func choose() -> Bool {
    if let limit, open[current].event.time < limit { return true }
    repeat {
      guard let best = first else {
        limit = nil
        guard nextChunk < chunks.count else { return false }
        openNextChunk()
        continue
      }
      current = best
      let due = nextChunk < chunks.count ? EventTime(chunks[nextChunk].baseTime) : .distantFuture
      guard open[best].event.time < due || nextChunk == chunks.count else {
        openNextChunk()
        continue
      }
      limit = min(due, earliestTime(beside: best))
      return true
    } while true
  }

  private var first: Int? {
    guard var best = open.indices.first else { return nil }
    for position in open.indices.dropFirst() where open[position].precedes(open[best]) {
      best = position
    }
    return best
  }

  private func earliestTime(beside chosen: Int) -> EventTime {
    var earliest = EventTime.distantFuture
    for position in open.indices where position != chosen {
      earliest = min(earliest, open[position].event.time)
    }
    return earliest
  }

  private mutating func openNextChunk() {
    openChunk(chunks[nextChunk])
    nextChunk += 1
  }

  private mutating func openChunk(_ chunk: EventChunk) {
    guard chunk.length <= RefcountDecoder.greatestLength else {
      addDamage(chunk, "a chunk of reference counts is too long")
      return
    }
    do throws(TraceError) {
      let bytes = try file.bytes(at: chunk.offset, count: chunk.length)
      if let source = Source(chunk, bytes: bytes) {
        if source.event.time.rawValue <= chunk.end { open.append(source) }
      } else if !chunk.isCut, bytes.first ?? 0 != 0 {
        addDamage(chunk, "bytes that are no reference count event")
      } else if !bytes.withUnsafeBytes({ $0.isUnused(from: RefcountDecoder.guardLength) }),
        !file.isWritten(chunk.offset..<chunk.offset &+ 1)
      {
        addDamage(chunk, RefcountDecoder.zeros)
      }
    } catch {
      addDamage(chunk, error.context)
    }
  }

  private mutating func addDamage(_ chunk: EventChunk, _ reason: String) {
    damage.append(Damage(offset: chunk.offset, length: UInt64(chunk.length), reason: reason))
  }

  private mutating func noteDamage(of source: Source) {
    guard let reason = source.decoder.damageReason, !source.chunk.isCut else { return }
    let rest = UInt64(source.decoder.unreadCount)
    let end = source.chunk.offset &+ UInt64(source.chunk.length)
    let isNewer = file.isWritten(end &- rest..<end &- rest &+ 1)
    if reason == RefcountDecoder.zeros, isNewer { return }
    damage.append(Damage(offset: end &- rest, length: rest, reason: reason))
  }
}
