import CTraceFormat

/// Which events are replayed and which blocks are counted.
struct ReplayLimits {
  /// Blocks allocated before are followed but not counted.
  var firstTime: UInt64
  /// Events before are passed over; 0 for none.
  let startTime: UInt64
  /// The first event after this time ends the replay.
  var lastTime: UInt64
  var eventCount: UInt64
  var leastSize: UInt64
  var greatestSize: UInt64
  var temporaryDistance: UInt32
  var includesRecorder: Bool
  /// Whether time or size leave out any block.
  let isFiltering: Bool

  init(_ options: ReplayOptions) {
    firstTime = options.timeRange?.lowerBound.rawValue ?? 0
    lastTime = options.liveAt?.rawValue ?? .max
    if let end = options.timeRange?.upperBound.rawValue, end < .max {
      // The range excludes its end; an empty one at 0 has no event before it.
      lastTime = min(lastTime, end == 0 ? 0 : end - 1)
    }
    startTime = options.passesOverEarlier && firstTime <= lastTime ? firstTime : 0
    eventCount = options.eventLimit ?? .max
    leastSize = options.sizes?.lowerBound ?? 0
    greatestSize = options.sizes?.upperBound ?? .max
    temporaryDistance = options.temporaryDistance
    includesRecorder = options.includesRecorder
    isFiltering = firstTime > 0 || options.sizes != nil
  }

  /// Whether no block of a thread counts.
  ///
  /// Blocks of thread 0 are the recorder's own: followed, since the loader of the traced process may
  /// free them, but not counted.
  @inline(__always)
  func excludes(_ thread: UInt32) -> Bool { thread == MT_THREAD_RECORDER && !includesRecorder }

  /// Whether time or size leave the block of an allocation out.
  @inline(never)
  func filters(_ event: UnsafePointer<RawEvent>) -> Bool {
    event.pointee.time < firstTime || event.pointee.size < leastSize
      || event.pointee.size > greatestSize
  }
}
