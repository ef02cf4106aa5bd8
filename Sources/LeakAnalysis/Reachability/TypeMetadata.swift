import TraceReader

/// The blocks in which the Swift runtime keeps what it knows of types: none holds an object.
///
/// Metadata refer to metadata, and to what is in images. The runtime does not clear what it allocates for them, so
/// that in the gaps, and behind what it has used of a slab so far, stands what was there before.
struct TypeMetadata: Sendable {
  /// The places where such blocks are allocated, as positions among the sites of the heap.
  private var sites: Set<Int> = []

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - scanner: Knows what objects are.
  ///   - reachability: What was reached while no such block was known.
  ///   - isAllocated: Whether a stack is one by which the runtime keeps what it knows of types: asked of those whose
  ///     blocks hold objects, and of all where that is the case of one.
  /// - Complexity: O(*blocks*).
  init(_ scanner: EdgeScanner, _ reachability: Reachability, isAllocated: (StackID) -> Bool) {
    let blocks = scanner.heap.blocks
    guard scanner.heap.hasSwift,
      (0..<blocks.count).contains(where: { block in
        guard case .block(let holder)? = reachability.holder(of: block),
          scanner.isKnownObject(block), scanner.layout(of: holder) == nil
        else { return false }
        return isAllocated(blocks.site(of: holder).stack)
      })
    else { return }
    sites = Set(blocks.sites.indices.filter { isAllocated(blocks.sites[$0].stack) })
  }

  var isEmpty: Bool { sites.isEmpty }

  /// Whether blocks from a site are such blocks.
  func contains(site: Int) -> Bool { sites.contains(site) }
}

extension EdgeScanner {
  /// Whether a block keeps what the runtime knows of types, and points to an object.
  func isLeft(in block: Int, _ target: Int, by metadata: TypeMetadata) -> Bool {
    metadata.contains(site: heap.blocks.siteIndex(of: block)) && isKnownObject(target)
      && layout(of: block) == nil
  }
}
