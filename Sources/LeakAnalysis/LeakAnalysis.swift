import TraceReader

/// Which blocks of a heap can be reached, and how the others hang together.
public struct LeakAnalysis: Sendable {
  /// The heap that was analysed.
  public let heap: HeapImage
  /// Which blocks can be reached and what holds them.
  public let reachability: Reachability
  /// The blocks that cannot be reached.
  public let leaks: LeakForest
  /// What was followed, in this order.
  let roots: [Root]
  /// Finds the pointers.
  let scanner: EdgeScanner

  /// Follows all pointers of a heap.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - layouts: What is known of objects, by their first words.
  /// - Complexity: O(*words* + *blocks* · log *blocks*) time, about 60 bytes per block.
  public init(_ heap: HeapImage, layouts: [UInt64: ObjectLayout] = [:]) {
    self.heap = heap
    scanner = EdgeScanner(heap, layouts: layouts)
    var marker = Marker(scanner)
    roots = RootSet(heap).roots
    marker.mark(from: roots)
    reachability = marker.result
    leaks = LeakForest(LeakGraph(scanner, marker.result), blocks: heap.blocks)
  }
}
