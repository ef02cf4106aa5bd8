import TraceReader

/// One block as a replay or a pass over the events found it.
public struct FoundBlock: Sendable, Hashable {
  /// Where it begins.
  public var address: Address
  /// Requested bytes.
  public var size: UInt64
  /// What allocated it.
  public var operation = Operation.malloc
  /// The backtrace of the allocation.
  public var stack: StackID
  /// The thread that allocated it.
  public var thread: ThreadIndex
  /// When it was allocated.
  public var time: EventTime
  /// When it was freed; nil while it lives.
  public var freed: EventTime?
}

extension FoundBlock {
  /// A block that lives.
  init(_ block: LiveBlock) {
    self.init(
      address: block.address, size: block.size, operation: block.operation, stack: block.stack,
      thread: block.thread, time: block.time)
  }
}
