/// The fields of the file header, decoded.
///
/// Source: `mt_file_header`. Times are ticks, not event times.
public struct TraceHeader: Hashable, Sendable {
  /// The version of the format; a reader refuses another one.
  public var major: UInt16 = 0
  /// Additions to the version that an older reader can skip.
  public var minor: UInt16 = 0
  /// How the recording was begun.
  public var flags: Flags = []
  var byteOrder: UInt32 = 0
  var headerSize: UInt32 = 0
  /// The ELF machine code of the process: 62 for x86_64, 183 for aarch64.
  public var machine: UInt16 = 0
  /// The width of a pointer of the process.
  public var pointerBits: UInt16 = 0
  /// The page size of the process in bytes.
  public var pageSize: UInt32 = 0
  /// A random name of this trace.
  public var traceID = TraceID()
  /// The trace of the process that forked or executed this one; zero when there is none.
  public var parentTraceID = TraceID()
  /// A random name shared by all traces of one recording.
  public var sessionID = TraceID()
  /// The process ID.
  public var pid: UInt32 = 0
  /// The process ID of the parent.
  public var ppid: UInt32 = 0
  /// The user ID.
  public var uid: UInt32 = 0
  /// The greatest number of frames kept per backtrace.
  public var stackDepth: UInt32 = 0
  /// `CLOCK_REALTIME` at the start of the recording.
  public var startWallNanoseconds: UInt64 = 0
  /// `CLOCK_MONOTONIC` at the same moment.
  public var startMonotonicNanoseconds: UInt64 = 0
  /// The tick counter at the same moment.
  public var startTicks: UInt64 = 0
  /// `CLOCK_MONOTONIC` at a later moment, renewed now and then.
  public var latestMonotonicNanoseconds: UInt64 = 0
  /// The tick counter at that later moment.
  public var latestTicks: UInt64 = 0
  /// The rate of the tick counter where it is known in advance; else 0.
  public var ticksPerSecond: UInt64 = 0
  /// Event times are ticks shifted right by this.
  public var tickShift: UInt64 = 0
  /// Bytes of the file in use, as far as the recorder came to say so.
  public var fileEnd: UInt64 = 0
  /// Physical memory of the machine in bytes.
  public var ramBytes: UInt64 = 0
  /// `RLIMIT_AS`; the greatest number when unlimited.
  public var addressSpaceLimitBytes: UInt64 = .max
  /// The memory limit of the cgroup; the greatest number when there is none.
  public var cgroupLimitBytes: UInt64 = .max
  /// The number of chunks that were begun.
  public var chunks: UInt64 = 0
  /// How the process ended, as an `mt_end_kind`; see ``TraceEnding``.
  public var endKind: UInt32 = 0
  /// Its exit status or signal.
  public var endStatus: Int32 = 0
  /// When the end was written.
  public var endTicks: UInt64 = 0
  /// Why recording stopped, as an `mt_stop_reason`; see ``StopReason``.
  public var stopReason: UInt32 = 0
  /// The system's error number then.
  public var stopErrno: Int32 = 0
  /// When recording stopped.
  public var stopTicks: UInt64 = 0
  /// When the recorder was loaded.
  public var loadTicks: UInt64 = 0
  /// When the process was found to be a fork.
  public var forkTicks: UInt64 = 0
  /// The mean number of bytes between two samples; 0 when everything was recorded.
  ///
  /// See ``Sampling``.
  public var sampleInterval: UInt64 = 0
  /// Whether not all allocations were to be recorded: a sample, or with pauses.
  ///
  /// Of blocks whose allocation was not recorded, the end was not either.
  public var isSelective: Bool { sampleInterval > 0 || flags.contains(.pausable) }
  /// The number of events of a trace that was packed; 0 when nobody has counted them.
  public var events: UInt64 = 0
  /// The bytes that the file had before it was packed; 0 when it never was.
  public var recordedBytes: UInt64 = 0
  /// The signal that asks the process for a heap snapshot; 0 when none does.
  public var snapshotSignal: UInt32 = 0
  /// How many heap snapshots were begun.
  public var snapshotsBegun: UInt32 = 0
  /// How many of these are no longer being written.
  public var snapshotsDone: UInt32 = 0
  /// Where the stack of the main thread began: frames are below, arguments above; 0 when not known.
  public var mainStack: UInt64 = 0
  /// The most bytes that were in memory at once, of whatever kind; 0 when not known.
  public var peakResident: UInt64 = 0
  /// Whether fields that never change are not what was written, as their checksum tells.
  public internal(set) var isDamaged = false
  /// The coverage counters, indexed by `mt_counter`.
  public var counters: [UInt64] = []

  /// Where ``mainStack`` and what follows it lie in the file, behind room for names that nobody reads later.
  public static let mainStackOffset = 1584

  /// Creates a header with every field empty.
  public init() {}

  /// How a recording was begun.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The flags as they stand in the file.
    public var rawValue: UInt32

    /// Takes the flags as they stand in the file.
    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// Began by fork: blocks may be inherited from the parent.
    public static let forked = Flags(rawValue: 1 << 0)
    /// Children are recorded too.
    public static let follow = Flags(rawValue: 1 << 1)
    /// Recording began after the process had started.
    public static let late = Flags(rawValue: 1 << 2)
    /// Ticks come from the clock and are nanoseconds.
    public static let ticksAreNanoseconds = Flags(rawValue: 1 << 3)
    /// Begun by `memtrace record`, not by a bare `LD_PRELOAD`.
    public static let launched = Flags(rawValue: 1 << 4)
    /// Holds a sample of the allocations.
    public static let sampled = Flags(rawValue: 1 << 5)
    /// The process has asked `malloc_usable_size`, so it may use what the allocator adds to blocks.
    public static let usableSizes = Flags(rawValue: 1 << 6)
    /// It has asked that of nothing but blocks that begin as Swift objects do.
    public static let usableSizesOfObjects = Flags(rawValue: 1 << 7)
    /// Recording could be paused, which it began as; see ``RecordingWindow``.
    public static let pausable = Flags(rawValue: 1 << 8)
    /// The allocator has one function by several names, such as `free` and `operator delete`, so that
    /// operations do not tell which was meant.
    public static let oneFamily = Flags(rawValue: 1 << 9)
    /// Holds blocks of the program's own allocators.
    public static let announced = Flags(rawValue: 1 << 10)
    /// Calls that map memory and unmap it are recorded.
    public static let mappings = Flags(rawValue: 1 << 11)
  }
}

/// A random name of a trace or of a recording.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes, as a little-endian number.
  public var low: UInt64
  /// The last eight bytes, as a little-endian number.
  public var high: UInt64

  /// Creates a name from its halves.
  public init(low: UInt64 = 0, high: UInt64 = 0) {
    self.low = low
    self.high = high
  }

  /// Whether it names nothing.
  public var isZero: Bool { low == 0 && high == 0 }

  /// 32 hexadecimal digits in the order of the bytes.
  public var description: String {
    [low, high].map { half in
      let digits = String(half.byteSwapped, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
