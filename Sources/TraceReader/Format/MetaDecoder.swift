import CTraceFormat

/// Collects the META records of a trace.
struct MetaDecoder {
  private(set) var process = TracedProcess()
  private(set) var threads: [ThreadInfo] = []
  private(set) var notes: [Note] = []
  private(set) var marks: [Mark] = []
  private(set) var types = TypeDecoder()
  private(set) var refcounts: RefcountRecording?
  private(set) var zombieUses: [ZombieUse] = []
  private(set) var overruns: [BlockOverrun] = []
  private(set) var guardedAccesses: [GuardedAccess] = []
  private(set) var crashes: [Crash] = []
  private(set) var switches: [RecordingSwitch] = []
  private(set) var ignoredBlocks: [IgnoredBlock] = []
  private(set) var mappingCalls: [MappingCall] = []
  /// The checksum of each chunk that has one, by its sequence: that which is of the most bytes.
  private(set) var checksums: [UInt64: ChunkChecksum] = [:]
  private var images: [UInt32: Image] = [:]
  private var threadPositions: [UInt32: Int] = [:]

  init(header: TraceHeader) {
    process.pid = header.pid
    process.ppid = header.ppid
    process.uid = header.uid
    process.startWallNanoseconds = header.startWallNanoseconds
    process.traceID = header.traceID
    process.parentTraceID = header.parentTraceID.isZero ? nil : header.parentTraceID
    process.sessionID = header.sessionID
    process.machine = header.machine
  }

  /// The images in order of their indices.
  var imageMap: ImageMap {
    ImageMap(images: images.values.sorted { $0.index < $1.index })
  }

  /// Decodes the records of a chunk.
  ///
  /// - Parameter chunk: The bytes with the chunk header; fewer when the file is cut.
  /// - Returns: Where decoding had to stop, when it was not at the end of the records.
  mutating func decode(_ chunk: UnsafeRawBufferPointer) -> Int? {
    var position = ChunkHeader.size
    while position < chunk.count {
      var cursor = ByteCursor(chunk, at: position)
      let length = Int(cursor.read(UInt32.self))
      let type = UInt32(cursor.read(UInt16.self))
      cursor.skip(2)
      if cursor.isPastEnd { return nil }
      if type == MT_RECORD_END.rawValue {
        return chunk.isEndOfRecords(at: position) ? nil : position
      }
      guard length >= 8 else { return position }
      guard length <= chunk.count - position else { return position }
      let record = UnsafeRawBufferPointer(rebasing: chunk[position..<position + length])
      guard decode(record, type: type) else { return position }
      position += (length + 7) & ~7
    }
    return nil
  }

  /// Decodes one record; false when its fields do not fit into it.
  private mutating func decode(_ record: UnsafeRawBufferPointer, type: UInt32) -> Bool {
    var cursor = ByteCursor(record, at: 8)
    switch type {
    case MT_RECORD_PROCESS.rawValue: decodeProcess(&cursor)
    case MT_RECORD_IMAGE.rawValue: decodeImage(&cursor)
    case MT_RECORD_UNLOAD.rawValue: decodeUnload(&cursor)
    case MT_RECORD_THREAD.rawValue: decodeThread(&cursor)
    case MT_RECORD_NOTE.rawValue: decodeNote(&cursor)
    case MT_RECORD_MARK.rawValue: decodeMark(&cursor)
    case MT_RECORD_TYPE.rawValue: types.decodeType(&cursor)
    case MT_RECORD_TYPED.rawValue: types.decodeSighting(&cursor)
    case MT_RECORD_FIELDS.rawValue: types.decodeFields(&cursor)
    case MT_RECORD_REFCOUNTS.rawValue: decodeRefcounts(&cursor)
    case MT_RECORD_ZOMBIE.rawValue: ZombieUse(decoding: &cursor).map { zombieUses.append($0) }
    case MT_RECORD_OVERRUN.rawValue: BlockOverrun(decoding: &cursor).map { overruns.append($0) }
    case MT_RECORD_ACCESS.rawValue:
      GuardedAccess(decoding: &cursor).map { guardedAccesses.append($0) }
    case MT_RECORD_SWITCH.rawValue: RecordingSwitch(decoding: &cursor).map { switches.append($0) }
    case MT_RECORD_IGNORED.rawValue:
      IgnoredBlock(decoding: &cursor).map { ignoredBlocks.append($0) }
    case MT_RECORD_MAPPING.rawValue: MappingCall(decoding: &cursor).map { mappingCalls.append($0) }
    case MT_RECORD_CHECKSUM.rawValue: decodeChecksum(&cursor)
    case MT_RECORD_CRASH.rawValue: Crash(decoding: &cursor).map { crashes.append($0) }
    default: break
    }
    return !cursor.isPastEnd
  }

