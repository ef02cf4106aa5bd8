import CTraceFormat

/// Reads the columns of one chunk, a batch of events at a time.
///
/// All columns are in memory, followed by ``guardLength`` bytes: a batch is decoded without looking
/// at the ends of the columns, which are checked once behind it. The owner frees it with
/// ``deallocate()``.
struct ColumnDecoder {
  /// How many events are decoded before the ends of the columns are looked at.
  private static let stretch = 64
  /// What may be read beyond the last column by a stretch of events: a varint for each, and one
  /// alignment or thread more.
  static let guardLength = stretch * VarInt.guardLength * 2 + 16

  /// The recorder's index of the thread.
  private(set) var thread: UInt32
  /// The next event, and how many there are.
  private(set) var next = 0
  let count: Int

  private var model: ColumnModel
  private let table: OperationTable
  private var time: UInt64
  private let buffer: UnsafeMutableRawBufferPointer
  private var operations: UnsafeRawPointer
  private var times: UnsafeRawPointer
  private var stackCodes: UnsafeRawPointer
  private var stacks: UnsafeRawPointer
  private var sizes: UnsafeRawPointer
  private var placeCodes: UnsafeRawPointer
  private var places: UnsafeRawPointer
  private var endCodes: UnsafeRawPointer
  private var ends: UnsafeRawPointer
  private var rest: UnsafeRawPointer
  /// Where the columns end.
  private let limits: UnsafeMutablePointer<UnsafeRawPointer>
  private var isMalformed = false

  /// Takes over the content of a chunk; nil when the columns do not fit, and it is freed then, too.
  ///
  /// - Parameters:
  ///   - content: The chunk without its header, in memory that the decoder frees; with
  ///     ``guardLength`` bytes more that it does not own.
  ///   - time: The base time of the chunk.
  ///   - thread: The thread that begins it.
  ///   - table: The operations.
  init?(
    takingOver content: UnsafeMutableRawBufferPointer, time: UInt64, thread: UInt32,
    table: OperationTable
  ) {
    let bytes = UnsafeRawBufferPointer(rebasing: content.dropLast(Self.guardLength))
    guard content.count > Self.guardLength, let layout = ColumnLayout(bytes),
      let base = bytes.baseAddress
    else {
      content.deallocate()
      return nil
    }
    buffer = content
    limits = .allocate(capacity: Column.allCases.count)
    for column in Column.allCases {
      (limits + column.rawValue).initialize(to: base + layout.bounds[column.rawValue + 1])
    }
    count = layout.count
    model = ColumnModel(events: count)
    self.table = table
    self.time = time
    self.thread = thread
    let start = { (column: Column) in base + layout.bounds[column.rawValue] }
    operations = start(.operations)
    times = start(.times)
    stackCodes = start(.stackCodes)
    stacks = start(.stacks)
    sizes = start(.sizes)
    placeCodes = start(.placeCodes)
    places = start(.places)
    endCodes = start(.endCodes)
    ends = start(.ends)
    rest = start(.rest)
  }

  func deallocate() {
    buffer.deallocate()
    limits.deallocate()
    model.deallocate()
  }

  /// Adds some events to a batch, up to the next change of thread.
  ///
  /// - Returns: As ``EventDecoder/fill(_:)``.
  mutating func fill(_ batch: inout EventBatch) -> EventDecoder.Outcome {
    let (events, first) = (batch.events, batch.count)
    let end = min(first + Self.stretch, batch.capacity)
    var (count, greatestTime) = (first, batch.greatestTime)
    let changes = table.allocations | table.deallocations
    let sized = table.allocations | table.sized
    var outcome = EventDecoder.Outcome.batch
    while count < end, next < self.count {
      let operation = operations.load(as: UInt8.self)
      operations += 1
      next &+= 1
      let bit = operation < 64 ? UInt64(1) << UInt64(operation) : 0
      let event = events + count
      if bit & changes != 0 {
        event.pointee.operation = operation
        time &+= VarInt.read(&times, &isMalformed)
        event.pointee.time = time
        event.pointee.stack = readStack()
        let size = bit & sized != 0 ? readSize() : 0
        event.pointee.size = size
        event.pointee.address = bit & table.allocations != 0 ? readBegin(size) : readEnd()
        let alignment = bit & table.aligned != 0 ? VarInt.read(&rest, &isMalformed) : 0
        event.pointee.alignment = AlignmentCode(alignment)
        if event.pointee.alignment == .odd { batch.setOdd(alignment, of: event) }
      } else if UInt32(operation) == MT_OP_THREAD.rawValue {
        thread = UInt32(truncatingIfNeeded: VarInt.read(&rest, &isMalformed))
        outcome = .thread
        break
      } else {
        readControl(event, operation)
      }
      if isMalformed { break }
      count &+= 1
      greatestTime = max(greatestTime, time)
    }
    if isMalformed || !isWithinColumns {
      // What this stretch holds cannot be told from what lies behind the columns.
      return .malformed
    }
    (batch.count, batch.greatestTime) = (count, greatestTime)
    return outcome
  }

