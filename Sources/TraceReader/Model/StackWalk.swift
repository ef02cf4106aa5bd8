/// The frames of a backtrace, leaf first, looked up one after the other.
///
/// Most questions are answered by the first few of many frames.
public struct StackWalk: Sequence, IteratorProtocol, Sendable {
  private let table: StackTable
  private var caller: StackID?
  private var left = StackTable.greatestDepth

  init(_ table: StackTable, from stack: StackID) {
    self.table = table
    caller = stack
  }

  /// The frame of the next caller, or the gap there; nil behind the outermost.
  public mutating func next() -> RawFrame? {
    guard left > 0, let stack = caller, let frame = table.frame(of: stack) else { return nil }
    caller = table.parent(of: stack)
    left -= 1
    return frame
  }
}
