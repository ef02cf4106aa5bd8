import TraceReader

/// What is known of blocks from the stacks that allocated them.
///
/// Each is asked only for blocks that look as if.
public struct StackFacts {
  /// Whether a stack is one that allocates side tables of Swift objects.
  public var isSideTable: (StackID) -> Bool
  /// Whether a stack is one that allocates buffers of streams.
  public var isStreamBuffer: (StackID) -> Bool
  /// Whether a stack is one that allocates values which count their references, as those of `Rc` in Rust.
  public var countsReferences: (StackID) -> Bool
  /// Whether a stack is one by which a container allocates room for its elements.
  public var isContainer: (StackID) -> Bool

  /// Without arguments nothing is known.
  public init(
    isSideTable: @escaping (StackID) -> Bool = { _ in false },
    isStreamBuffer: @escaping (StackID) -> Bool = { _ in false },
    countsReferences: @escaping (StackID) -> Bool = { _ in false },
    isContainer: @escaping (StackID) -> Bool = { _ in false }
  ) {
    self.isSideTable = isSideTable
    self.isStreamBuffer = isStreamBuffer
    self.countsReferences = countsReferences
    self.isContainer = isContainer
  }
}
