import CTraceFormat

/// Collects the STACKS chunks of a trace, of either encoding.
struct StackDecoder {
  private var nodes = StackNodes()
  private var spans: [StackTable.Span] = []
  private let memoryLimit: Int

  /// - Parameter memoryLimit: Nodes that take more bytes are not kept.
  init(memoryLimit: Int = .max) {
    self.memoryLimit = memoryLimit
  }

  /// Whether there is no room for another node.
  var isFull: Bool { nodes.memory >= memoryLimit }

  /// Decodes the nodes of a chunk.
  ///
  /// - Parameters:
  ///   - chunk: The bytes with the chunk header; fewer when the file is cut.
  ///   - firstID: The ID of the first node.
  /// - Returns: Where nodes begin that cannot have their IDs; nil when there are none.
  mutating func decode(_ chunk: UnsafeRawBufferPointer, firstID: UInt32) -> Int? {
    guard let greatestCount = Self.greatestCount(from: firstID) else { return ChunkHeader.size }
    let size = MemoryLayout<mt_stack_node>.size
    let position = nodes.count
    var damage: Int?
    var used = 0
    for index in 0..<max(0, chunk.count - ChunkHeader.size) / size {
      let start = ChunkHeader.size + index * size
      var cursor = ByteCursor(chunk, at: start)
      let node = StackTable.Node(pc: cursor.read(), parent: cursor.read(), flags: cursor.read())
      if index >= greatestCount || isFull {
        guard node.pc != 0 else { continue }
        damage = start
        break
      }
      // A node without its pc was being written when the recording ended.
      if node.pc != 0 { used = index + 1 }
      nodes.append(node)
    }
    nodes.removeLast(nodes.count - position - used)
    if used > 0 {
      spans.append(StackTable.Span(first: firstID, count: used, position: position))
    }
    return damage
  }

  /// How many nodes there can be from an ID on; nil for an ID that no node can have.
  private static func greatestCount(from firstID: UInt32) -> Int? {
    guard firstID >= MT_STACK_FIRST, firstID <= MT_STACK_LAST else { return nil }
    return Int(UInt32(MT_STACK_LAST) - firstID) + 1
  }

  /// Decodes the nodes of a chunk that says only what `memtrace_stack_nodes.h` does not expect.
  ///
  /// - Parameters: As of ``decode(_:firstID:)``.
  /// - Returns: Where the bytes end to be nodes; nil when they do not.
  mutating func decodePredicted(_ chunk: UnsafeRawBufferPointer, firstID: UInt32) -> Int? {
    guard let greatestCount = Self.greatestCount(from: firstID) else { return ChunkHeader.size }
    let predictor = UnsafeMutablePointer<mt_node_predictor>.allocate(capacity: 1)
    predictor.initialize(to: mt_node_predictor())
    defer { predictor.deallocate() }
    let position = nodes.count
    var cursor = ByteCursor(chunk, at: ChunkHeader.size)
    var damage: Int?
    while cursor.position < chunk.count {
      let start = cursor.position
      let tag = cursor.read(UInt8.self)
      if tag == 0 {
        // A node that was being written may have left bytes there.
        damage = chunk.isUnused(from: start + Int(MT_NODE_MAX_LENGTH)) ? nil : start
        break
      }
      guard nodes.count - position < greatestCount, !isFull else {
        damage = start
        break
      }
      let id = firstID &+ UInt32(truncatingIfNeeded: nodes.count - position)
      if UInt32(tag) & MT_NODE_RUN != 0 {
        guard appendRun(tag, id, firstID, predictor, inChunkFrom: position) else {
          damage = start
          break
        }
        continue
      }
      let node = node(tag, id, firstID, &cursor, predictor, inChunkFrom: position)
      guard let node, !cursor.isPastEnd else {
        // A chunk that the end of the file cuts is none the worse.
        damage = cursor.isPastEnd ? nil : start
        break
      }
      nodes.append(node)
    }
    if nodes.count > position {
      spans.append(
        StackTable.Span(first: firstID, count: nodes.count - position, position: position))
    }
    return damage
  }

