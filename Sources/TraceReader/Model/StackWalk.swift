/// The frames of a backtrace, leaf first, looked up one after the other.
///
/// Most questions are answered by the first few of many frames.
public struct StackWalk: Sequence, IteratorProtocol, Sendable {
  /// The node of the next frame; behind the outermost one what that names as its parent.
  private(set) var caller: StackID
  private let table: StackTable
  private var left = StackTable.greatestDepth

  init(_ table: StackTable, from stack: StackID) {
    self.table = table
    caller = stack
  }

  /// Behind the outermost frame, whether it was called by frames that are not known.
  public var lacksRoot: Bool { caller == .cut }

  /// The frame of the next caller, or the gap there; nil behind the outermost.
  public mutating func next() -> RawFrame? {
    let id = caller
    guard id >= .first, let node = table.node(id) else { return nil }
    left -= 1
    caller = left == 0 ? .cut : node.parent < id.rawValue ? StackID(node.parent) : .none
    return StackTable.frame(of: node, id)
  }
}
