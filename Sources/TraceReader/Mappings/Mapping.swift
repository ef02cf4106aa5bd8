/// What one call mapped, and what became of it.
public struct Mapping: Hashable, Sendable {
  /// The call that made it; of a mapping that `mremap` changed, that one.
  public var function: MappingCall.Function
  /// What it is for.
  public var kind: MappingKind
  /// Its addresses, as they were mapped.
  public var range: MappedRange
  /// The bytes of it that are mapped still: less than all when a part was unmapped or replaced.
  public var liveBytes: UInt64
  /// Of these, the bytes that nobody may touch (`PROT_NONE`): addresses without memory.
  public var reservedBytes: UInt64
  /// The bytes that can be touched.
  public var usableBytes: UInt64 { liveBytes &- reservedBytes }
  /// When it was mapped.
  public var began: EventTime
  /// When the last of it was unmapped or replaced; nil while there is some.
  public var ended: EventTime?
  /// Where that was done.
  public var endStack: StackID?
  /// Where it was mapped.
  public var stack: StackID
  /// The thread that mapped it.
  public var thread: ThreadIndex
  /// What could be done with it at first: `PROT_*`.
  public var protection: UInt32
  /// Whether it is shared with other processes.
  public var isShared: Bool
  /// The file; empty for anonymous memory.
  public var path: String
  /// Where in the file it begins.
  public var offset: UInt64
}

/// All that the calls of a process mapped, up to a moment.
public struct MappingHistory: Hashable, Sendable {
  /// The mappings in the order of their beginning.
  public var mappings: [Mapping] = []
  /// The bytes that are mapped at the moment.
  public var liveBytes: UInt64 = 0
  /// The most bytes that were mapped at once and could be touched.
  public var peakBytes: UInt64 = 0
  /// How many mappings there were then.
  public var peakCount: UInt64 = 0
  /// When that was.
  public var peakTime = EventTime(0)
  /// The bytes that could be touched, and the mappings, from the beginning to the moment.
  public var timeline = Timeline()
  /// The bytes of what was unmapped that no call had mapped which was recorded.
  public var foreignBytes: UInt64 = 0
}
