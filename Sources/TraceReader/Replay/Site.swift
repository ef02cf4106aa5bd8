/// What was allocated from one stack by one thread with one function in one size class.
///
/// Every table is a regrouping of sites.
public struct Site: Hashable, Sendable {
  /// The backtrace of the allocations.
  public var stack: StackID
  /// The allocating thread.
  public var thread: ThreadIndex
  /// The function that was called.
  public var operation: Operation
  /// The category by requested size.
  public var sizeClass: SizeClass
  /// What was allocated and what became of it.
  public var tally: Tally
  /// How far the figures of the tally may be off; nil when everything was recorded.
  public var variance: TallyVariance?

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
