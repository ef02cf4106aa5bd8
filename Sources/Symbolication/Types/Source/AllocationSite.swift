import TraceReader

/// The code that called the allocator.
public struct AllocationSite {
  /// As it was recorded.
  public var programCounter: Address
  /// `false` for a return address.
  public var isExact: Bool
  /// Which of the frames at the program counter is meant, the innermost counted 0.
  public var position: Int
  /// That frame.
  public var frame: SymbolicatedFrame
  /// Whether the allocator was called by a `new` expression.
  public var isNew: Bool

  /// The address that is looked up.
  var lookupAddress: UInt64 { isExact ? programCounter.rawValue : programCounter.rawValue &- 1 }
}
