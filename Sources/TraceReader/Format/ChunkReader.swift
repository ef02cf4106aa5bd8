import CTraceFormat

/// Reads the events of one chunk, batch by batch, out of windows of its bytes.
///
/// Used by one thread at a time.
final class ChunkReader {
  /// The encodings of event chunks that it decodes.
  static let encodings = [
    MT_ENCODING_VARINT.rawValue, MT_ENCODING_PREDICTED.rawValue, MT_ENCODING_COLUMNS.rawValue,
  ]

  /// How much memory a reader takes.
  struct Sizes {
    /// Bytes of the chunk read at once.
    var window: Int
    /// Events decoded at once.
    var batch: Int

    init(window: Int, batch: Int) {
      (self.window, self.batch) = (window, batch)
    }

    /// The more chunks are open, the smaller, so that all of them together need little.
    ///
    /// - Parameter openChunks: How many are open.
    init(openChunks: Int) {
      window = openChunks < 256 ? 64 << 10 : 4 << 10
      switch openChunks {
      case ..<16: batch = 512
      case ..<128: batch = 128
      default: batch = 64
      }
    }
  }

  let chunk: EventChunk
  /// The events decoded last.
  private(set) var batch: EventBatch
  /// Why the chunk ended early; nil when it did not.
  private(set) var damage: Damage?

  /// When events of the chunk are missing, once all that can be decoded were; nil: none is.
  var lostTimes: LostTimes? {
    guard damage != nil || chunk.isCut else { return nil }
    // How far into its columns a damaged chunk has been right nobody knows.
    let first = isInColumns || !isKept ? chunk.baseTime : decoder.time
    return LostTimes(
      from: EventTime(first), through: chunk.lastTime.map { EventTime($0) } ?? .distantFuture)
  }

  private let file: TraceFile
  private let table: OperationTable
  private let predictor: UnsafeMutablePointer<mt_predictor>?
  private let buffer: UnsafeMutableRawBufferPointer
  private var decoder: EventDecoder
  /// Takes the place of the decoder for a chunk in columns, from its first batch on.
  private var columns: ColumnDecoder?
  private var nextOffset: UInt64
  private var unread: Int
  private var hasEnded = false
  /// Whether its bytes are those that were written, as far as there is a checksum.
  private let isKept: Bool

