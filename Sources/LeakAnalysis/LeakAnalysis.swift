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
  ///   - facts: What is known of the stacks that allocated the blocks.
  ///   - valueSize: How many bytes a value of Swift takes, by the address of its type's value witnesses;
  ///     nil where that is not known.
  /// - Complexity: O(*words* + *blocks* · log *blocks*) time; with the heap itself about 64 bytes per block, besides
  ///   8 to 12 per word.
  public init(
    _ heap: HeapImage, layouts: [UInt64: ObjectLayout] = [:],
    facts: StackFacts = StackFacts(), valueSize: (UInt64) -> UInt64? = { _ in nil }
  ) {
    self.heap = heap
    var tracer = EdgeScanner(heap, layouts: layouts, facts: facts, valueSize: valueSize)
    roots = RootSet(heap).roots
    var reachability = Self.reachability(tracer, roots)
    let rustInteriors = RustInteriors(heap, reachability, facts)
    if !rustInteriors.isEmpty {
      tracer = EdgeScanner(tracer, rustInteriors: rustInteriors)
      reachability = Self.reachability(tracer, roots)
    }
    let headerBlocks = HeaderBlocks(tracer, reachability, roots, facts)
    if !headerBlocks.isEmpty {
      tracer = EdgeScanner(tracer, headerBlocks: headerBlocks)
      reachability = Self.reachability(tracer, roots)
    }
    let settled = SettledObjects(tracer, reachability)
    if !settled.isEmpty {
      tracer = EdgeScanner(tracer, settled: settled)
      reachability = Self.reachability(tracer, roots)
    }
    scanner = EdgeScanner(
      tracer, selfOwners: SelfOwners.blocks(heap, reachability, facts),
      unusedWords: UnusedWords(tracer, reachability, facts))
    leaks = LeakForest(scanner, facts, &reachability)
    self.reachability = reachability
  }

  /// What the search needs beside its result is gone afterwards.
  private static func reachability(_ scanner: EdgeScanner, _ roots: [Root]) -> Reachability {
    var marker = Marker(scanner, roots: roots)
    marker.mark()
    return marker.result
  }
}
