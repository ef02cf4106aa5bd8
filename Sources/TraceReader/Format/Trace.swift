import CTraceFormat
import SystemPackage

/// An opened trace: everything but its events, which are read when they are asked for.
///
/// A cut or damaged trace opens as long as its header is whole; what could not be read is in
/// ``coverage``.
public final class Trace: Sendable {
  /// The file header.
  public let header: TraceHeader
  /// The process that was recorded.
  public let process: TracedProcess
  /// Turns event times into nanoseconds.
  public let clock: TraceClock
  /// The ELF images that were mapped.
  public let images: ImageMap
  /// The threads in order of their first record.
  public let threads: [ThreadInfo]
  /// The backtraces.
  public let stacks: StackTable
  /// What the recorder had to say, in order.
  public let notes: [Note]
  /// Moments that were named, in the order of their times.
  public let marks: [Mark]
  /// The types of blocks, as far as the recorder looked at them.
  public let types: TypeTable
  /// Whether retains and releases were recorded; nil when nobody asked for them.
  public let refcountRecording: RefcountRecording?
  /// Uses of freed blocks that were kept back, in the order they were noticed.
  public let zombieUses: [ZombieUse]
  /// Writes past the ends of blocks, in the order they were noticed.
  public let overruns: [BlockOverrun]
  /// Accesses beside guarded blocks, and to freed ones, in the order they were stopped.
  public let guardedAccesses: [GuardedAccess]
  /// Where the program has said that blocks are none to report, in no particular order.
  public let ignoredBlocks: [IgnoredBlock]
  /// When allocations were recorded, in the order of time; nil where recording could not be paused.
  public let windows: [RecordingWindow]?
  /// The calls that mapped memory and unmapped it, in the order of their records.
  public let mappingCalls: [MappingCall]
  /// The heap snapshots in the order they were begun.
  public let snapshots: [SnapshotInfo]
  /// What the trace does not hold, as far as the file tells without a replay.
  public let coverage: Coverage
  /// How the process ended.
  public let ending: TraceEnding
  /// How much memory the process could have had.
  public let limits: MemoryLimits
  /// The size of the file in bytes.
  public let fileSize: UInt64
  /// Whether the file is packed: compressed, with names.
  public let isPacked: Bool

  let file: TraceFile
  let eventChunks: [EventChunk]
  let refcountChunks: [EventChunk]
  /// The checksums of chunks, by their sequences.
  let checksums: [UInt64: ChunkChecksum]
  /// For each of `snapshots`, where its memory is.
  let snapshotWords: [[SnapshotDecoder.WordChunk]]
  /// The contents of the chunks with names, which `Symbolication` reads, as far as they are whole.
  public let symbolContents: [[UInt8]]
  /// Whether a packed trace has lost names to damage.
  public let lacksSymbols: Bool

  /// Opens a trace.
  ///
  /// - Throws: `.io` when the file cannot be read, `.notATrace`, `.truncated`,
  ///   `.unsupportedVersion` or `.corrupt` when its header is of no use.
  public init(path: FilePath) throws(TraceError) {
    file = try TraceFile(path: path)
    fileSize = file.storedSize
    isPacked = file.isPacked
    let header: TraceHeader
    do throws(TraceError) {
      header = try TraceHeader(
        decoding: try file.bytes(at: 0, count: Int(MT_FILE_HEADER_SIZE)))
    } catch {
      // Another version, for example, is none then.
      if file.isHeaderDamaged {
        throw TraceError(.corrupt, at: 0, "the file header is damaged", path: path.string)
      }
      throw TraceError(error.status, at: error.offset, error.context, path: path.string)
    }
    self.header = header
    clock = TraceClock(header: header)
    ending = TraceEnding(header: header)
    limits = MemoryLimits(header: header)

    var loader = TraceLoader(file: file, header: header)
    try loader.load()
    process = loader.meta.process
    images = loader.meta.imageMap
    threads = loader.meta.threads
    notes = loader.meta.notes
    // Those from outside are in chunks of their own, and may lie among earlier ones.
    marks = loader.meta.marks.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(\.element)
    types = loader.meta.types.table
    stacks = loader.stackTable
    eventChunks = loader.eventChunks
    refcountChunks = loader.refcountChunks
    checksums = loader.meta.checksums
    refcountRecording = loader.meta.refcounts
    zombieUses = loader.meta.zombieUses
    overruns = loader.meta.overruns
    guardedAccesses = loader.meta.guardedAccesses
    ignoredBlocks = loader.meta.ignoredBlocks
    windows = header.flags.contains(.pausable) ? loader.meta.switches.windows : nil
    mappingCalls = loader.meta.mappingCalls
    let found = loader.snapshots.snapshots(images: loader.meta.imageMap)
    snapshots = found.map(\.info)
    snapshotWords = found.map(\.words)
    symbolContents = loader.symbolContents
    lacksSymbols = loader.lacksSymbols
    coverage = loader.coverage
  }

  /// The path the trace was opened from.
  public var path: FilePath { file.path }

  /// The bytes of all event chunks: what a replay has to read.
  public var eventBytes: UInt64 {
    eventChunks.reduce(0) { $0 &+ UInt64($1.length) }
  }

  /// The chunks that can hold events of a range of times, in the order of their base times.
  func eventChunks(from first: UInt64 = 0, to last: UInt64 = .max) -> [EventChunk] {
    let end = eventChunks.partitioningIndex { $0.baseTime > last }
    return eventChunks[..<end].filter { !$0.ends(before: first) }
  }
}

