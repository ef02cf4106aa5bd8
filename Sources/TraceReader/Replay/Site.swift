/// What was allocated from one stack by one thread with one function in one size class.
///
/// Every table is a regrouping of sites.
public struct Site: Hashable, Sendable {
  public var stack: StackID
  public var thread: ThreadIndex
  public var operation: Operation
  public var sizeClass: SizeClass
  public var tally: Tally

  /// Creates a site.
  public init(
    stack: StackID, thread: ThreadIndex, operation: Operation, sizeClass: SizeClass,
    tally: Tally = Tally()
  ) {
    self.stack = stack
    self.thread = thread
    self.operation = operation
    self.sizeClass = sizeClass
    self.tally = tally
  }
}
