import TraceReader

/// An allocation or deallocation: what was called, by which thread, when and from where.
public struct EventSummary: Sendable, Hashable, Encodable {
  /// The function that was called, such as `malloc` or `operator delete[]`.
  public var function: String
  /// The thread that called it.
  public var thread: ThreadSummary
  /// Nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// The ID of the backtrace.
  public var stack: UInt32
  /// The backtrace, leaf first; empty when none was taken.
  public var frames: [ReportFrame]

  /// Names an event.
  public init(
    operation: Operation, thread: ThreadIndex, time: EventTime, stack: StackID,
    source: ReportSource
  ) {
    function = operation.name
    self.thread = source.threads.summary(of: thread)
    timeNanoseconds = source.clock.nanoseconds(time)
    self.stack = stack.rawValue
    frames = source.names.frames(of: stack)
  }

  /// Names an event.
  public init(_ site: MemoryError.EventSite, source: ReportSource) {
    self.init(
      operation: site.operation, thread: site.thread, time: site.time, stack: site.stack,
      source: source)
  }
}
