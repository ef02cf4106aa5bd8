import CTraceFormat
import SystemPackage
import TraceReader

/// Builds traces as bytes by hand, event by event.
///
/// ```swift
/// var trace = TraceBuilder()
/// let stack = trace.stack([0x1010, 0x1000])
/// trace.allocate(0x10_0000, 1000, stack: stack)
/// trace.free(0x10_0000, stack: stack)
/// let url = try trace.write()
/// ```
/// Each thread has a lane of chunks. Events get ascending times unless they name one.
public struct TraceBuilder: Sendable {
  /// The fields of the file header that is written.
  public var header: TraceHeader
  /// The least length of event chunks; a lane that fills one goes on in another.
  public var eventChunkLength = 4096
  /// Whether the headers of full chunks say when their last events were, as those of recorders do.
  public var notesLastTimes = true
  /// The time of the latest event.
  public private(set) var time: UInt64

  var snapshots: [SnapshotBuilder] = []
  private var records = ByteWriter()
  private var nodes: [(pc: UInt64, parent: UInt32, flags: UInt32)] = []
  private var nodeIDs: [NodeKey: UInt32] = [:]
  private var lanes: [UInt32: Lane] = [:]
  private var finished: [Lane] = []

  private struct NodeKey: Hashable {
    var pc: UInt64
    var parent: UInt32
  }

  private struct Lane: Sendable {
    var thread: UInt32
    var baseTime: UInt64
    var encoder: EventEncoder
    /// 0 inside a `realloc`, as recorders write it.
    var lastTime: UInt64 = 0
  }

  /// Events that somebody else has encoded.
  private struct EncodedChunk: Sendable {
    var thread: UInt32
    var baseTime: UInt64
    var encoding: UInt32
    var bytes: [UInt8]
    var kind: mt_chunk_kind
  }
  private var encodedChunks: [EncodedChunk] = []
  private var refcounts: [UInt32: RefcountEncoder] = [:]
  private var encodedNodes: [(bytes: [UInt8], firstID: UInt32)] = []

  /// Creates a trace of a process that ended with `exit(0)`; a tick is a nanosecond.
  public init() {
    header = TraceHeader()
    header.major = UInt16(MT_FORMAT_MAJOR)
    header.minor = UInt16(MT_FORMAT_MINOR)
    header.machine = 62
    header.pointerBits = 64
    header.pageSize = 4096
    header.traceID = TraceID(low: 0x0123_4567_89ab_cdef, high: 1)
    header.sessionID = TraceID(low: 2, high: 2)
    (header.pid, header.ppid, header.uid) = (4711, 4710, 1000)
    header.stackDepth = 128
    header.ticksPerSecond = 1_000_000_000
    header.startTicks = 1000
    header.startWallNanoseconds = 1_700_000_000_000_000_000
    header.ramBytes = 16 << 30
    header.endKind = UInt32(MT_END_EXIT.rawValue)
    header.counters = Array(repeating: 0, count: Int(MT_COUNTER_SLOTS))
    time = 1000
  }

  // MARK: Stacks

  /// Interns a backtrace.
  ///
  /// - Parameters:
  ///   - returnAddresses: Leaf first; must not be empty.
  ///   - isCut: Whether outer frames are left out.
  /// - Returns: The ID of its leaf node.
  public mutating func stack(_ returnAddresses: [UInt64], isCut: Bool = false) -> StackID {
    var parent = isCut ? StackID.cut.rawValue : StackID.none.rawValue
    for pc in returnAddresses.reversed() { parent = node(pc: pc, parent: parent) }
    return StackID(parent)
  }

  private mutating func node(pc: UInt64, parent: UInt32) -> UInt32 {
    let key = NodeKey(pc: pc, parent: parent)
    if let id = nodeIDs[key] { return id }
    return appendNode(pc: pc, parent: parent).rawValue
  }

  /// Adds a node as it is, even one that no recorder would write.
  public mutating func appendNode(pc: UInt64, parent: UInt32, flags: UInt32 = 0) -> StackID {
    let id = UInt32(MT_STACK_FIRST) + UInt32(nodes.count)
    nodes.append((pc, parent, flags))
    nodeIDs[NodeKey(pc: pc, parent: parent)] = id
    return StackID(id)
  }

  /// Adds a chunk of nodes as it is, in the predicted encoding.
  public mutating func appendNodeChunk(_ bytes: [UInt8], firstID: UInt32) {
    encodedNodes.append((bytes, firstID))
  }