  /// Visits all events of a chunk's content.
  ///
  /// - Parameters:
  ///   - content: The chunk without its header.
  ///   - baseTime: That of the chunk.
  ///   - thread: That of the chunk.
  ///   - body: Gets the next event; false stops the visit.
  /// - Returns: false when the visit was stopped or the columns are damaged.
  static func forEachEvent(
    of content: [UInt8], baseTime: UInt64, thread: UInt32, _ body: (Event) -> Bool
  ) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: content.count + guardLength, alignment: 16)
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    buffer.copyBytes(from: content)
    guard
      var decoder = ColumnDecoder(
        takingOver: buffer, time: baseTime, thread: thread, table: OperationTable())
    else { return false }
    defer { decoder.deallocate() }
    var batch = EventBatch(capacity: stretch)
    defer { batch.deallocate() }
    while decoder.next < decoder.count {
      batch.clear()
      batch.thread = decoder.thread
      if decoder.fill(&batch) == .malformed { return false }
      for index in 0..<batch.count where !body(Event(batch, batch.events + index)) { return false }
    }
    return true
  }

  /// Whether no column was read beyond its end.
  private var isWithinColumns: Bool {
    operations <= limits[Column.operations.rawValue] && times <= limits[Column.times.rawValue]
      && stackCodes <= limits[Column.stackCodes.rawValue]
      && stacks <= limits[Column.stacks.rawValue] && sizes <= limits[Column.sizes.rawValue]
      && placeCodes <= limits[Column.placeCodes.rawValue]
      && places <= limits[Column.places.rawValue] && endCodes <= limits[Column.endCodes.rawValue]
      && ends <= limits[Column.ends.rawValue] && rest <= limits[Column.rest.rawValue]
  }

  @inline(never)
  private mutating func readControl(_ event: UnsafeMutablePointer<RawEvent>, _ operation: UInt8) {
    event.pointee = RawEvent(operation: operation)
    time &+= VarInt.read(&times, &isMalformed)
    event.pointee.time = time
    switch UInt32(operation) {
    case MT_OP_REALLOC_BEGIN.rawValue:
      event.pointee.stack = readStack()
      event.pointee.address = readEnd()
    case MT_OP_REALLOC_END.rawValue:
      event.pointee.size = readSize()
      event.pointee.address = readBegin(event.pointee.size)
    case MT_OP_REALLOC_FAIL.rawValue, MT_OP_REALLOC_LEFT.rawValue:
      event.pointee.size = readSize()
    case MT_OP_FAILED.rawValue:
      event.pointee.stack = readStack()
      event.pointee.size = readSize()
      event.pointee.detail = UInt16(truncatingIfNeeded: VarInt.read(&rest, &isMalformed)) & 0xff
      isMalformed = isMalformed || !OperationTable.canFail(event.pointee.detail)
    default:
      isMalformed = true
    }
  }

  @inline(__always)
  private mutating func readStack() -> UInt32 {
    let code = stackCodes.load(as: UInt8.self)
    stackCodes += 1
    let stack: UInt32
    switch code {
    case StackCode.afterTwo: stack = model.stackAfterTwo
    case StackCode.afterOne: stack = model.stackAfterOne
    default:
      let distance = VarInt.unzigzag(VarInt.read(&stacks, &isMalformed))
      stack = model.stack &+ UInt32(truncatingIfNeeded: distance)
    }
    model.follow(stack)
    return stack
  }

  @inline(__always)
  private mutating func readSize() -> UInt64 {
    let value = VarInt.read(&sizes, &isMalformed)
    if value == 0 { return model.expectedSize }
    model.note(size: value &- 1)
    return value &- 1
  }

  @inline(__always)
  private mutating func readBegin(_ size: UInt64) -> UInt64 {
    let code = placeCodes.load(as: UInt8.self)
    placeCodes += 1
    var address = model.expectedAddress
    if code == PlaceCode.explicit {
      address &+= Self.readDistance(&places, &isMalformed)
    } else if code != PlaceCode.behind {
      let rank = Int(code &- PlaceCode.firstRank)
      if rank < PlaceCode.ranks, let freed = model.takeFreed(size: size, rank: rank) {
        address = freed
      } else {
        isMalformed = true
      }
    }
    model.begin(address, size: size)
    return address
  }

  @inline(__always)
  private mutating func readEnd() -> UInt64 {
    let code = endCodes.load(as: UInt8.self)
    endCodes += 1
    var order = model.endedLast
    if code >= EndCode.firstNear {
      order += Int(code &- EndCode.firstNear) - EndCode.nearReach
    } else if code >= EndCode.firstAge {
      order = model.count - 1 - Int(code &- EndCode.firstAge)
    } else if code == EndCode.byOrder {
      let distance = VarInt.unzigzag(VarInt.read(&ends, &isMalformed))
      order = order &+ Int(truncatingIfNeeded: distance)
    } else {
      model.farAddress &+= Self.readDistance(&ends, &isMalformed)
      return model.farAddress
    }
    guard let address = model.address(order) else {
      isMalformed = true
      return 0
    }
    model.end(order)
    return address
  }

  @inline(__always)
  private static func readDistance(
    _ column: inout UnsafeRawPointer, _ isMalformed: inout Bool
  ) -> UInt64 {
    let value = VarInt.read(&column, &isMalformed)
    let distance = VarInt.unzigzag(value >> 1)
    return value & 1 == 0 ? distance << 4 : distance
  }
}
