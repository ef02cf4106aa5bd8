import CTraceFormat

/// A frame as recorded: an address and the node that it comes from; or a gap between frames.
public struct RawFrame: Hashable, Sendable {
  /// Where the callee returns to; not adjusted.
  public var returnAddress: Address
  /// The node of the frame, which tells its age; see ``ImageMap``.
  public var node: StackID
  /// Whether the address is the interrupted instruction itself, not a return address.
  public var isExact: Bool
  /// Of a gap: at least so many frames were left out here; nil for a frame.
  ///
  /// Fewer than twice as many were left out. A gap has the return address 0.
  public var omitted: UInt64?

  /// Creates a frame.
  public init(returnAddress: Address, node: StackID, isExact: Bool = false) {
    self.returnAddress = returnAddress
    self.node = node
    self.isExact = isExact
  }

  /// Creates a gap.
  public init(omitting count: UInt64, node: StackID) {
    self.init(returnAddress: Address(0), node: node)
    omitted = count
  }

  /// An address inside the instruction that was executing: the call, for a return address.
  public var lookupAddress: Address {
    isExact || returnAddress.rawValue == 0 ? returnAddress : Address(returnAddress.rawValue &- 1)
  }
}

/// The interned backtraces: a tree of nodes, each naming its caller.
///
/// ```
/// main (2) <- parse (3) <- malloc's caller (4)      StackID 4 = [4, 3, 2], leaf first
///          <- run (5)                               StackID 5 = [5, 2]
/// ```
/// A parent's ID is always lower than its child's, so a walk ends whatever the file says.
public struct StackTable: Sendable {
  struct Node: Sendable {
    var pc: UInt64
    var parent: UInt32
    var flags: UInt32

    var isExact: Bool { flags & MT_NODE_EXACT_PC.rawValue != 0 }
    var isGap: Bool { flags & MT_NODE_GAP.rawValue != 0 }
  }

  /// Nodes whose IDs follow each other: `first ..< first + count`, at `position` of `nodes`.
  struct Span: Sendable {
    var first: UInt32
    var count: Int
    var position: Int
  }

  private let nodes: StackNodes
  /// In ascending order of `first`, without overlap.
  private let spans: [Span]

  /// Creates an empty table.
  public init() {
    self.init(nodes: [], spans: [])
  }

  init(nodes: [Node], spans: [Span]) {
    var kept = StackNodes()
    nodes.forEach { kept.append($0) }
    kept.finish()
    self.init(nodes: kept, spans: spans)
  }

  init(nodes: StackNodes, spans: [Span]) {
    self.nodes = nodes
    self.spans = spans
  }

  /// A limit for walks through damaged tables; the recorder keeps 1024 frames at most.
  static let greatestDepth = 2048

  /// How many nodes there are.
  public var count: Int { nodes.count }

  /// One more than the greatest ID in the table.
  public var endID: StackID {
    guard let last = spans.last else { return .first }
    return StackID(last.first &+ UInt32(truncatingIfNeeded: last.count))
  }

  /// The frames of a backtrace, leaf first, and where it was too deep the gap between them; empty
  /// for ``StackID/none`` and unknown IDs.
  public func frames(of stack: StackID) -> [RawFrame] {
    Array(walk(stack))
  }

  /// The frames of a backtrace one after the other, for those who need the first few only.
  public func walk(_ stack: StackID) -> StackWalk {
    StackWalk(self, from: stack)
  }

  /// The place of a node among all of them, from 0 to ``count`` - 1, whatever the IDs are; nil for
  /// unknown IDs.
  package func position(of stack: StackID) -> Int? {
    let next = spans.partitioningIndex { $0.first > stack.rawValue }
    guard next > 0 else { return nil }
    let span = spans[next - 1]
    let distance = Int(stack.rawValue &- span.first)
    guard distance < span.count, nodes.pc(at: span.position + distance) != 0 else { return nil }
    return span.position + distance
  }

  /// A number for what a node says of its frame: the same for all nodes that say the same, which are many
  /// more; nil for unknown IDs.
  package func frameNumber(of stack: StackID) -> Int? {
    position(of: stack).map { nodes.code(at: $0) }
  }

  /// One more than the greatest ``frameNumber(of:)``.
  package var endFrameNumber: Int { nodes.endCode }

  /// Whether frames of a backtrace were left out: in a gap, or at its root.
  public func isCut(_ stack: StackID) -> Bool {
    var walk = walk(stack)
    while let frame = walk.next() {
      if frame.omitted != nil { return true }
    }
    return walk.caller == .cut
  }

  /// Whether the outermost frames of a backtrace are missing.
  public func lacksRoot(_ stack: StackID) -> Bool {
    var walk = walk(stack)
    while walk.next() != nil {}
    return walk.caller == .cut
  }

  /// The caller's node; nil at the root, at a cut and for unknown IDs.
  public func parent(of stack: StackID) -> StackID? {
    guard let node = node(stack), node.parent >= StackID.first.rawValue,
      node.parent < stack.rawValue
    else { return nil }
    return StackID(node.parent)
  }

  /// The frame of one node alone; nil for unknown IDs.
  public func frame(of stack: StackID) -> RawFrame? {
    node(stack).map { Self.frame(of: $0, stack) }
  }

  /// Calls `body` for the frame of each node, by ascending ID, until it returns false.
  ///
  /// - Returns: Whether `body` was called for all of them.
  /// - Complexity: O(*n*) in the number of nodes, whatever their IDs are.
  @discardableResult
  public func forEachFrame(_ body: (RawFrame) throws -> Bool) rethrows -> Bool {
    for span in spans {
      for distance in 0..<span.count {
        let node = nodes[span.position + distance]
        guard node.pc != 0 else { continue }
        let id = StackID(span.first + UInt32(distance))
        guard try body(Self.frame(of: node, id)) else { return false }
      }
    }
    return true
  }

  static func frame(of node: Node, _ id: StackID) -> RawFrame {
    node.isGap
      ? RawFrame(omitting: node.pc, node: id)
      : RawFrame(returnAddress: Address(node.pc), node: id, isExact: node.isExact)
  }

  func node(_ id: StackID) -> Node? {
    position(of: id).map { nodes[$0] }
  }
}