  init(_ chunk: EventChunk, in file: TraceFile, sizes: Sizes, table: OperationTable) {
    self.chunk = chunk
    self.file = file
    self.table = table
    isKept = chunk.checksum?.isKept(in: file, at: chunk.offset, lastTime: chunk.lastTime) ?? true
    nextOffset = chunk.offset
    unread = chunk.length
    let window = chunk.encoding == MT_ENCODING_COLUMNS.rawValue ? 0 : sizes.window
    let capacity = min(chunk.length, max(window, 2 * EventDecoder.guardLength))
    buffer = .allocate(byteCount: capacity + EventDecoder.guardLength, alignment: 16)
    batch = EventBatch(capacity: sizes.batch)
    predictor = chunk.encoding == MT_ENCODING_PREDICTED.rawValue ? .allocate(capacity: 1) : nil
    if let predictor { EventDecoder.clear(predictor) }
    decoder = EventDecoder(
      window: UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped), time: chunk.baseTime,
      thread: chunk.thread, table: table, predictor: predictor)
  }

  deinit {
    columns?.deallocate()
    buffer.deallocate()
    batch.deallocate()
    predictor?.deallocate()
  }

  /// The thread that the next event to be decoded belongs to.
  private var thread: UInt32 { columns?.thread ?? decoder.thread }

  /// Decodes the next batch; it has no events at the end of the chunk, which may be early: see
  /// ``damage``.
  func decode() {
    batch.clear()
    batch.thread = thread
    while !hasEnded, batch.count < batch.capacity {
      let isOfOneThread = isInColumns ? decodeColumns() : decodeWindow()
      if isOfOneThread { continue }
      if batch.count > 0 { break }
      batch.thread = thread
    }
    batch.threadAfter = thread
    if batch.greatestTime > chunk.end {
      batch.leaveOut(after: chunk.end)
      hasEnded = true
    }
    if hasEnded, !isKept, damage == nil { damage = chunk.doubt }
    if chunk.keysAnnounced { batch.keyAnnounced(table.announced) }
  }

  /// Decodes some events; false when what follows is of another thread.
  private func decodeWindow() -> Bool {
    if decoder.position >= decoder.lastStart, unread > 0 { refill() }
    switch decoder.fill(&batch) {
    case .batch: if decoder.position >= decoder.lastStart, unread == 0 { hasEnded = true }
    case .thread: return false
    case .end: end()
    case .pastEnd: stop(chunk.isCut ? nil : "an event runs past the end of its chunk")
    case .malformed: stop(isAtCut ? nil : "bytes that are no event")
    }
    return true
  }

  /// Whether the next event may lack its end, which then looks like zeros.
  private var isAtCut: Bool {
    chunk.isCut && unread == 0 && decoder.end - decoder.position < EventDecoder.guardLength
  }

  private func stop(_ reason: String?) {
    hasEnded = true
    guard let reason, damage == nil else { return }
    let rest = rest
    damage = Damage(
      offset: rest.lowerBound, length: rest.upperBound &- rest.lowerBound, reason: reason)
  }

  /// Where in the file the bytes lie that were not decoded.
  private var rest: Range<UInt64> {
    let end = chunk.offset &+ UInt64(chunk.length)
    return end &- UInt64(decoder.end - decoder.position) &- UInt64(unread)..<end
  }

  /// Ends at a zero, which is damage where there have been events behind it.
  ///
  /// An event that was being written may have left bytes there.
  private func end() {
    let rest = rest
    let start = min(rest.lowerBound &+ UInt64(EventDecoder.guardLength), rest.upperBound)
    let lacksLast = !chunk.isCut && decoder.time < chunk.lastTime ?? 0
    let isWhole =
      !lacksLast
      && (file.isUnused(start..<rest.upperBound)
        || file.isWritten(rest.lowerBound..<rest.lowerBound &+ 1))
    stop(isWhole ? nil : "zeros where events belong")
  }

  /// Moves the rest of the window to its front and reads on behind it.
  private func refill() {
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
    nextOffset &+= UInt64(done)
    unread -= done
    if done < wanted { endShort() }
    let end = rest + done
    UnsafeMutableRawBufferPointer(rebasing: buffer[end..<end + EventDecoder.guardLength])
      .initializeMemory(as: UInt8.self, repeating: 0)
    decoder.position = UnsafeRawPointer(base)
    decoder.end = UnsafeRawPointer(base + end)
    let isLast = unread == 0 || end < EventDecoder.guardLength
    decoder.lastStart = isLast ? decoder.end : decoder.end - EventDecoder.guardLength
  }

  /// What has been read is the last: the file has less than when it was opened.
  private func endShort() {
    if damage == nil, !file.isPacked {
      damage = Damage(
        offset: nextOffset, length: UInt64(unread),
        reason: "the file became shorter while it was read")
    }
    unread = 0
  }

  // MARK: Columns

  private var isInColumns: Bool { chunk.encoding == MT_ENCODING_COLUMNS.rawValue }

  /// As ``decodeWindow()``, for a chunk in columns, which is read as a whole.
  private func decodeColumns() -> Bool {
    if columns == nil { openColumns() }
    guard !hasEnded else { return true }
    switch columns?.fill(&batch) {
    case .thread: return false
    case .batch: hasEnded = columns.map { $0.next == $0.count } ?? true
    default: stopColumns("columns that do not fit together")
    }
    return true
  }

  private func openColumns() {
    guard !chunk.isCut, chunk.length <= ColumnLayout.greatestLength else {
      stopColumns(
        chunk.isCut ? "the end of its chunk is missing" : "a chunk of columns is too long")
      return
    }
    let content = UnsafeMutableRawBufferPointer.allocate(
      byteCount: chunk.length + ColumnDecoder.guardLength, alignment: 16)
    content.initializeMemory(as: UInt8.self, repeating: 0)
    var done = 0
    do throws(TraceError) {
      done = try file.read(
        at: chunk.offset, into: UnsafeMutableRawBufferPointer(rebasing: content[..<chunk.length]))
    } catch {
      content.deallocate()
      stopColumns(error.context)
      return
    }
    columns = ColumnDecoder(
      takingOver: content, time: chunk.baseTime, thread: chunk.thread, table: table)
    if done < chunk.length || columns == nil { stopColumns("columns that do not fit together") }
  }

  /// The place of damage inside columns says nothing: the rest of the chunk's events is lost.
  private func stopColumns(_ reason: String) {
    hasEnded = true
    damage = Damage(offset: chunk.offset, length: UInt64(chunk.length), reason: reason)
  }
}
