import TraceReader

/// Parts of blocks that a program takes for blocks.
extension HeapImage {
  /// The slabs of GLib's slice allocator (until 2.76).
  ///
  /// Which of their parts are in use is not in the trace: a leak in one of them is not found, nor what it leads to.
  /// - Returns: Their positions among the blocks, ascending.
  /// - Complexity: O(*n*) in blocks.
  public var slices: [Int] {
    (0..<blocks.count).filter { block in
      let operation = blocks.site(of: block).operation
      return operation.hasAlignment
        && InteriorPointers.isSlice(
          ofBlockAt: blocks.address(of: block), size: blocks.size(of: block), operation, memory)
    }
  }
}
