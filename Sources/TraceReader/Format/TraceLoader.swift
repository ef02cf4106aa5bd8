import CTraceFormat

/// Loads what a trace holds beside its events.
struct TraceLoader {
  private let file: TraceFile
  private let header: TraceHeader
  /// Until when all events are there of a trace that is still written; else nil.
  private let end: EventTime?
  private(set) var meta: MetaDecoder
  private(set) var stackTable = StackTable()
  private(set) var eventChunks: [EventChunk] = []
  private(set) var refcountChunks: [EventChunk] = []
  private(set) var symbolContents: [[UInt8]] = []
  private(set) var lacksSymbols = false
  private(set) var coverage: Coverage
  private(set) var snapshots = SnapshotDecoder()
  private var stacks: StackDecoder
  /// Where chunks begin of which damage is known.
  private var damagedChunks: Set<UInt64> = []

  init(file: TraceFile, header: TraceHeader, end: EventTime? = nil) {
    (self.file, self.header, self.end) = (file, header, end)
    meta = MetaDecoder(header: header)
    stacks = StackDecoder(memoryLimit: ReaderMemory.stackLimit(storedSize: file.storedSize))
    coverage = Coverage(header: header)
  }

  mutating func load() throws(TraceError) {
    let index = try ChunkIndex(of: file, header: header)
    if end == nil { coverage.missingBytes = index.missingBytes }
    if file.isHeaderDamaged || header.isDamaged {
      coverage.add(
        Damage(
          offset: 0, length: UInt64(MT_FILE_HEADER_SIZE),
          reason: "the header is not what was written: times, the end and counts may be wrong",
          isDoubt: true))
    }
    index.damage.forEach { coverage.add($0) }
    lacksSymbols = file.isPacked && Self.mayLackSymbols(index)
    loadChunks(index.chunks)
    addChecksums()
    // Replay opens chunks in the order of their times.
    eventChunks.sort { ($0.baseTime, $0.sequence) < ($1.baseTime, $1.sequence) }
    refcountChunks.sort { ($0.baseTime, $0.sequence) < ($1.baseTime, $1.sequence) }
    if end == nil, let lost = index.lostTimes(begun: header.chunks, hasOneThread: hasOneThread) {
      coverage.add(lost)
    }
    let (table, overlaps) = stacks.table()
    stackTable = table
    if overlaps > 0 {
      coverage.add(
        Damage(offset: 0, length: 0, reason: "\(overlaps) stack chunks repeat the IDs of others"))
    }
    addNotes()
    coverage.refcountRefusals = meta.refcounts?.refusals ?? []
  }

  /// Loads the records first: they have the checksums of all else.
  private mutating func loadChunks(_ chunks: [ChunkHeader]) {
    // Records may be about those of earlier chunks, which are in the order of their sequence.
    let ordered = chunks.sorted { ($0.sequence, $0.offset) < ($1.sequence, $1.offset) }
    let records = ordered.filter(\.hasRecords)
    records.forEach { load($0) }
    records.forEach { compareChecksum(of: $0) }
    for chunk in ordered where !chunk.hasRecords { load(chunk) }
  }

