import TraceReader

/// The buffers of streams (`FILE`), in which bytes are on their way to a file and never pointers.
///
/// The C library does not clear them: behind what has been written stands what was there before.
enum StreamBuffers {
  /// Whatever the file's file system asks for, of at most `BUFSIZ` bytes, 8192 with glibc.
  private static let sizes: ClosedRange<UInt64> = 512...8192

  /// The blocks that are such buffers.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one that allocates buffers of streams; asked of few.
  /// - Returns: Their positions.
  static func blocks(_ heap: HeapImage, isAllocated: (StackID) -> Bool) -> Set<Int> {
    var found: Set<Int> = []
    let blocks = heap.blocks
    for block in 0..<blocks.count {
      let size = blocks.size(of: block)
      guard sizes.contains(size), size & (size &- 1) == 0 else { continue }
      if isAllocated(blocks.site(of: block).stack) { found.insert(block) }
    }
    return found
  }
}