  private mutating func decodeProcess(_ cursor: inout ByteCursor) {
    cursor.skip(8)
    let (executable, directory, arguments): (UInt32, UInt32, UInt32) = (
      cursor.read(), cursor.read(), cursor.read()
    )
    cursor.skip(4)
    process.executablePath = cursor.text(executable)
    process.workingDirectory = cursor.text(directory)
    process.arguments = cursor.bytes(arguments).split(
      separator: 0, omittingEmptySubsequences: false
    )
    .map { String(decoding: $0, as: UTF8.self) }
    // Each argument is ended by a 0 byte, so the last piece is empty.
    if process.arguments.last == "" { process.arguments.removeLast() }
  }

  private mutating func decodeImage(_ cursor: inout ByteCursor) {
    let time = EventTime(cursor.read())
    let loadBias: UInt64 = cursor.read()
    let (start, end) = (Address(cursor.read()), Address(cursor.read()))
    let (textStart, textEnd) = (Address(cursor.read()), Address(cursor.read()))
    let (index, firstStack): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let (buildIDLength, pathLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let buildID = Array(cursor.bytes(buildIDLength))
    let path = cursor.text(pathLength)
    guard !cursor.isPastEnd else { return }
    images[index] = Image(
      index: index, path: path, buildID: buildID, loadBias: loadBias, start: start, end: end,
      textStart: textStart, textEnd: textEnd, loadTime: time, firstStack: StackID(firstStack))
  }

  private mutating func decodeUnload(_ cursor: inout ByteCursor) {
    let time = EventTime(cursor.read())
    let (index, firstStack): (UInt32, UInt32) = (cursor.read(), cursor.read())
    guard !cursor.isPastEnd else { return }
    images[index]?.unloadTime = time
    images[index]?.unloadedFromStack = StackID(firstStack)
  }

  private mutating func decodeThread(_ cursor: inout ByteCursor) {
    let time = EventTime(cursor.read())
    let (index, tid): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let (state, nameLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let name = cursor.text(nameLength)
    guard !cursor.isPastEnd else { return }
    if threadPositions[index] == nil {
      threadPositions[index] = threads.count
      threads.append(ThreadInfo(index: ThreadIndex(index), tid: tid, name: name, began: time))
    }
    guard let position = threadPositions[index] else { return }
    if !name.isEmpty { threads[position].name = name }
    if state == MT_THREAD_ENDED.rawValue { threads[position].ended = time }
    if state == MT_THREAD_BEGAN.rawValue { threads[position].began = time }
  }

  private mutating func decodeNote(_ cursor: inout ByteCursor) {
    let time = EventTime(cursor.read())
    let value: UInt64 = cursor.read()
    let (kind, textLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let text = cursor.text(textLength)
    guard !cursor.isPastEnd else { return }
    notes.append(Note(kind: Note.Kind(code: kind), time: time, value: value, text: text))
  }

  private mutating func decodeRefcounts(_ cursor: inout ByteCursor) {
    cursor.skip(8)
    let state: UInt32 = cursor.read()
    let (patternLength, textLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    cursor.skip(4)
    let (patterns, text) = (cursor.text(patternLength), cursor.text(textLength))
    guard !cursor.isPastEnd else { return }
    refcounts = .adding(state: state, patterns: patterns, text: text, to: refcounts)
  }

  private mutating func decodeChecksum(_ cursor: inout ByteCursor) {
    guard let checksum = ChunkChecksum(decoding: &cursor) else { return }
    let known = checksums[checksum.sequence]?.length ?? 0
    if checksum.length >= known { checksums[checksum.sequence] = checksum }
  }

  private mutating func decodeMark(_ cursor: inout ByteCursor) {
    let time = EventTime(cursor.read())
    let (thread, nameLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let name = cursor.text(nameLength)
    guard !cursor.isPastEnd else { return }
    marks.append(Mark(time: time, thread: ThreadIndex(thread), name: name))
  }
}