  private mutating func load(_ chunk: ChunkHeader) {
    let encoding = UInt32(chunk.encoding)
    switch UInt32(chunk.kind) {
    case MT_CHUNK_META.rawValue where encoding == MT_ENCODING_PLAIN.rawValue:
      withBytes(of: chunk) { loader, bytes in
        guard let position = loader.meta.decode(bytes) else { return }
        let reason = "a record that does not fit"
        loader.addDamage(in: chunk, from: position, of: bytes, "records", reason)
      }
    case MT_CHUNK_STACKS.rawValue where encoding == MT_ENCODING_PLAIN.rawValue:
      withBytes(of: chunk) { loader, bytes in
        guard let position = loader.stacks.decode(bytes, firstID: chunk.firstID) else { return }
        let reason =
          loader.stacks.isFull ? Self.tooManyNodes : "stack nodes whose IDs are out of range"
        loader.addDamage(in: chunk, from: position, reason)
      }
    case MT_CHUNK_STACKS.rawValue where encoding == MT_ENCODING_PREDICTED.rawValue:
      withBytes(of: chunk) { loader, bytes in
        guard let position = loader.stacks.decodePredicted(bytes, firstID: chunk.firstID) else {
          return
        }
        let reason = loader.stacks.isFull ? Self.tooManyNodes : "bytes that are no stack node"
        loader.addDamage(in: chunk, from: position, of: bytes, "stack nodes", reason)
      }
    case MT_CHUNK_EVENTS.rawValue where ChunkReader.encodings.contains(encoding):
      addEvents(chunk, to: &eventChunks)
    case MT_CHUNK_REFCOUNTS.rawValue where encoding == MT_ENCODING_PREDICTED.rawValue:
      addEvents(chunk, to: &refcountChunks)
    case MT_CHUNK_SYMBOLS.rawValue where encoding == MT_ENCODING_PLAIN.rawValue:
      addSymbols(chunk)
    case MT_CHUNK_SNAPSHOT.rawValue where encoding == MT_ENCODING_PLAIN.rawValue:
      withBytes(of: chunk) { loader, bytes in
        guard let position = loader.snapshots.decode(bytes, snapshot: chunk.firstID) else { return }
        let reason = "a snapshot record that does not fit"
        loader.addDamage(in: chunk, from: position, of: bytes, "records of a snapshot", reason)
      }
    case MT_CHUNK_SNAPSHOT.rawValue where encoding == MT_ENCODING_WORDS.rawValue:
      snapshots.add(
        SnapshotDecoder.WordChunk(header: chunk), snapshot: chunk.firstID)
    case MT_CHUNK_META.rawValue, MT_CHUNK_STACKS.rawValue, MT_CHUNK_EVENTS.rawValue,
      MT_CHUNK_SNAPSHOT.rawValue, MT_CHUNK_REFCOUNTS.rawValue:
      addDamage(in: chunk, from: 0, "encoding \(chunk.encoding) is not known")
    default:
      break  // Of a later minor version: not for us.
    }
  }

  /// Whether the program had one thread, as far as the trace tells; the recorder has one besides.
  private var hasOneThread: Bool {
    let threads = Set(eventChunks.map(\.thread)).subtracting([UInt32(MT_THREAD_RECORDER)])
    return meta.threads.count == 1 && threads.count <= 1
  }

  private static let tooManyNodes = "more stack nodes than are kept"

  /// Compares records, which are loaded, with their checksum.
  private mutating func compareChecksum(of chunk: ChunkHeader) {
    guard let checksum = meta.checksums[chunk.sequence], !damagedChunks.contains(chunk.offset)
    else { return }
    let start = chunk.offset &+ UInt64(ChunkHeader.size)
    if !checksum.isKept(in: file, at: start, lastTime: nil) { addDoubt(in: chunk, "records") }
  }

  /// Notes the checksums of events, which are compared when they are read.
  private mutating func addChecksums() {
    for position in eventChunks.indices where eventChunks[position].isAsRecorded {
      eventChunks[position].checksum = checksum(of: eventChunks[position])
    }
    for position in refcountChunks.indices {
      refcountChunks[position].checksum = checksum(of: refcountChunks[position])
    }
  }

  /// The checksum of events; nil where their chunk has been filled since its header was read.
  private func checksum(of chunk: EventChunk) -> ChunkChecksum? {
    guard let checksum = meta.checksums[chunk.sequence] else { return nil }
    return end != nil && checksum.lastTime != 0 && chunk.lastTime == nil ? nil : checksum
  }

  private mutating func addDoubt(in chunk: ChunkHeader, _ elements: String) {
    let header = UInt64(ChunkHeader.size)
    coverage.add(
      Damage(
        offset: chunk.offset &+ header, length: UInt64(chunk.length) &- header,
        reason: "\(elements) do not match their checksum", isDoubt: true))
  }

  private func addEvents(_ chunk: ChunkHeader, to chunks: inout [EventChunk]) {
    let start = chunk.offset &+ UInt64(ChunkHeader.size)
    let end = chunk.offset &+ UInt64(chunk.length)
    guard start < file.size else { return }
    chunks.append(
      EventChunk(
        offset: start, length: Int(min(end, file.size) &- start), baseTime: chunk.baseTime,
        lastTime: chunk.lastTime, thread: chunk.thread, sequence: chunk.sequence,
        encoding: UInt32(chunk.encoding), isCut: end > file.size,
        keysAnnounced: header.flags.contains(.announced), end: self.end?.rawValue ?? .max))
  }

