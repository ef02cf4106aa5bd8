import CTraceFormat

/// Encodes the events of chunks anew, in columns.
struct EventRecoder {
  /// What became of a chunk.
  struct Result {
    /// The content of the new chunk, and where its columns begin; nil when the old one has to stay.
    var columns: (bytes: [UInt8], cuts: [Int])?
    /// How many events it holds.
    var eventCount: Int
  }

  private let table = OperationTable()

  /// Larger chunks stay as they are; the recorder's are far smaller.
  private static let greatestLength: UInt32 = 4 << 20

  /// Encodes a chunk anew and makes sure that the same events come back.
  ///
  /// A chunk stays as it is where it is damaged or uses what columns cannot hold.
  func recode(_ chunk: ChunkHeader, in trace: Trace) -> Result {
    let source = EventChunk(
      offset: chunk.offset &+ UInt64(ChunkHeader.size),
      length: Int(chunk.length) - ChunkHeader.size, baseTime: chunk.baseTime, thread: chunk.thread,
      sequence: chunk.sequence, encoding: UInt32(chunk.encoding), isCut: false)
    guard EventCursor.encodings.contains(source.encoding) else {
      return Result(columns: nil, eventCount: 0)
    }
    let limit = chunk.length <= Self.greatestLength ? ColumnLayout.greatestCount : 0
    let (found, eventCount) = events(of: source, in: trace.file, limit: limit)
    guard let events = found else { return Result(columns: nil, eventCount: eventCount) }
    let count = ColumnEncoder.count(of: events, thread: chunk.thread)
    guard count <= ColumnLayout.greatestCount else {
      return Result(columns: nil, eventCount: eventCount)
    }
    var encoder = ColumnEncoder(baseTime: chunk.baseTime, thread: chunk.thread, count: count)
    for event in events { encoder.append(event) }
    let content = encoder.content
    let isSame = isSame(content.bytes, as: events, chunk)
    return Result(columns: isSame ? content : nil, eventCount: events.count)
  }

  /// The events of a chunk, and how many they are: nil where some are damaged, or where they are
  /// more than a limit, which are not kept.
  func events(
    of chunk: EventChunk, in file: TraceFile, limit: Int
  ) -> (events: [RawEvent]?, count: Int) {
    var events: [RawEvent] = []
    var count = 0
    let isWhole = read(chunk, in: file) { event in
      count += 1
      if count <= limit {
        events.append(event)
      } else {
        events = []
      }
    }
    return (isWhole && count <= limit ? events : nil, count)
  }

  /// Visits the events of a chunk; false when not all of it could be decoded.
  private func read(
    _ chunk: EventChunk, in file: TraceFile, _ body: (RawEvent) -> Void
  ) -> Bool {
    var slots = ThreadSlots()
    var cursor = EventCursor(
      chunk: chunk, index: 0, windowSize: chunk.length, table: table,
      slot: slots.enter(chunk.thread, cursor: 0))
    defer { cursor.deallocate() }
    while cursor.nextBatch(file: file, slots: &slots) {
      for index in 0..<cursor.count { body(cursor.events[index]) }
    }
    return cursor.damage == nil
  }

  /// Whether columns hold just these events.
  private func isSame(_ content: [UInt8], as events: [RawEvent], _ chunk: ChunkHeader) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: content.count + ColumnDecoder.guardLength, alignment: 16)
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    buffer.copyBytes(from: content)
    guard
      var decoder = ColumnDecoder(
        takingOver: buffer, time: chunk.baseTime, thread: chunk.thread, table: table)
    else { return false }
    defer { decoder.deallocate() }
    let batch = UnsafeMutablePointer<RawEvent>.allocate(capacity: EventDecoder.batchSize)
    batch.initialize(repeating: RawEvent(), count: EventDecoder.batchSize)
    defer { batch.deallocate() }
    var (position, count) = (0, 0)
    while decoder.next < decoder.count {
      count = 0
      if decoder.fill(batch, &count, slot: 0) == .malformed { return false }
      guard position + count <= events.count else { return false }
      for index in 0..<count {
        guard Event(batch[index]) == Event(events[position + index]) else { return false }
      }
      position += count
    }
    return position == events.count
  }
}
