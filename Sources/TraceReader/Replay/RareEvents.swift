import CTraceFormat

/// Collects what is rare in a replay, in bounded space.
struct RareEvents {
  /// A deallocation of an address that was not live.
  struct Suspect {
    /// How many events came before and with it.
    var index: UInt64
    var address: UInt64
    var time: UInt64
    var stack: UInt32
    var slot: UInt32
    var operation: UInt8

    /// What `address` is the key of.
    var blockAddress: Address { BlockKey.address(of: address, Operation(rawValue: operation)) }
  }

  /// More than these are only counted: each needs memory until the second pass.
  static let suspectLimit = 65_536
  /// Groups of failed allocations.
  static let failureLimit = 10_000

  private(set) var suspects: [Suspect] = []
  private(set) var suspectCount: UInt64 = 0
  private(set) var errors: ErrorLog
  private(set) var failures: [FailedAllocation] = []
  private(set) var failureCount: UInt64 = 0
  private var failurePositions: [FailureKey: Int] = [:]

  private struct FailureKey: Hashable {
    var function: UInt8
    var size: UInt64
    var stack: UInt32
  }

  private let notesUnknown: Bool

  /// - Parameters:
  ///   - errorLimit: How many groups of errors are kept.
  ///   - notesUnknown: Whether a deallocation of an address that is not live means anything.
  init(errorLimit: Int, notesUnknown: Bool = true) {
    errors = ErrorLog(limit: errorLimit)
    self.notesUnknown = notesUnknown
  }

  @inline(never)
  mutating func noteUnknown(_ event: RawEvent, _ run: EventRun, index: UInt64) {
    // What the recorder frees is none of the program's errors.
    guard notesUnknown, run.thread != MT_THREAD_RECORDER else { return }
    suspectCount &+= 1
    guard suspects.count < Self.suspectLimit else { return }
    suspects.append(
      Suspect(
        index: index, address: event.address, time: event.time, stack: event.stack,
        slot: run.slot, operation: event.operation))
  }

  /// Notes a deallocation that does not fit its block; threads are slots until the end.
  @inline(never)
  mutating func noteMisuse(
    _ kind: MemoryError.Kind, _ event: RawEvent, _ run: EventRun, _ block: LiveEntry,
    _ site: SiteKey
  ) {
    let allocation = MemoryError.EventSite(
      operation: Operation(rawValue: site.operation), stack: StackID(site.stack),
      thread: ThreadIndex(site.slot), time: EventTime(block.time))
    let summary = MemoryError.BlockSummary(
      address: BlockKey.address(of: block.address, allocation.operation), size: block.size,
      alignment: block.alignment,
      allocation: allocation)
    let offending = MemoryError.EventSite(
      operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
      thread: ThreadIndex(run.slot), time: EventTime(event.time))
    errors.add(
      MemoryError(
        kind: kind, address: BlockKey.address(of: event.address, offending.operation),
        block: summary, firstFree: nil,
        offending: offending))
  }

  @inline(never)
  mutating func noteFailure(_ event: RawEvent, _ run: EventRun, function: UInt8, stack: UInt32) {
    failureCount &+= 1
    let key = FailureKey(function: function, size: event.size, stack: stack)
    if let position = failurePositions[key] {
      failures[position].count &+= 1
    } else if failures.count < Self.failureLimit {
      failurePositions[key] = failures.count
      failures.append(
        FailedAllocation(
          function: Operation(rawValue: function), size: event.size, stack: StackID(stack),
          thread: ThreadIndex(run.slot), time: EventTime(event.time), count: 1))
    }
  }
}
