import CTraceFormat

/// The nodes of a stack tree, in the order in which they were read, in half the memory of their fields.
///
/// There are far fewer return addresses than nodes: each is kept once. Nodes lie in segments, so that a list
/// that grows is never there twice.
struct StackNodes: Sendable {
  /// A node in 8 bytes.
  private struct Packed {
    /// The place of its address in `addresses`, and its flags below that.
    var code: UInt32
    var parent: UInt32
  }

  private static let segmentBits = 15
  private static let segmentLength = 1 << segmentBits
  private static let flagBits: UInt32 = 2
  /// The flags that mean something to a reader.
  private static let flags: UInt32 = MT_NODE_EXACT_PC.rawValue | MT_NODE_GAP.rawValue

  private var segments: [[Packed]] = []
  private var addresses = DistinctAddresses()
  private(set) var count = 0

  /// About how many bytes of memory they take.
  var memory: Int { count * MemoryLayout<Packed>.stride + addresses.memory }

  /// The node at a position.
  subscript(position: Int) -> StackTable.Node {
    let packed = packed(at: position)
    return StackTable.Node(
      pc: addresses[packed.code >> Self.flagBits], parent: packed.parent,
      flags: packed.code & Self.flags)
  }

  /// A number for the address of the node at a position and what it means: the same for all nodes that
  /// have the same of both.
  func code(at position: Int) -> Int {
    Int(packed(at: position).code)
  }

  /// One more than the greatest that ``code(at:)`` can be.
  var endCode: Int { addresses.count << Int(Self.flagBits) }

  /// The address of the node at a position.
  func pc(at position: Int) -> UInt64 {
    addresses[packed(at: position).code >> Self.flagBits]
  }

  @inline(__always)
  private func packed(at position: Int) -> Packed {
    segments[position >> Self.segmentBits][position & (Self.segmentLength - 1)]
  }

  /// Adds a node behind all others.
  mutating func append(_ node: StackTable.Node) {
    let code = addresses.place(of: node.pc) << Self.flagBits | node.flags & Self.flags
    if count & (Self.segmentLength - 1) == 0 {
      segments.append([])
      // The first one grows as it is needed: most traces have no second one.
      if segments.count > 1 { segments[segments.count - 1].reserveCapacity(Self.segmentLength) }
    }
    segments[count >> Self.segmentBits].append(Packed(code: code, parent: node.parent))
    count += 1
  }

  /// Takes the last nodes away.
  mutating func removeLast(_ number: Int) {
    count -= number
    segments.removeLast(segments.count - (count + Self.segmentLength - 1) >> Self.segmentBits)
    if let last = segments.indices.last {
      segments[last].removeLast(segments[last].count - (count - last << Self.segmentBits))
    }
  }

  /// Gives back what is needed only to add nodes.
  mutating func finish() {
    addresses.finish()
  }
}
