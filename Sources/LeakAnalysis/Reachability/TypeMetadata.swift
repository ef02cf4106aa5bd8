import TraceReader

/// The blocks in which the Swift runtime keeps what it knows of types: none holds what others have allocated.
///
/// Metadata refer to metadata, to names, and to what is in images. The runtime does not clear what it allocates for
/// them, so that in the gaps, in the empty places of its tables, and behind what it has used of a slab so far, stands
/// what was there before.
struct TypeMetadata: Sendable {
  /// For each site of the heap what is allocated there; empty where nothing was found.
  private var contents: [Content] = []

  private enum Content {
    /// What the runtime knows of types.
    case metadata
    /// Something else of the runtime, to which metadata may lead.
    case ofRuntime
    case other
  }

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - scanner: Knows what objects are.
  ///   - reachability: What was reached while no such block was known.
  ///   - facts: What stacks allocate: asked of those whose blocks hold others, and of all where metadata hold what
  ///     they cannot.
  /// - Complexity: O(*blocks*).
  init(_ scanner: EdgeScanner, _ reachability: Reachability, _ facts: StackFacts) {
    let blocks = scanner.heap.blocks
    guard scanner.heap.hasSwift,
      (0..<blocks.count).contains(where: { block in
        guard case .block(let holder)? = reachability.holder(of: block),
          !scanner.isCountedObject(holder),
          facts.isSwiftMetadata(blocks.site(of: holder).stack)
        else { return false }
        return scanner.isCountedObject(block)
          || Self.content(of: blocks.site(of: block), facts) == .other
      })
    else { return }
    contents = blocks.sites.map { Self.content(of: $0, facts) }
  }

  private static func content(of site: Site, _ facts: StackFacts) -> Content {
    if facts.isSwiftMetadata(site.stack) { return .metadata }
    return facts.isUnnamedOfSwiftRuntime(site.stack) ? .ofRuntime : .other
  }

  var isEmpty: Bool { contents.isEmpty }

  /// Whether blocks from a site are such blocks.
  func contains(site: Int) -> Bool { contents[site] == .metadata }

  /// Whether metadata may lead to blocks from a site.
  func leads(toSite site: Int) -> Bool { contents[site] != .other }
}

extension EdgeScanner {
  /// Whether a block keeps what the runtime knows of types, and points to what it cannot hold.
  @inline(never)
  func isLeft(in block: Int, _ target: Int, by metadata: TypeMetadata) -> Bool {
    guard metadata.contains(site: heap.blocks.siteIndex(of: block)), !isCountedObject(block) else {
      return false
    }
    return isCountedObject(target) || !metadata.leads(toSite: heap.blocks.siteIndex(of: target))
  }

  /// Whether a block is an object of Swift, and not just something that begins with the address of its type, as the
  /// tables by which the runtime finds the names of types do.
  func isCountedObject(_ block: Int) -> Bool {
    layout(of: block) != nil
      && SwiftObjects.isObject(at: heap.blocks.address(of: block), heap.memory)
  }
}
