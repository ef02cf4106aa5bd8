import TraceReader

/// The blocks of Rust's standard library that their owners hold by a pointer into the middle.
///
/// ```
/// table of a HashMap or HashSet    elements, as many control bytes, 16 more
///                                  ^ of the control bytes it has the first one's address
/// Rc, Arc                          two counts, the value
///                                  ^ so into_raw and a Waker have it
/// ```
/// Who has allocated a block is asked only of those that would be leaked or doubtful otherwise.
/// Source: `RawTableInner` in `src/raw.rs` of hashbrown, `RcInner` in `alloc/src/rc.rs` of Rust.
struct RustInteriors: Sendable {
  private var tables: Set<Int> = []
  private var shared: Set<Int> = []

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - heap: The heap.
  ///   - reachability: What was reached while none was known.
  ///   - facts: Knows who allocates tables, and who counts references.
  init(_ heap: HeapImage, _ reachability: Reachability, _ facts: StackFacts) {
    let blocks = heap.blocks
    var kinds: [Kind?] = Array(repeating: nil, count: blocks.sites.count)
    for block in 0..<blocks.count where reachability.state(of: block) != .reached {
      let site = blocks.siteIndex(of: block)
      let kind = kinds[site] ?? Kind(blocks.sites[site].stack, facts)
      kinds[site] = kind
      switch kind {
      case .table: tables.insert(block)
      case .shared: shared.insert(block)
      case .other: break
      }
    }
  }

  private enum Kind {
    case table, shared, other

    init(_ stack: StackID, _ facts: StackFacts) {
      self = facts.isHashTable(stack) ? .table : facts.countsReferences(stack) ? .shared : .other
    }
  }

  var isEmpty: Bool { tables.isEmpty && shared.isEmpty }

  /// Whether an owner of a block has the address of what lies at an offset of it.
  func isOwned(_ block: Int, at offset: UInt64, in blocks: HeapBlocks) -> Bool {
    if shared.contains(block) { return offset == Self.valueOffset }
    return tables.contains(block) && Self.isControl(offset, ofTableOf: blocks.size(of: block))
  }

  /// Whether as many bytes as a table may have buckets, a power of two, are between an offset and the 16 at the end.
  private static func isControl(_ offset: UInt64, ofTableOf size: UInt64) -> Bool {
    guard size > offset, size &- offset > groupSize else { return false }
    let buckets = size &- offset &- groupSize
    return offset & (groupSize - 1) == 0 && buckets & (buckets &- 1) == 0
  }

  private static let groupSize: UInt64 = 16
  private static let valueOffset: UInt64 = 16
}
