/// What to replay and what to keep.
public struct ReplayOptions: Sendable {
  /// Count only blocks allocated in this range, as of its end.
  ///
  /// Earlier events are followed so that deallocations are understood, unless
  /// ``passesOverEarlier`` says otherwise; later ones are not read.
  public var timeRange: Range<EventTime>?
  /// Do not follow the events before ``timeRange``, nor read chunks that hold nothing else.
  ///
  /// Figures are the same. Frees of blocks that were allocated before are passed over: misuses are
  /// found, and missing frees counted, of blocks only that were allocated in the range, and events
  /// count from its beginning.
  public var passesOverEarlier = false
  /// Count only blocks with a requested size in this range.
  public var sizes: ClosedRange<UInt64>?
  /// An allocation is temporary when the same thread frees it with at most this many other
  /// allocations of that thread in between.
  public var temporaryDistance: UInt32 = 1
  /// Stop after the events of this time: the figures are as of then.
  public var liveAt: EventTime?
  /// Stop after this many events: with ``Peak/eventIndex`` the figures are as of the peak.
  public var eventLimit: UInt64?
  /// Keep the live blocks themselves: ``ReplayResult/liveBlocks``.
  public var keepsLiveBlocks = false
  /// Count the recorder's own blocks, too: what they point to is reachable.
  public var includesRecorder = false
  /// How many buckets the timeline has at most; at least 2.
  public var timelineBuckets = 512
  /// How many errors are listed at most; all are counted.
  public var errorLimit = 10_000
  /// Called now and then with the bytes of events read so far and all of them.
  public var progress: (@Sendable (_ bytesDone: UInt64, _ bytesTotal: UInt64) -> Void)?

  /// Creates options that replay everything.
  public init() {}
}
