import CTraceFormat

/// Encodes the events of chunks anew, in columns.
struct EventRecoder {
  /// What became of a chunk.
  struct Result {
    /// The content of the new chunk, and where its columns begin; nil when the old one has to stay.
    var columns: (bytes: [UInt8], cuts: [Int])?
    /// How many events it holds.
    var eventCount: Int
    /// Whether some of its events cannot be read.
    var isDamaged = false
    /// What the header of a new chunk says of the time of its last event; 0 for nothing.
    var lastTime: UInt64 = 0
  }

  private let table = OperationTable()

  /// Larger chunks stay as they are; the recorder's are far smaller.
  private static let greatestLength: UInt32 = 4 << 20

  /// Encodes a chunk anew and makes sure that the same events come back.
  ///
  /// A chunk stays as it is where it is damaged or uses what columns cannot hold.
  func recode(_ chunk: ChunkHeader, in trace: Trace) -> Result {
    var source = EventChunk(
      offset: chunk.offset &+ UInt64(ChunkHeader.size),
      length: Int(chunk.length) - ChunkHeader.size, baseTime: chunk.baseTime,
      lastTime: chunk.lastTime, thread: chunk.thread,
      sequence: chunk.sequence, encoding: UInt32(chunk.encoding), isCut: false)
    guard ChunkReader.encodings.contains(source.encoding) else {
      return Result(columns: nil, eventCount: 0, isDamaged: true)
    }
    if source.isAsRecorded { source.checksum = trace.checksums[chunk.sequence] }
    let limit = chunk.length <= Self.greatestLength ? ColumnLayout.greatestCount : 0
    let (found, eventCount, isWhole) = events(of: source, in: trace.file, limit: limit)
    guard let events = found else {
      return Result(columns: nil, eventCount: eventCount, isDamaged: !isWhole)
    }
    let count = ColumnEncoder.count(of: events, thread: chunk.thread)
    guard count <= ColumnLayout.greatestCount else {
      return Result(columns: nil, eventCount: eventCount)
    }
    var encoder = ColumnEncoder(baseTime: chunk.baseTime, thread: chunk.thread, count: count)
    for event in events { encoder.append(event) }
    let content = encoder.content
    let isSame = isSame(content.bytes, as: events, chunk)
    return Result(
      columns: isSame ? content : nil, eventCount: events.count, lastTime: Self.lastTime(of: events)
    )
  }

  /// The time of the last event, unless that is the first half of a `realloc`: who reads the other
  /// half needs it.
  private static func lastTime(of events: [Event]) -> UInt64 {
    guard let last = events.last, last.operation != .reallocBegin else { return 0 }
    return events.map(\.time.rawValue).max() ?? 0
  }

  /// The events of a chunk, how many they are, and whether that is all of them: nil where it is not,
  /// or where they are more than a limit, which are not kept.
  func events(
    of chunk: EventChunk, in file: TraceFile, limit: Int
  ) -> (events: [Event]?, count: Int, isWhole: Bool) {
    var events: [Event] = []
    var count = 0
    let isWhole = read(chunk, in: file) { event in
      count += 1
      if count <= limit {
        events.append(event)
      } else {
        events = []
      }
    }
    return (isWhole && count <= limit ? events : nil, count, isWhole)
  }

  /// Visits the events of a chunk; false when not all of it could be decoded.
  private func read(
    _ chunk: EventChunk, in file: TraceFile, _ body: (Event) -> Void
  ) -> Bool {
    let reader = ChunkReader(
      chunk, in: file, sizes: .init(window: chunk.length, batch: EventBatch.greatestCapacity),
      table: table)
    reader.decode()
    while reader.batch.count > 0 {
      for index in 0..<reader.batch.count {
        body(Event(reader.batch, reader.batch.events + index))
      }
      reader.decode()
    }
    return reader.damage == nil
  }

  /// Whether columns hold just these events.
  private func isSame(_ content: [UInt8], as events: [Event], _ chunk: ChunkHeader) -> Bool {
    var position = 0
    let isWhole = ColumnDecoder.forEachEvent(
      of: content, baseTime: chunk.baseTime, thread: chunk.thread
    ) { event in
      guard position < events.count, event == events[position] else { return false }
      position += 1
      return true
    }
    return isWhole && position == events.count
  }
}
