import TraceReader

/// The blocks into which the Swift runtime puts metadata of types one behind the other.
///
/// Whoever refers to a type refers to the middle of one, and nothing to its beginning; nor are any
/// freed.
/// Source: `MetadataAllocator` in `stdlib/public/runtime/Metadata.cpp` of the Swift repository.
enum MetadataSlabs {
  /// What does not fit into half of one gets a block of its own.
  private static let leastSize: UInt64 = 8192

  /// The blocks that are such slabs.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one by which the runtime keeps what it knows of types; asked of
  ///     few.
  /// - Returns: Their positions; none where the Swift runtime is not there.
  static func blocks(_ heap: HeapImage, isAllocated: (StackID) -> Bool) -> Set<Int> {
    guard heap.hasSwift else { return [] }
    let blocks = heap.blocks
    return Set(
      (0..<blocks.count).filter { block in
        blocks.size(of: block) >= leastSize && isAllocated(blocks.site(of: block).stack)
      })
  }
}
