import CTraceFormat

/// Goes through the events of one chunk, reading it window by window.
struct EventCursor {
  var decoder: EventDecoder
  /// The number of the chunk among all chunks, which decides between equal times.
  let sequence: UInt64
  /// Where the chunk's event bytes begin in the file.
  let chunkOffset: UInt64
  /// The number of this cursor, for ``ThreadSlots``.
  let index: Int
  /// Bytes of events in the chunk.
  let length: Int
  var isOpen = true
  /// Index of a chunk that must not begin before this one has ended; -1 when there is none.
  var successor = -1
  /// Why the chunk ended early; nil when it did not.
  private(set) var damage: Damage?

  private let isCut: Bool
  private let buffer: UnsafeMutableRawBufferPointer
  private var nextOffset: UInt64
  private var unread: Int

  init(chunk: EventChunk, index: Int, windowSize: Int, table: OperationTable) {
    self.index = index
    length = chunk.length
    sequence = chunk.sequence
    chunkOffset = chunk.offset
    isCut = chunk.isCut
    nextOffset = chunk.offset
    unread = chunk.length
    let capacity = min(chunk.length, max(windowSize, 2 * EventDecoder.guardLength))
    buffer = .allocate(byteCount: capacity + EventDecoder.guardLength, alignment: 16)
    let start = UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped)
    decoder = EventDecoder(position: start, end: start, table: table)
    decoder.event.time = chunk.baseTime
    decoder.event.thread = chunk.thread
  }

  func deallocate() {
    buffer.deallocate()
  }

  /// How many bytes of the chunk have been decoded.
  var bytesDone: UInt64 {
    nextOffset &- chunkOffset &- UInt64(decoder.end - decoder.position)
  }

  /// Decodes the next event into `decoder.event`.
  ///
  /// - Returns: false at the end of the chunk, which may be early: see ``damage``.
  @inline(__always)
  mutating func advance(file: TraceFile, slots: inout ThreadSlots) -> Bool {
    while true {
      if decoder.end - decoder.position < EventDecoder.guardLength, unread > 0 {
        refill(from: file)
      }
      switch decoder.next() {
      case .event: return true
      case .thread: decoder.event.slot = slots.enter(decoder.event.thread, cursor: index)
      case .end: return false
      case .pastEnd:
        if !isCut, damage == nil { stop("an event runs past the end of its chunk") }
        return false
      case .malformed:
        stop("bytes that are no event")
        return false
      }
    }
  }

  private mutating func stop(_ reason: String) {
    let offset = chunkOffset &+ bytesDone
    let rest = UInt64(decoder.end - decoder.position) &+ UInt64(unread)
    damage = Damage(offset: offset, length: rest, reason: reason)
  }

  /// Moves the rest of the window to its front and reads on behind it.
  @inline(never)
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
  }
}
