/// Everything one replay of a trace found out.
public struct ReplayResult: Sendable {
  /// One element per distinct stack, thread, function and size class.
  public var sites: [Site] = []
  /// The sum of all sites.
  public var total = Tally()
  /// When the live bytes were greatest.
  public var peak = Peak()
  /// Live memory over time.
  public var timeline = Timeline()
  /// Misuses of the allocator, grouped by kind and stacks, in order of first occurrence.
  public var errors: [MemoryError] = []
  /// How many misuses there are of each kind, including those that `errors` has no room for.
  public var errorCounts: [MemoryError.Category: UInt64] = [:]
  /// Allocations that returned NULL, grouped by function, size and stack.
  public var failedAllocations: [FailedAllocation] = []
  /// How many allocations returned NULL.
  public var failedAllocationCount: UInt64 = 0
  /// Events that were replayed.
  public var eventCount: UInt64 = 0
  /// The time of the first event.
  public var firstTime = EventTime.distantPast
  /// The time of the last event.
  public var lastTime = EventTime.distantPast
  /// The coverage of the trace, completed with what only a replay can know.
  public var coverage = Coverage()
  /// How the trace was sampled; nil when everything was recorded.
  ///
  /// Counts and bytes of sites, their total, the peak and the timeline are estimates then. Events,
  /// errors and live blocks are those that are in the sample.
  public var sampling: Sampling?
  /// The live blocks in order of allocation, when ``ReplayOptions/keepsLiveBlocks`` asked for them.
  public var liveBlocks = LiveBlocks()

  /// Creates an empty result.
  public init() {}
}

/// When the live bytes were greatest, for the first time.
public struct Peak: Hashable, Sendable {
  /// When that was.
  public var time = EventTime.distantPast
  /// Live bytes at that time.
  public var bytes: UInt64 = 0
  /// Live blocks at that time.
  public var count: UInt64 = 0
  /// The variance of `bytes`; 0 when everything was recorded.
  public var bytesVariance = 0.0
  /// How many events had been replayed then, for ``ReplayOptions/eventLimit``.
  public var eventIndex: UInt64 = 0

  /// Creates a peak of nothing.
  public init() {}
}

/// Live memory over time, in buckets of equal length.
public struct Timeline: Hashable, Sendable {
  /// The beginning of the first bucket.
  public var start = EventTime.distantPast
  /// The length of a bucket in event time.
  public var bucketTicks: UInt64 = 1
  /// The length of a bucket in nanoseconds.
  public var bucketNanoseconds: UInt64 = 0
  /// The greatest live bytes in each bucket.
  public var liveBytes: [UInt64] = []
  /// The greatest number of live blocks in each bucket.
  public var liveCounts: [UInt64] = []

  /// Creates an empty timeline.
  public init() {}
}

/// A block that was live when the replay stopped.
public struct LiveBlock: Hashable, Sendable {
  /// The address of the block.
  public var address: Address
  /// Requested bytes.
  public var size: UInt64
  /// The alignment asked for; 0 when none was.
  public var alignment: UInt64
  /// The function that was called.
  public var operation: Operation
  /// The backtrace of the call.
  public var stack: StackID
  /// The thread it happened in.
  public var thread: ThreadIndex
  /// When it was allocated.
  public var time: EventTime
  /// The index of its element in ``ReplayResult/sites``.
  public var site: Int
  /// The bytes that count for it: those that no announced block has which lies in it.
  public var ownBytes: UInt64

  /// Creates a block.
  public init(
    address: Address, size: UInt64, alignment: UInt64 = 0, operation: Operation, stack: StackID,
    thread: ThreadIndex, time: EventTime, site: Int
  ) {
    self.address = address
    self.size = size
    self.alignment = alignment
    self.operation = operation
    self.stack = stack
    self.thread = thread
    self.time = time
    self.site = site
    ownBytes = size
  }
}

/// Allocations that returned NULL.
public struct FailedAllocation: Hashable, Sendable {
  /// The function that returned NULL.
  public var function: Operation
  /// Requested bytes.
  public var size: UInt64
  /// The backtrace of the call.
  public var stack: StackID
  /// The thread of the first one.
  public var thread: ThreadIndex
  /// The time of the first one.
  public var time: EventTime
  /// How many there were.
  public var count: UInt64
}
