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
  /// Where the process ended, if that was in a fault or in `abort`.
  public let crash: Crash?
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
    let lastTime = OngoingRecording.lastTime(ofTraceAt: path)
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
    limits = MemoryLimits(header: header)

    // A process that has ended meanwhile has written all.
    let end = OngoingRecording.isOpenEnded(header) ? lastTime : nil
    ending = end == nil ? TraceEnding(header: header) : .running
    var loader = TraceLoader(file: file, header: header, end: end)
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
    crash = Crash.last(of: loader.meta.crashes, in: ending)
    ignoredBlocks = loader.meta.ignoredBlocks
    windows = header.flags.contains(.pausable) ? loader.meta.switches.windows : nil
    mappingCalls = loader.meta.mappingCalls
    let found = loader.snapshots.snapshots(images: loader.meta.imageMap).filter {
      $0.info.time <= end ?? .distantFuture
    }
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