  // MARK: Events

  /// Adds an event to the lane of a thread.
  public mutating func append(_ event: Event, lane: UInt32? = nil) {
    let thread = lane ?? event.thread.rawValue
    time = max(time, event.time.rawValue)
    if event.operation.isOfAnnounced { noteAnnounced() }
    if let full = lanes[thread],
      full.encoder.writer.bytes.count + Int(MT_EVENT_MAX_LENGTH) + Int(MT_CHUNK_HEADER_SIZE)
        > eventChunkLength
    {
      endChunk(of: thread)
    }
    let new = Lane(
      thread: thread, baseTime: event.time.rawValue,
      encoder: EventEncoder(baseTime: event.time.rawValue))
    lanes[thread, default: new].encoder.append(event)
    lanes[thread]?.lastTime = event.operation == .reallocBegin ? 0 : event.time.rawValue
  }

  /// Makes the trace one with announced blocks, as recorders do before their first event.
  public mutating func noteAnnounced() {
    header.major = UInt16(MT_FORMAT_MAJOR_ANNOUNCED)
    header.flags.insert(.announced)
  }

  /// Adds an announced block.
  public mutating func announce(
    _ address: UInt64, _ size: UInt64, stack: StackID = .none, thread: UInt32 = 1,
    time: UInt64? = nil
  ) {
    allocate(address, size, .announced, stack: stack, thread: thread, time: time)
  }

  /// Adds the end of an announced block.
  public mutating func announceEnd(
    _ address: UInt64, stack: StackID = .none, thread: UInt32 = 1, time: UInt64? = nil
  ) {
    free(address, .announcedEnd, stack: stack, thread: thread, time: time)
  }

  /// Lets the next event of a thread begin a new chunk.
  public mutating func endChunk(of thread: UInt32) {
    if let lane = lanes.removeValue(forKey: thread) { finished.append(lane) }
  }

  /// Adds a chunk of events as it is.
  public mutating func appendChunk(
    _ bytes: [UInt8], encoding: UInt32, thread: UInt32 = 1, baseTime: UInt64,
    kind: mt_chunk_kind = MT_CHUNK_EVENTS
  ) {
    encodedChunks.append(
      EncodedChunk(
        thread: thread, baseTime: baseTime, encoding: encoding, bytes: bytes, kind: kind))
  }

  // MARK: Reference counts

  /// Adds a reference count event to those of its thread, which are in one chunk.
  public mutating func add(_ event: RefcountEvent) {
    time = max(time, event.time.rawValue)
    let thread = event.thread.rawValue
    refcounts[thread, default: RefcountEncoder(baseTime: event.time.rawValue)].append(event)
  }

  /// Adds a retain, a release or their kin; the amount goes with those that have one.
  public mutating func count(
    _ call: RefcountEvent.Call, _ object: UInt64, count: UInt64, amount: UInt32 = 1,
    stack: StackID = .none, thread: UInt32 = 1, time: UInt64? = nil
  ) {
    add(
      RefcountEvent(
        call: call, time: EventTime(time ?? self.time + 1), thread: ThreadIndex(thread),
        object: Address(object), amount: amount, count: count, stack: stack))
  }

  /// Adds an allocation.
  public mutating func allocate(
    _ address: UInt64, _ size: UInt64, alignment: UInt64 = 0, _ operation: Operation = .malloc,
    stack: StackID = .none, thread: UInt32 = 1, time: UInt64? = nil
  ) {
    append(
      event(
        operation, thread, time, address: address, size: size, alignment: alignment, stack: stack))
  }

  /// Adds a deallocation; `size` and `alignment` are used by operations that say them.
  public mutating func free(
    _ address: UInt64, size: UInt64 = 0, alignment: UInt64 = 0, _ operation: Operation = .free,
    stack: StackID = .none, thread: UInt32 = 1, time: UInt64? = nil
  ) {
    append(
      event(
        operation, thread, time, address: address, size: size, alignment: alignment, stack: stack))
  }

  /// Adds both halves of a `realloc`.
  public mutating func reallocate(
    _ old: UInt64, to new: UInt64, _ size: UInt64, stack: StackID = .none, thread: UInt32 = 1
  ) {
    append(event(.reallocBegin, thread, nil, address: old, stack: stack))
    append(event(.reallocEnd, thread, nil, address: new, size: size))
  }

