/// An event as decoded, and at once what the decoder has to remember for the next one.
///
/// A field that an operation does not have keeps the value of an earlier event.
struct RawEvent {
  var time: UInt64 = 0
  var address: UInt64 = 0
  var size: UInt64 = 0
  /// 0 for operations without one.
  var alignment: UInt64 = 0
  var stack: UInt32 = 0
  /// The recorder's index of the thread.
  var thread: UInt32 = 0
  /// A dense number of the thread, given out by ``ThreadSlots``.
  var slot: UInt32 = 0
  var operation: UInt8 = 0
  /// For failed allocations, the function that failed.
  var function: UInt8 = 0
}

/// Dense numbers for the threads of a trace, in the order in which their events come.
///
/// Thread indices come from the file and may be any number, so they cannot index an array.
struct ThreadSlots {
  private(set) var threads: [UInt32] = []
  private var slots: [UInt32: UInt32] = [:]
  private var cursors: [Int] = []

  /// More threads than this share the last slot: a damaged trace can name any number of them.
  private static let greatestCount = 1 << 22

  mutating func slot(of thread: UInt32) -> UInt32 {
    if let slot = slots[thread] { return slot }
    guard threads.count < Self.greatestCount else { return UInt32(Self.greatestCount - 1) }
    let slot = UInt32(threads.count)
    threads.append(thread)
    cursors.append(-1)
    slots[thread] = slot
    return slot
  }

  /// Notes that a thread goes on in the chunk with this cursor, and returns the thread's slot.
  mutating func enter(_ thread: UInt32, cursor: Int) -> UInt32 {
    let slot = slot(of: thread)
    cursors[Int(slot)] = cursor
    return slot
  }

  /// The cursor that a thread was last seen in; -1 when there is none.
  func cursor(of thread: UInt32) -> Int {
    slots[thread].map { cursors[Int($0)] } ?? -1
  }
}
