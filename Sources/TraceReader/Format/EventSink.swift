/// Events of one thread that come directly after each other.
struct EventRun {
  /// What they are a part of.
  let batch: EventBatch
  /// The first one.
  let events: UnsafePointer<RawEvent>
  let count: Int
  /// How many can be looked at from the first one on: later ones of the thread, for prefetching.
  let visibleCount: Int
  /// A dense number of the thread, given out by ``ThreadSlots``.
  let slot: UInt32

  /// The recorder's index of the thread.
  @inline(__always)
  var thread: UInt32 { batch.thread }

  /// Some of the events.
  func part(from start: Int, count: Int) -> EventRun {
    EventRun(
      batch: batch, events: events + start, count: count, visibleCount: visibleCount - start,
      slot: slot)
  }

  @inline(__always)
  func alignment(of event: UnsafePointer<RawEvent>) -> UInt64 { batch.alignment(of: event) }
}

/// Takes the events of a trace, run by run.
protocol EventSink: ~Copyable {
  /// - Returns: false to see no more events.
  mutating func receive(_ run: EventRun) -> Bool
}
