import CTraceFormat

/// Collects the STACKS chunks of a trace.
struct StackDecoder {
  private var nodes: [StackTable.Node] = []
  private var spans: [StackTable.Span] = []

  /// Decodes the nodes of a chunk.
  ///
  /// - Parameters:
  ///   - chunk: The bytes with the chunk header; fewer when the file is cut.
  ///   - firstID: The ID of the first node.
  mutating func decode(_ chunk: UnsafeRawBufferPointer, firstID: UInt32) {
    let size = MemoryLayout<mt_stack_node>.size
    let room = (chunk.count - ChunkHeader.size) / size
    let count = min(room, Int(UInt32.max - firstID))
    guard count > 0, firstID >= MT_STACK_FIRST else { return }
    let position = nodes.count
    var used = 0
    for index in 0..<count {
      var cursor = ByteCursor(chunk, at: ChunkHeader.size + index * size)
      // A node without its pc was being written when the recording ended.
      let node = StackTable.Node(pc: cursor.read(), parent: cursor.read(), flags: cursor.read())
      if node.pc != 0 { used = index + 1 }
      nodes.append(node)
    }
    nodes.removeLast(count - used)
    if used > 0 {
      spans.append(StackTable.Span(first: firstID, count: used, position: position))
    }
  }

  /// The table, and how many chunks claim IDs that another one has.
  func table() -> (table: StackTable, overlaps: Int) {
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
