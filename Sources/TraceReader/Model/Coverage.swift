import CTraceFormat

/// What a trace does not hold: every report says so.
public struct Coverage: Hashable, Sendable {
  /// Events lost because recording had stopped.
  public var eventsDropped: UInt64 = 0
  /// Events inside a hook that no lane could take.
  public var nestedEventsLost: UInt64 = 0
  /// Calls before the recorder could start.
  public var eventsBeforeStart: UInt64 = 0
  /// Events whose stack was deeper than the limit.
  public var stacksCut: UInt64 = 0
  /// Events without any stack.
  public var stacksMissing: UInt64 = 0
  /// Allocations whose stack is in a part of the file that is missing or could not be read.
  public var stacksLost: UInt64 = 0
  /// Events whose stack could not be stored.
  public var stackTableFull: UInt64 = 0
  /// Blocks that the recorder served itself before the allocator could be reached.
  public var bootstrapBlocks: UInt64 = 0
  /// Their bytes.
  public var bootstrapBytes: UInt64 = 0
  /// Images that could not be described.
  public var imagesLost: UInt64 = 0
  /// Events inside a hook that were recorded, but without a stack.
  public var nestedEvents: UInt64 = 0
  /// Stacks that were walked both ways, by ourselves and by libunwind, because that was asked for.
  public var stacksCompared: UInt64 = 0
  /// Of these, where libunwind saw other frames.
  public var stacksDifferent: UInt64 = 0
  /// Of these, how many differ only above code without unwind tables, and are not counted there.
  public var stacksGuessDifferent: UInt64 = 0
  /// Stacks that only libunwind could take.
  public var stacksLibunwind: UInt64 = 0
  /// Stacks that end where no caller could be found: in code without unwind tables.
  public var stacksRootless: UInt64 = 0
  /// Retains and releases inside a hook, or after recording had stopped.
  public var refcountsLost: UInt64 = 0
  /// `path: reason` of Swift runtimes whose reference counts could not be recorded.
  public var refcountRefusals: [String] = []
  /// Calls that announce blocks of the program's own allocators or their ends, which are not recorded where
  /// not all allocations are.
  public var announcedLeftOut: UInt64 = 0
  /// Threads that were not recorded.
  public var threadsLost: UInt64 = 0
  /// Frees of addresses that the trace has never seen allocated, and that are no errors.
  public var unknownFrees: UInt64 = 0
  /// Frees of blocks that a forked process had from its parent.
  public var inheritedFrees: UInt64 = 0
  /// Blocks whose deallocation is not in the trace: their address was allocated again.
  public var implicitlyFreed: UInt64 = 0
  /// `function: image` of calls that do not reach the recorder.
  public var bypassed: [String] = []
  /// Whether the frees of what these allocate do not bypass the recorder.
  public var missesBlocksThatAreFreed = false
  /// Paths of images whose initialisers may have called the allocator past the recorder
  /// (`RTLD_DEEPBIND`).
  public var boundLate: [String] = []
  /// `functions: image` of the allocator that an image has for itself, which is recorded; what it had
  /// allocated before is not.
  public var bundled: [String] = []
  /// How many children could not be followed.
  public var childrenNotFollowedCount: UInt64 = 0
  /// Whether one of ``childrenNotFollowed`` stands for any number of forks of the process.
  public var forksAreNotFollowed = false
  /// `path: reason` of children that could not be followed.
  public var childrenNotFollowed: [String] = []
  /// What else the recorder had to say.
  public var notes: [String] = []
  /// Why recording stopped before the process ended; nil when it did not.
  public var stop: StopReason?
  /// Parts of the file that could not be read.
  public var damage: [Damage] = []
  /// How many damaged parts there are; `damage` lists only the first ones.
  public var damageCount: UInt64 = 0
  /// The bytes of all of them.
  public var damagedBytes: UInt64 = 0
  /// How many of the damaged parts were read, and how many bytes they are: see ``Damage/isDoubt``.
  public var doubtCount: UInt64 = 0
  /// The bytes of these.
  public var doubtfulBytes: UInt64 = 0
  /// When events may be missing because parts of the file are; nil: none is.
  public var lostTimes: LostTimes?
  /// Events that were there when the trace was packed, and are in parts of the file that are missing.
  public var eventsMissing: UInt64 = 0
  /// What looks like memory errors, but may be for want of events that are missing.
  public var doubtfulErrors: UInt64 = 0
  /// The mean number of bytes between two samples; 0 when everything was recorded.
  public var sampleInterval: UInt64 = 0
  /// Whether recording could be paused: blocks may be missing.
  public var isPausable = false
  /// Bytes that the file should have and does not: it was cut.
  public var missingBytes: UInt64 = 0

