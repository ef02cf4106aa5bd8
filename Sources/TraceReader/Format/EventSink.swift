/// Events of one thread that come directly after each other.
///
/// ``EventBatch/margin`` events behind the last one can be looked at: those that come later, or any.
struct EventRun {
  /// What they are a part of.
  let batch: EventBatch
  /// The first one.
  let events: UnsafePointer<RawEvent>
  let count: Int
  /// A dense number of the thread, given out by ``ThreadSlots``.
  let slot: UInt32

  /// The recorder's index of the thread.
  @inline(__always)
  var thread: UInt32 { batch.thread }

  /// Some of the events.
  func part(from start: Int, count: Int) -> EventRun {
    EventRun(batch: batch, events: events + start, count: count, slot: slot)
  }

  /// Where the first event is that is later than a time.
  ///
  /// - Parameters:
  ///   - time: A time.
  ///   - start: An event that is not later.
  ///   - end: Where the search ends.
  /// - Returns: The position of that event, or `end`.
  @inline(__always)
  func position(after time: UInt64, from start: Int, to end: Int) -> Int {
    if batch.greatestTime <= time { return end }
    var position = start &+ 1
    while position < end, events[position].time <= time { position &+= 1 }
    return position
  }

  @inline(__always)
  func alignment(of event: UnsafePointer<RawEvent>) -> UInt64 { batch.alignment(of: event) }
}

/// Takes the events of a trace, run by run.
protocol EventSink: ~Copyable {
  /// - Returns: false to see no more events.
  mutating func receive(_ run: EventRun) -> Bool
}
