import CTraceFormat

/// Decodes the event stream of one chunk into batches, out of a window of its bytes.
///
/// Here is what the encodings share, and the plain one; the other is in
/// `EventDecoder+Predicted.swift`.
/// The window ends in ``guardLength`` bytes that may be loaded but hold nothing: an event is
/// decoded without looking at bounds, which are checked once behind it.
struct EventDecoder {
  /// Why a batch ended.
  enum Outcome {
    /// The batch is full, or the window is used up.
    case batch
    /// The rest belongs to another thread, whose index is in ``thread``.
    case thread
    /// The stream ends here.
    case end
    /// The event does not lie within the window.
    case pastEnd
    /// The bytes are no event.
    case malformed
  }

  /// The least number of bytes that must follow the end of a window.
  static let guardLength = Int(MT_EVENT_MAX_LENGTH)

  var position: UnsafeRawPointer
  var end: UnsafeRawPointer
  /// Where no further event is begun, because its bytes may not all be there yet.
  var lastStart: UnsafeRawPointer
  /// The recorder's index of the thread.
  var thread: UInt32

  var time: UInt64
  private var address: UInt64 = 0
  private var stack: UInt32 = 0
  let table: OperationTable
  /// What is expected; nil for the encoding that expects nothing.
  let predictor: UnsafeMutablePointer<mt_predictor>?

  init(
    window: UnsafeRawPointer, time: UInt64, thread: UInt32, table: OperationTable,
    predictor: UnsafeMutablePointer<mt_predictor>?
  ) {
    self.predictor = predictor
    (position, end, lastStart) = (window, window, window)
    self.time = time
    self.thread = thread
    self.table = table
  }

  /// Adds events to a batch.
  mutating func fill(_ batch: inout EventBatch) -> Outcome {
    guard let predictor else { return fillPlain(&batch) }
    return fillPredicted(predictor, &batch)
  }

  private mutating func fillPlain(_ batch: inout EventBatch) -> Outcome {
    // Locals stay in registers; members would be stored for each event.
    var (next, at) = (position, position)
    var (count, time, address, stack) = (batch.count, time, address, stack)
    var greatestTime = batch.greatestTime
    let (events, capacity) = (batch.events, batch.capacity)
    let (end, lastStart) = (end, lastStart)
    let (changes, sized) = (
      table.allocations | table.deallocations, table.allocations | table.sized
    )
    let aligned = table.aligned
    var outcome = Outcome.batch
    var isMalformed = false
    defer {
      self.position = next
      (self.time, self.address, self.stack) = (time, address, stack)
      (batch.count, batch.greatestTime) = (count, greatestTime)
    }
    while count < capacity, next < lastStart {
      at = next
      let tag = at.load(as: UInt8.self)
      let operation = tag & UInt8(MT_TAG_OPERATION)
      let bit = UInt64(1) << UInt64(operation)
      at += 1
      if tag & 0x80 == 0, bit & changes != 0 {
        time &+= VarInt.read(&at, &isMalformed)
        let delta = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
        address &+= delta << (tag & UInt8(MT_TAG_FINE) != 0 ? 0 : 4)
        stack &+= UInt32(
          truncatingIfNeeded: VarInt.unzigzag(VarInt.read(&at, &isMalformed)))
        let event = events + count
        event.pointee.time = time
        event.pointee.address = address
        event.pointee.stack = stack
        event.pointee.size = bit & sized != 0 ? VarInt.read(&at, &isMalformed) : 0
        event.pointee.operation = operation
        let alignment = bit & aligned != 0 ? VarInt.read(&at, &isMalformed) : 0
        event.pointee.alignment = AlignmentCode(alignment)
        if event.pointee.alignment == .odd { batch.setOdd(alignment, of: event) }
      } else {
        if tag == 0 { return .end }
        guard tag & 0x80 == 0 else { return .malformed }
        var event = RawEvent(time: time, address: address, stack: stack, operation: operation)
        var thread = thread
        guard Self.readControl(&event, &thread, &at, tag) else { return .malformed }
        if at > end { return .pastEnd }
        (time, address, stack) = (event.time, event.address, event.stack)
        if operation == UInt8(truncatingIfNeeded: MT_OP_THREAD.rawValue) {
          self.thread = thread
          next = at
          return .thread
        }
        events[count] = event
      }
      if isMalformed {
        outcome = .malformed
        break
      }
      if at > end {
        outcome = .pastEnd
        break
      }
      next = at
      count &+= 1
      greatestTime = max(greatestTime, time)
    }
    return outcome
  }

  /// Reads an operation that is neither allocation nor deallocation; false when it is no event.
  @inline(never)
  private static func readControl(
    _ event: inout RawEvent, _ thread: inout UInt32, _ at: inout UnsafeRawPointer, _ tag: UInt8
  ) -> Bool {
    var isMalformed = false
    event.time &+= VarInt.read(&at, &isMalformed)
    switch UInt32(event.operation) {
    case MT_OP_REALLOC_BEGIN.rawValue:
      readAddress(&event, &at, tag, &isMalformed)
      readStack(&event, &at, &isMalformed)
    case MT_OP_REALLOC_END.rawValue:
      readAddress(&event, &at, tag, &isMalformed)
      event.size = VarInt.read(&at, &isMalformed)
    case MT_OP_REALLOC_FAIL.rawValue, MT_OP_REALLOC_LEFT.rawValue:
      event.size = VarInt.read(&at, &isMalformed)
    case MT_OP_FAILED.rawValue:
      readStack(&event, &at, &isMalformed)
      event.size = VarInt.read(&at, &isMalformed)
      event.detail = UInt16(truncatingIfNeeded: VarInt.read(&at, &isMalformed)) & 0xff
      isMalformed = isMalformed || !OperationTable.canFail(event.detail)
    case MT_OP_THREAD.rawValue:
      thread = UInt32(truncatingIfNeeded: VarInt.read(&at, &isMalformed))
    default:
      return false
    }
    return !isMalformed
  }

  private static func readAddress(
    _ event: inout RawEvent, _ at: inout UnsafeRawPointer, _ tag: UInt8, _ isMalformed: inout Bool
  ) {
    let delta = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
    event.address &+= delta << (tag & UInt8(MT_TAG_FINE) != 0 ? 0 : 4)
  }

  private static func readStack(
    _ event: inout RawEvent, _ at: inout UnsafeRawPointer, _ isMalformed: inout Bool
  ) {
    let delta = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
    event.stack &+= UInt32(truncatingIfNeeded: delta)
  }
}
