/// An event as decoded; its thread is that of its ``EventBatch``.
///
/// A field that an operation does not have keeps the value of an earlier event.
struct RawEvent {
  var time: UInt64 = 0
  /// Of a block, its ``BlockKey``.
  var address: UInt64 = 0
  var size: UInt64 = 0
  var stack: UInt32 = 0
  var operation: UInt8 = 0
  var alignment = AlignmentCode.none
  /// For failed allocations, the function that failed; for alignments that are no power of two, their
  /// number among those of the batch.
  var detail: UInt16 = 0
}

/// An alignment in one byte, the same one as in a ``LiveEntry``.
struct AlignmentCode: Equatable {
  /// One more than the exponent of the power of two.
  var rawValue: UInt8

  /// For operations without one.
  static let none = AlignmentCode(rawValue: 0)
  /// No power of two: stored elsewhere.
  static let odd = AlignmentCode(rawValue: 255)

  init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// - Parameter exponent: 0 ..< 64.
  @inline(__always)
  init(exponent: UInt8) {
    rawValue = (exponent & 63) &+ 1
  }

  /// The code of an alignment.
  @inline(__always)
  init(_ alignment: UInt64) {
    if alignment == 0 {
      self = .none
    } else if alignment & (alignment &- 1) != 0 {
      self = .odd
    } else {
      self.init(exponent: UInt8(truncatingIfNeeded: alignment.trailingZeroBitCount))
    }
  }

  /// The code of the next power of two.
  init(roundingUp alignment: UInt64) {
    let exponent = UInt64.bitWidth - (alignment &- 1).leadingZeroBitCount
    rawValue = alignment == 0 ? 0 : UInt8(min(64, exponent + 1))
  }

  /// The alignment, unless it is odd.
  @inline(__always)
  var value: UInt64 { rawValue == 0 ? 0 : 1 << UInt64((rawValue &- 1) & 63) }
}

/// Events of one thread that follow each other in a chunk.
///
/// The owner frees it with ``deallocate()``.
struct EventBatch {
  let events: UnsafeMutablePointer<RawEvent>
  /// How many it can hold; ``RawEvent/detail`` can count them.
  let capacity: Int
  /// How many more there are in memory behind them, which mean nothing: who looks ahead need not
  /// look where the batch ends.
  static let margin = 32
  var count = 0
  /// The recorder's index of the thread.
  var thread: UInt32 = 0
  /// The thread of the events that come after these in the chunk.
  var threadAfter: UInt32 = 0
  /// The greatest time of all events.
  var greatestTime: UInt64 = 0
  /// Alignments that are no power of two, which hardly any batch has; nil until there is one.
  private var oddAlignments: UnsafeMutablePointer<UInt64>?
  private var oddCount = 0

  static let greatestCapacity = 1 << 12

  init(capacity: Int) {
    self.capacity = min(max(capacity, 1), Self.greatestCapacity)
    events = .allocate(capacity: self.capacity + Self.margin)
    events.initialize(repeating: RawEvent(), count: self.capacity + Self.margin)
  }

  func deallocate() {
    events.deallocate()
    oddAlignments?.deallocate()
  }

  /// Makes room for other events.
  mutating func clear() {
    count = 0
    greatestTime = 0
    oddCount = 0
  }

  /// Leaves out the events after a time.
  mutating func leaveOut(after end: UInt64) {
    while count > 0, events[count - 1].time > end { count &-= 1 }
    greatestTime = min(greatestTime, end)
  }

  /// Turns addresses of announced blocks into their keys.
  ///
  /// - Parameter announced: The operations on such blocks.
  func keyAnnounced(_ announced: UInt64) {
    for position in 0..<count
    where announced & OperationTable.bit(events[position].operation) != 0 {
      events[position].address |= BlockKey.announced
    }
  }

  /// Gives an event an alignment that is no power of two.
  @inline(never)
  mutating func setOdd(_ alignment: UInt64, of event: UnsafeMutablePointer<RawEvent>) {
    // Also events that turn out to be damaged come here, but the batch ends with one.
    let odd = oddAlignments ?? .allocate(capacity: capacity + 1)
    oddAlignments = odd
    guard oddCount <= capacity else { return }
    (odd + oddCount).initialize(to: alignment)
    event.pointee.alignment = .odd
    event.pointee.detail = UInt16(truncatingIfNeeded: oddCount)
    oddCount += 1
  }

  /// The alignment that an event asked for; 0 for none.
  @inline(__always)
  func alignment(of event: UnsafePointer<RawEvent>) -> UInt64 {
    event.pointee.alignment == .odd
      ? Self.odd(event, oddAlignments, oddCount) : event.pointee.alignment.value
  }

  /// Likewise, rounded up to a power of two.
  @inline(__always)
  func code(of event: UnsafePointer<RawEvent>) -> AlignmentCode {
    event.pointee.alignment == .odd
      ? AlignmentCode(roundingUp: Self.odd(event, oddAlignments, oddCount))
      : event.pointee.alignment
  }

  /// Static, because the batch would be copied for it.
  @inline(never)
  private static func odd(
    _ event: UnsafePointer<RawEvent>, _ alignments: UnsafeMutablePointer<UInt64>?, _ count: Int
  ) -> UInt64 {
    let number = Int(event.pointee.detail)
    guard let alignments, number < count else { return 0 }
    return alignments[number]
  }
}