/// A chunk of events, as far as the file has it.
struct EventChunk {
  /// Where its events begin.
  var offset: UInt64
  /// The bytes from there to the end of the chunk or of the file.
  var length: Int
  var baseTime: UInt64
  /// The time of the last event; nil where it is not known.
  var lastTime: UInt64?
  var thread: UInt32
  var sequence: UInt64
  /// An `mt_encoding`, one of ``ChunkReader/encodings``.
  var encoding: UInt32
  /// Whether the file ends inside the chunk.
  var isCut: Bool
  /// Whether announced blocks are to have keys of their own, see ``BlockKey``.
  var keysAnnounced = false
  /// Of what was written; nil where it is not known.
  var checksum: ChunkChecksum?

  /// Whether its bytes are those that the recorder has written, not encoded anew.
  var isAsRecorded: Bool { encoding != MT_ENCODING_COLUMNS.rawValue }

  /// What is to be said where the file has others than the checksum is of.
  var doubt: Damage {
    Damage(
      offset: offset, length: UInt64(checksum?.length ?? 0),
      reason: "events do not match their checksum", isDoubt: true)
  }

  /// Whether all of its events are known to come before a time.
  func ends(before time: UInt64) -> Bool {
    lastTime.map { $0 < time } ?? false
  }
}

/// Loads what a trace holds beside its events.
struct TraceLoader {
  private let file: TraceFile
  private let header: TraceHeader
  private(set) var meta: MetaDecoder
  private(set) var stackTable = StackTable()
  private(set) var eventChunks: [EventChunk] = []
  private(set) var refcountChunks: [EventChunk] = []
  private(set) var symbolContents: [[UInt8]] = []
  private(set) var lacksSymbols = false
  private(set) var coverage: Coverage
  private(set) var snapshots = SnapshotDecoder()
  private var stacks = StackDecoder()
  /// Where chunks begin of which damage is known.
  private var damagedChunks: Set<UInt64> = []

  init(file: TraceFile, header: TraceHeader) {
    self.file = file
    self.header = header
    meta = MetaDecoder(header: header)
    coverage = Coverage(header: header)
  }

  mutating func load() throws(TraceError) {
    let index = try ChunkIndex(of: file, header: header)
    coverage.missingBytes = index.missingBytes
    if file.isHeaderDamaged || header.isDamaged {
      coverage.add(
        Damage(
          offset: 0, length: UInt64(MT_FILE_HEADER_SIZE),
          reason: "the header is not what was written: times, the end and counts may be wrong",
          isDoubt: true))
    }
    index.damage.forEach { coverage.add($0) }
    lacksSymbols = file.isPacked && Self.mayLackSymbols(index)
    // Records may be about those of earlier chunks, which are in the order of their sequence.
    for chunk in index.chunks.sorted(by: { ($0.sequence, $0.offset) < ($1.sequence, $1.offset) }) {
      load(chunk)
    }
    compareChecksums(of: index.chunks)
    // Replay opens chunks in the order of their times.
    eventChunks.sort { ($0.baseTime, $0.sequence) < ($1.baseTime, $1.sequence) }
    refcountChunks.sort { ($0.baseTime, $0.sequence) < ($1.baseTime, $1.sequence) }
    if let lost = index.lostTimes(begun: header.chunks, hasOneThread: hasOneThread) {
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
        loader.addDamage(in: chunk, from: position, "stack nodes whose IDs are out of range")
      }
    case MT_CHUNK_STACKS.rawValue where encoding == MT_ENCODING_PREDICTED.rawValue:
      withBytes(of: chunk) { loader, bytes in
        guard let position = loader.stacks.decodePredicted(bytes, firstID: chunk.firstID) else {
          return
        }
        let reason = "bytes that are no stack node"
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

  /// Compares what is loaded with its checksums; events are compared when they are read.
  private mutating func compareChecksums(of chunks: [ChunkHeader]) {
    for chunk in chunks where !damagedChunks.contains(chunk.offset) {
      guard let checksum = meta.checksums[chunk.sequence], let elements = chunk.loadedElements
      else { continue }
      let start = chunk.offset &+ UInt64(ChunkHeader.size)
      if !checksum.isKept(in: file, at: start, lastTime: nil) { addDoubt(in: chunk, elements) }
    }
    for position in eventChunks.indices where eventChunks[position].isAsRecorded {
      eventChunks[position].checksum = meta.checksums[eventChunks[position].sequence]
    }
    for position in refcountChunks.indices {
      refcountChunks[position].checksum = meta.checksums[refcountChunks[position].sequence]
    }
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
        keysAnnounced: header.flags.contains(.announced)))
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
        if !bytes.isKept(chunk), !damagedChunks.contains(chunk.offset) {
          addDoubt(in: chunk, "records of a snapshot")
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
      case .bypassed: coverage.bypassed.append(note.text)
      case .childNotFollowed:
        coverage.childrenNotFollowed.append(note.text)
        if note.value != 0 { coverage.forksAreNotFollowed = true }
      case .text: coverage.notes.append(note.text)
      case .noSnapshot:
        coverage.notes.append("no whole heap snapshot at the end: \(note.text)")
      case .rebound where note.value != 0: coverage.boundLate.append(note.text)
      case .bundled: coverage.bundled.append(note.text)
      case .exec, .child, .rebound, .mayCrash, .zombies, .redzones, .guarded, .failAt, .limit,
        .attached, .unknown:
        break
      }
    }
  }
}