  /// Adds any event; what its operation does not have is left out.
  public mutating func add(
    _ operation: Operation, address: UInt64 = 0, size: UInt64 = 0, alignment: UInt64 = 0,
    stack: StackID = .none, function: Operation = .malloc, thread: UInt32 = 1, time: UInt64? = nil,
    lane: UInt32? = nil
  ) {
    var added = event(
      operation, thread, time, address: address, size: size, alignment: alignment, stack: stack)
    added.function = function
    append(added, lane: lane)
  }

  private func event(
    _ operation: Operation, _ thread: UInt32, _ time: UInt64?, address: UInt64 = 0,
    size: UInt64 = 0, alignment: UInt64 = 0, stack: StackID = .none
  ) -> Event {
    Event(
      operation: operation, time: EventTime(time ?? self.time + 1), thread: ThreadIndex(thread),
      address: Address(address), size: size, alignment: alignment, stack: stack)
  }

  // MARK: Bytes

  /// Adds a META record as it stands.
  public mutating func appendRecord(type: UInt16, content: [UInt8]) {
    records.write(UInt32(content.count + 8))
    records.write(type)
    records.write(UInt16(0))
    records.write(content)
    records.pad(to: 8)
  }

  /// The whole trace.
  public func bytes() -> [UInt8] {
    var file = [UInt8]()
    var chunks: UInt64 = 0
    func add(
      _ kind: mt_chunk_kind, _ content: [UInt8], encoding: UInt32 = MT_ENCODING_PLAIN.rawValue,
      thread: UInt32 = 0, baseTime: UInt64 = 0, lastTime: UInt64 = 0, firstID: UInt32 = 0
    ) {
      file += ChunkWriter.chunk(
        kind: UInt16(kind.rawValue), encoding: UInt16(encoding), content: content,
        offset: UInt64(Int(MT_FILE_HEADER_SIZE) + file.count), sequence: chunks,
        baseTime: baseTime, lastTime: lastTime, thread: thread, firstID: firstID,
        traceTag: header.traceID.low,
        length: kind == MT_CHUNK_EVENTS ? eventChunkLength : 0)
      chunks += 1
    }
    if !records.bytes.isEmpty { add(MT_CHUNK_META, records.bytes) }
    if !nodes.isEmpty { add(MT_CHUNK_STACKS, nodeBytes(), firstID: UInt32(MT_STACK_FIRST)) }
    for chunk in encodedNodes {
      add(
        MT_CHUNK_STACKS, chunk.bytes, encoding: MT_ENCODING_PREDICTED.rawValue,
        firstID: chunk.firstID)
    }
    let open = lanes.values.sorted { ($0.baseTime, $0.thread) < ($1.baseTime, $1.thread) }
    for (index, lane) in (finished + open).enumerated() {
      let isFull = index < finished.count
      add(
        MT_CHUNK_EVENTS, lane.encoder.writer.bytes, encoding: MT_ENCODING_VARINT.rawValue,
        thread: lane.thread, baseTime: lane.baseTime,
        lastTime: isFull && notesLastTimes ? lane.lastTime : 0)
    }
    for chunk in encodedChunks {
      add(
        chunk.kind, chunk.bytes, encoding: chunk.encoding, thread: chunk.thread,
        baseTime: chunk.baseTime)
    }
    for (thread, encoder) in refcounts.sorted(by: { $0.key < $1.key }) {
      add(
        MT_CHUNK_REFCOUNTS, encoder.writer.bytes, encoding: MT_ENCODING_PREDICTED.rawValue,
        thread: thread, baseTime: encoder.baseTime)
    }
    for (number, snapshot) in snapshots.enumerated() {
      let number = UInt32(number)
      add(MT_CHUNK_SNAPSHOT, snapshot.recordBytes(), firstID: number)
      let words = MT_ENCODING_WORDS.rawValue
      add(MT_CHUNK_SNAPSHOT, snapshot.wordBytes(), encoding: words, firstID: number)
      if let end = snapshot.endBytes() { add(MT_CHUNK_SNAPSHOT, end, firstID: number) }
    }
    var complete = header
    complete.chunks = chunks
    complete.fileEnd = UInt64(Int(MT_FILE_HEADER_SIZE) + file.count)
    if complete.endTicks == 0 { complete.endTicks = time }
    return complete.encoded() + file
  }

  private func nodeBytes() -> [UInt8] {
    var writer = ByteWriter()
    for node in nodes {
      writer.write(node.pc)
      writer.write(node.parent)
      writer.write(node.flags)
    }
    return writer.bytes
  }
}