  /// Creates a coverage without any gap.
  public init() {}

  /// Whether allocations may be missing, so that a free of an unknown address proves nothing.
  public var mayMissAllocations: Bool {
    sampleInterval > 0 || isPausable || eventsDropped > 0 || nestedEventsLost > 0
      || eventsBeforeStart > 0 || missesBlocksThatAreFreed
      || threadsLost > 0
      || damageCount > 0 || lostTimes != nil || !boundLate.isEmpty || !bundled.isEmpty
  }
}

/// Why recording stopped before the process ended.
public struct StopReason: Hashable, Sendable {
  /// The causes that the recorder tells apart.
  public enum Cause: Hashable, Sendable {
    case diskFull
    case fileLimit
    case noMemory
    case descriptorLost
    case inputOutput
    case requested
    case sandbox
    case maxSize
    case keepFree
    case unknown(UInt32)
  }

  /// What stopped the recording.
  public var cause: Cause
  /// The system's error number; 0 when there was none.
  public var errno: Int32
  /// When it stopped.
  public var time = EventTime(0)

  /// Decodes the stop fields of a header; nil when recording did not stop.
  public init?(header: TraceHeader) {
    self.init(header.stopReason, errno: header.stopErrno)
    time = EventTime(header.stopTicks >> min(header.tickShift, 63))
  }

  /// Decodes an `mt_stop_reason`; nil when recording did not stop.
  ///
  /// - Parameters:
  ///   - reason: The reason.
  ///   - errno: The system's error number; 0 when there was none.
  public init?(_ reason: UInt32, errno: Int32) {
    switch reason {
    case MT_STOP_NONE.rawValue: return nil
    case MT_STOP_DISK_FULL.rawValue: cause = .diskFull
    case MT_STOP_FILE_LIMIT.rawValue: cause = .fileLimit
    case MT_STOP_NO_MEMORY.rawValue: cause = .noMemory
    case MT_STOP_DESCRIPTOR_LOST.rawValue: cause = .descriptorLost
    case MT_STOP_IO.rawValue: cause = .inputOutput
    case MT_STOP_REQUESTED.rawValue: cause = .requested
    case MT_STOP_SANDBOX.rawValue: cause = .sandbox
    case MT_STOP_MAX_SIZE.rawValue: cause = .maxSize
    case MT_STOP_KEEP_FREE.rawValue: cause = .keepFree
    default: cause = .unknown(reason)
    }
    self.errno = errno
  }
}

/// A part of the file that could not be read, or is not what was written.
public struct Damage: Hashable, Sendable {
  /// Where in the file it begins.
  public var offset: UInt64
  /// How many bytes are lost, or doubtful.
  public var length: UInt64
  /// What was found there.
  public var reason: String
  /// Whether it was read all the same, so that figures may be wrong: it has another checksum.
  public var isDoubt: Bool

  /// Creates a damage entry.
  public init(offset: UInt64, length: UInt64, reason: String, isDoubt: Bool = false) {
    self.offset = offset
    self.length = length
    self.reason = reason
    self.isDoubt = isDoubt
  }
}