  /// A chunk of names that is far longer than those that are written could take any memory to read.
  private static let greatestSymbolLength: UInt32 = 4 << 20

  private mutating func addSymbols(_ chunk: ChunkHeader) {
    guard chunk.length <= Self.greatestSymbolLength else {
      addDamage(in: chunk, from: 0, "a chunk of names that is too long")
      lacksSymbols = true
      return
    }
    let count = symbolContents.count
    withBytes(of: chunk) { loader, bytes in
      loader.symbolContents.append(Array(bytes.dropFirst(ChunkHeader.size)))
      if bytes.count < Int(chunk.length) { loader.lacksSymbols = true }
    }
    if symbolContents.count == count { lacksSymbols = true }
  }

  /// Whether there is damage where the names are: in front of everything else.
  private static func mayLackSymbols(_ index: ChunkIndex) -> Bool {
    let other = index.chunks.first { UInt32($0.kind) != MT_CHUNK_SYMBOLS.rawValue }
    return index.damage.contains { $0.offset < other?.offset ?? .max }
  }

  private mutating func addDamage(in chunk: ChunkHeader, from position: Int, _ reason: String) {
    let position = UInt64(position)
    damagedChunks.insert(chunk.offset)
    coverage.add(
      Damage(
        offset: chunk.offset &+ position, length: UInt64(chunk.length) &- position, reason: reason))
  }

  /// Adds damage of which zeros are told from other bytes that are no elements of the chunk.
  private mutating func addDamage(
    in chunk: ChunkHeader, from position: Int, of bytes: UnsafeRawBufferPointer,
    _ elements: String, _ reason: String
  ) {
    // What the end of the file cuts is told as such.
    guard bytes.count == Int(chunk.length) else { return }
    let isZero =
      position + 8 <= bytes.count && bytes[position..<position + 8].allSatisfy { $0 == 0 }
    let start = chunk.offset &+ UInt64(position)
    if isZero, file.isWritten(start..<start &+ 8) { return }
    addDamage(in: chunk, from: position, isZero ? "zeros where \(elements) belong" : reason)
  }

  /// Reads a chunk, as far as the file has it, and hands its bytes on.
  private mutating func withBytes(
    of chunk: ChunkHeader, _ body: (inout TraceLoader, UnsafeRawBufferPointer) -> Void
  ) {
    do throws(TraceError) {
      let bytes = try file.bytes(at: chunk.offset, count: Int(chunk.length))
      bytes.withUnsafeBytes { bytes in
        body(&self, bytes)
        guard !damagedChunks.contains(chunk.offset) else { return }
        if !bytes.isKept(chunk) { addDoubt(in: chunk, "records of a snapshot") }
        if chunk.hasStacks, meta.checksums[chunk.sequence]?.isKept(in: bytes) == false {
          addDoubt(in: chunk, "stack nodes")
        }
      }
      let end = chunk.offset &+ UInt64(bytes.count)
      if bytes.count < Int(chunk.length), end < file.size {
        addDamage(in: chunk, from: bytes.count, "a part of the packed file is damaged")
      }
    } catch {
      addDamage(in: chunk, from: 0, error.context)
    }
  }

  private mutating func addNotes() {
    for note in meta.notes {
      switch note.kind {
      case .bypassed:
        // A plugin is noted each time it is loaded.
        if !coverage.bypassed.contains(note.text) { coverage.bypassed.append(note.text) }
        if note.value != 0 { coverage.missesBlocksThatAreFreed = true }
      case .childNotFollowed:
        coverage.childrenNotFollowed.append(note.text)
        if note.value != 0 { coverage.forksAreNotFollowed = true }
      case .text: coverage.notes.append(note.text)
      case .noSnapshot:
        coverage.notes.append("no whole heap snapshot at the end: \(note.text)")
      case .rebound where note.value != 0: coverage.boundLate.append(note.text)
      case .bundled: coverage.bundled.append(note.text)
      case .exec, .child, .rebound, .mayCrash, .zombies, .redzones, .guarded, .failAt, .limit,
        .attached, .pythonMalloc, .title, .unknown:
        break
      }
    }
  }
}
