import CTraceFormat

/// A time in which allocations were recorded, in a trace whose recording could be paused.
///
/// Ends of blocks are recorded always, where their allocation was. So what is known of a block is
/// the whole of it, and the blocks allocated outside of the windows are not known at all.
///
/// Source: `SWITCH` records; docs/trace-format.md, "Pauses".
public struct RecordingWindow: Hashable, Sendable {
  /// When recording was resumed.
  public var start: EventTime
  /// When it was paused; nil when it never was again.
  public var end: EventTime?

  /// Creates a window.
  public init(start: EventTime, end: EventTime? = nil) {
    self.start = start
    self.end = end
  }
}

/// Recording was paused or resumed.
struct RecordingSwitch {
  var time: EventTime
  var isPaused: Bool

  /// Reads a `SWITCH` record; nil when it is cut.
  init?(decoding cursor: inout ByteCursor) {
    time = EventTime(cursor.read())
    cursor.skip(4)
    isPaused = cursor.read(UInt32.self) != 0
    if cursor.isPastEnd { return nil }
  }
}

extension [RecordingSwitch] {
  /// The windows, in the order of time; recording begins paused.
  ///
  /// Two switches that others made at the same time may be in any order, and one of them may be
  /// missing: what changes nothing is passed over.
  var windows: [RecordingWindow] {
    var windows: [RecordingWindow] = []
    for change in enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
      let isOpen = windows.last.map { $0.end == nil } ?? false
      if change.isPaused, isOpen { windows[windows.count - 1].end = change.time }
      if !change.isPaused, !isOpen { windows.append(RecordingWindow(start: change.time)) }
    }
    return windows
  }
}
