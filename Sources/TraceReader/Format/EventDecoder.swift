import CTraceFormat

/// Decodes the event stream of one chunk out of a window of its bytes.
///
/// The window ends in ``guardLength`` bytes that may be loaded but hold nothing: an event is
/// decoded without looking at bounds, which are checked once behind it.
struct EventDecoder {
  /// What came of decoding an event.
  enum Outcome {
    /// The event is complete.
    case event
    /// The rest belongs to another thread, whose index is in `event.thread`.
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

  var event = RawEvent()
  var position: UnsafeRawPointer
  var end: UnsafeRawPointer
  let table: OperationTable

  @inline(__always)
  mutating func next() -> Outcome {
    guard position < end else { return .end }
    let tag = position.load(as: UInt8.self)
    if tag == 0 { return .end }
    let operation = tag & UInt8(MT_TAG_OPERATION)
    let bit = UInt64(1) << UInt64(operation)
    var at = position + 1
    var isMalformed = tag & 0x80 != 0
    var next = event
    next.operation = operation
    next.time &+= VarInt.read(&at, &isMalformed)
    if bit & (table.allocations | table.deallocations) != 0 {
      Self.readAddress(&next, &at, tag, &isMalformed)
      Self.readStack(&next, &at, &isMalformed)
      if bit & (table.allocations | table.sized) != 0 {
        next.size = VarInt.read(&at, &isMalformed)
      }
      next.alignment = 0
      if bit & table.aligned != 0 { next.alignment = VarInt.read(&at, &isMalformed) }
    } else {
      Self.readControl(&next, &at, tag, &isMalformed)
    }
    if isMalformed { return .malformed }
    if at > end { return .pastEnd }
    position = at
    event = next
    return operation == UInt8(truncatingIfNeeded: MT_OP_THREAD.rawValue) ? .thread : .event
  }

  @inline(__always)
  private static func readAddress(
    _ event: inout RawEvent, _ at: inout UnsafeRawPointer, _ tag: UInt8, _ isMalformed: inout Bool
  ) {
    let delta = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
    event.address &+= tag & UInt8(MT_TAG_FINE) != 0 ? delta : delta << 4
  }

  @inline(__always)
  private static func readStack(
    _ event: inout RawEvent, _ at: inout UnsafeRawPointer, _ isMalformed: inout Bool
  ) {
    let delta = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
    event.stack &+= UInt32(truncatingIfNeeded: delta)
  }

  private static func readControl(
    _ event: inout RawEvent, _ at: inout UnsafeRawPointer, _ tag: UInt8, _ isMalformed: inout Bool
  ) {
    event.alignment = 0
    switch UInt32(event.operation) {
    case MT_OP_REALLOC_BEGIN.rawValue:
      readAddress(&event, &at, tag, &isMalformed)
      readStack(&event, &at, &isMalformed)
    case MT_OP_REALLOC_END.rawValue:
      readAddress(&event, &at, tag, &isMalformed)
      event.size = VarInt.read(&at, &isMalformed)
    case MT_OP_REALLOC_FAIL.rawValue:
      event.size = VarInt.read(&at, &isMalformed)
    case MT_OP_FAILED.rawValue:
      readStack(&event, &at, &isMalformed)
      event.size = VarInt.read(&at, &isMalformed)
      event.function = UInt8(truncatingIfNeeded: VarInt.read(&at, &isMalformed))
    case MT_OP_THREAD.rawValue:
      event.thread = UInt32(truncatingIfNeeded: VarInt.read(&at, &isMalformed))
    default:
      isMalformed = true
    }
  }
}
