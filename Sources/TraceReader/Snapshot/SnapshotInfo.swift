import CTraceFormat

/// A heap snapshot of a trace: everything but the memory, which ``Trace/loadSnapshot(_:)`` reads.
public struct SnapshotInfo: Hashable, Sendable {
  /// Its position in ``Trace/snapshots``.
  public var index: Int
  /// When the threads stood still: the events up to here make the heap of the image.
  public var time: EventTime
  /// Why it was taken.
  public var reason: SnapshotReason
  /// The thread that took it; 0 when the recorder had not met it.
  public var thread: UInt32
  /// Whether every word that is not 0 is kept, not only those that can be pointers.
  public var keepsContents: Bool
  /// Whether it was written to its end; if not, words may be missing anywhere.
  public var isComplete: Bool
  /// How long other threads stood still, in nanoseconds, with ``forkNanoseconds``.
  public var pauseNanoseconds: UInt64
  /// How long the kernel took to copy the process, in nanoseconds.
  public var forkNanoseconds: UInt64
  /// How long all of it took, in nanoseconds.
  public var durationNanoseconds: UInt64
  /// Bytes of memory that were looked at for pointers.
  public var scannedBytes: UInt64
  /// How many words are kept.
  public var wordCount: UInt64
  /// Bytes of writable memory that could not be read.
  public var skippedBytes: UInt64
  /// The bytes of its chunks in the trace.
  public var storedBytes: UInt64
  /// The threads of the process.
  public var threads: [SnapshotThread]
  /// The mappings of the process, in ascending order, without overlaps.
  public var regions: [SnapshotRegion]
  /// What the kernel keeps of the program, in the order in which it was told.
  public var kernelWords: [KernelWord] = []
  /// The names of the classes of a Python interpreter in the process, by their addresses.
  public var pythonClasses: [UInt64: String] = [:]
  /// The names of the classes of GObject in the process, by their addresses.
  public var gobjectClasses: [UInt64: String] = [:]
  /// What the slabs of Swift's tasks begin with; 0 where the process has none.
  public var taskSlab: UInt64 = 0
  /// The number of the thread-local variables with those of libdispatch in the vector of each thread; 0
  /// where there are none.
  public var dispatchModule: UInt64 = 0
  /// Where those of libdispatch are in them.
  public var dispatchOffset: UInt64 = 0

  /// Creates a description.
  public init(
    index: Int = 0, time: EventTime = .distantPast, reason: SnapshotReason = .unknown(0),
    thread: UInt32 = 0, keepsContents: Bool = false, isComplete: Bool = false,
    pauseNanoseconds: UInt64 = 0, forkNanoseconds: UInt64 = 0, durationNanoseconds: UInt64 = 0,
    scannedBytes: UInt64 = 0, wordCount: UInt64 = 0, skippedBytes: UInt64 = 0,
    storedBytes: UInt64 = 0, threads: [SnapshotThread] = [], regions: [SnapshotRegion] = []
  ) {
    self.index = index
    self.time = time
    self.reason = reason
    self.thread = thread
    self.keepsContents = keepsContents
    self.isComplete = isComplete
    self.pauseNanoseconds = pauseNanoseconds
    self.forkNanoseconds = forkNanoseconds
    self.durationNanoseconds = durationNanoseconds
    self.scannedBytes = scannedBytes
    self.wordCount = wordCount
    self.skippedBytes = skippedBytes
    self.storedBytes = storedBytes
    self.threads = threads
    self.regions = regions
  }

  /// The mapping that holds an address; nil when none does.
  ///
  /// - Complexity: O(log *n*) in the number of mappings.
  public func region(containing address: UInt64) -> SnapshotRegion? {
    SnapshotRegion.position(of: address, in: regions).map { regions[$0] }
  }
}

/// Why a snapshot was taken.
public enum SnapshotReason: Hashable, Sendable {
  /// `exit()` or return from `main`, with this status.
  case exit(Int32)
  /// `_exit()` or `_Exit()`, with this status.
  case underscoreExit(Int32)
  /// `quick_exit()`, with this status.
  case quickExit(Int32)
  /// The program called `abort()`.
  case abort
  /// This signal was about to end the process.
  case signal(Int32)
  /// Someone outside asked for it.
  case request
  /// Together with the mark of this name.
  case mark(String)
  /// Some time had passed.
  case interval
  /// The program asked for it, and gave this name.
  case program(String)
  /// A reason that this version of the reader does not know.
  case unknown(UInt32)

  init(code: UInt32, detail: Int32, name: String) {
    switch code {
    case MT_SNAPSHOT_AT_EXIT.rawValue: self = .exit(detail)
    case MT_SNAPSHOT_AT_UEXIT.rawValue: self = .underscoreExit(detail)
    case MT_SNAPSHOT_AT_QUICK.rawValue: self = .quickExit(detail)
    case MT_SNAPSHOT_AT_ABORT.rawValue: self = .abort
    case MT_SNAPSHOT_AT_SIGNAL.rawValue: self = .signal(detail)
    case MT_SNAPSHOT_ON_REQUEST.rawValue: self = .request
    case MT_SNAPSHOT_AT_MARK.rawValue: self = .mark(name)
    case MT_SNAPSHOT_INTERVAL.rawValue: self = .interval
    case MT_SNAPSHOT_BY_PROGRAM.rawValue: self = .program(name)
    default: self = .unknown(code)
    }
  }
}