  /// Appends the nodes that a tag counts; false when they are none.
  private mutating func appendRun(
    _ tag: UInt8, _ firstOfRun: UInt32, _ firstID: UInt32,
    _ predictor: UnsafeMutablePointer<mt_node_predictor>, inChunkFrom position: Int
  ) -> Bool {
    let count = UInt32(tag) & ~MT_NODE_RUN
    guard (1...MT_NODE_RUN_MAX).contains(count) else { return false }
    for distance in 0..<count {
      let id = firstOfRun &+ distance
      let caller = nodes.count > position ? nodes.pc(at: nodes.count - 1) : 0
      let pc = mt_expected_pc(predictor, caller, 0)
      mt_learn_pc(predictor, caller, pc)
      nodes.append(StackTable.Node(pc: pc, parent: id &- 1, flags: 0))
    }
    return true
  }

  /// The node that begins with a tag; nil when the bytes are none.
  private func node(
    _ tag: UInt8, _ id: UInt32, _ firstID: UInt32, _ cursor: inout ByteCursor,
    _ predictor: UnsafeMutablePointer<mt_node_predictor>, inChunkFrom position: Int
  ) -> StackTable.Node? {
    guard UInt32(tag) & MT_NODE_TAG != 0, tag & 0xc0 == 0 else { return nil }
    var parent: UInt32
    switch UInt32(tag) >> UInt32(MT_NODE_PARENT_SHIFT) & 3 {
    case MT_PARENT_PREVIOUS.rawValue: parent = id &- 1
    case MT_PARENT_DISTANCE.rawValue:
      parent = id &- UInt32(truncatingIfNeeded: cursor.readVarInt())
    case MT_PARENT_NONE.rawValue: parent = UInt32(MT_STACK_NONE)
    default: parent = UInt32(MT_STACK_CUT)
    }
    let isInChunk = parent >= firstID && parent < id
    let caller = isInChunk ? nodes.pc(at: position + Int(parent - firstID)) : 0
    let pc: UInt64
    switch UInt32(tag) >> UInt32(MT_NODE_PC_SHIFT) & 3 {
    case MT_PC_LAST.rawValue: pc = mt_expected_pc(predictor, caller, 0)
    case MT_PC_SECOND.rawValue: pc = mt_expected_pc(predictor, caller, 1)
    case MT_PC_KNOWN.rawValue:
      guard let known = knownPC(&cursor, caller, predictor) else { return nil }
      pc = known
    default: pc = caller &+ VarInt.unzigzag(cursor.readVarInt())
    }
    let flags = UInt32(tag) & MT_NODE_HAS_FLAGS != 0 ? UInt32(cursor.read(UInt8.self)) : 0
    mt_learn_pc(predictor, caller, pc)
    return StackTable.Node(pc: pc, parent: parent, flags: flags)
  }

  /// A pc that is one of the less likely ones of its caller, or of the recent ones.
  private func knownPC(
    _ cursor: inout ByteCursor, _ caller: UInt64,
    _ predictor: UnsafeMutablePointer<mt_node_predictor>
  ) -> UInt64? {
    let byte = UInt32(cursor.read(UInt8.self))
    if byte < UInt32(MT_STEPS) - 2 { return mt_expected_pc(predictor, caller, byte + 2) }
    guard byte >= MT_PC_RECENT else { return nil }
    let low = UInt32(cursor.read(UInt8.self))
    return mt_recent_pc(predictor, (byte - MT_PC_RECENT) << 8 | low)
  }

  /// The table, and how many chunks claim IDs that another one has; no nodes can be added then.
  mutating func table() -> (table: StackTable, overlaps: Int) {
    nodes.finish()
    var kept: [StackTable.Span] = []
    var overlaps = 0
    for span in spans.sorted(by: { ($0.first, $0.position) < ($1.first, $1.position) }) {
      if let last = kept.last, Int(span.first) < Int(last.first) + last.count {
        overlaps += 1
      } else {
        kept.append(span)
      }
    }
    return (StackTable(nodes: nodes, spans: kept), overlaps)
  }
}
