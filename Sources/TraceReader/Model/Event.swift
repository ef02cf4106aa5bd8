/// One event of a trace, in the order of the merged threads.
///
/// Fields that an operation does not have are 0 or `none`.
public struct Event: Hashable, Sendable {
  public var operation: Operation
  public var time: EventTime
  public var thread: ThreadIndex
  public var address: Address
  /// Requested bytes.
  public var size: UInt64
  public var alignment: UInt64
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
