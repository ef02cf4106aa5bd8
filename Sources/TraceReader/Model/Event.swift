/// One event of a trace, in the order of the merged threads.
///
/// Fields that an operation does not have are 0 or `none`.
public struct Event: Hashable, Sendable {
  /// The function that was called.
  public var operation: Operation
  /// When it happened.
  public var time: EventTime
  /// The thread it happened in.
  public var thread: ThreadIndex
  /// The block; 0 for events without one.
  public var address: Address
  /// Requested bytes.
  public var size: UInt64
  /// The alignment asked for; 0 when none was.
  public var alignment: UInt64
  /// The backtrace of the call.
  public var stack: StackID
  /// For ``Operation/failed``, the allocator function that returned NULL.
  public var function: Operation

  /// Creates an event.
  public init(
    operation: Operation, time: EventTime, thread: ThreadIndex, address: Address = Address(0),
    size: UInt64 = 0, alignment: UInt64 = 0, stack: StackID = .none,
    function: Operation = Operation(rawValue: 0)
  ) {
    self.operation = operation
    self.time = time
    self.thread = thread
    self.address = address
    self.size = size
    self.alignment = alignment
    self.stack = stack
    self.function = function
  }

  /// Whether the event begins or ends the life of a block.
  public var kind: Operation.Kind { operation.kind }
}
