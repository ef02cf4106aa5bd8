import TraceReader

/// Blocks in which never are pointers to others: the buffers of streams (`FILE`), with bytes on their way to a file, and
/// the table of functions that CoreFoundation's collections call.
///
/// Nobody clears them: behind what has been written stands what was there before.
enum PointerlessBlocks {
  /// Of buffers whatever the file's file system asks for, of at most `BUFSIZ` bytes, 8192 with glibc; 2048 of the table.
  private static let sizes: ClosedRange<UInt64> = 512...8192

  /// The blocks that are such ones.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one that allocates such blocks; asked of few.
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
