import TraceReader

/// A node of the tree of a `TreeDictionary` or `TreeSet` of Swift: which children and items it has.
///
/// ```
/// +16 a bit for each item (32 bits)     +20 a bit for each child     +24 capacity, in bytes     +28 what is left of it
/// +32 children, of two words each: the node, and how many items are in it …     … items, the first one last
/// ```
/// Between both stands what was there before. Nodes whose items have the same hash value are not known.
/// Source: `_HashNode.swift` and `_HashNodeHeader.swift` in `Sources/HashTreeCollections` of swift-collections.
public struct SwiftTreeNode {
  /// What a place of a node belongs to.
  public enum Place: Sendable, Hashable {
    /// A child, by its number.
    case child(UInt64)
    /// An item, by its number, and where in it.
    case item(UInt64, offset: UInt64)
  }

  /// In bytes from the beginning.
  private let children: Range<UInt64>
  private let items: Range<UInt64>
  /// How many bytes an item takes; 1 where there are none.
  public let itemStride: UInt64

  private static let start: UInt64 = 32
  private static let childStride: UInt64 = 16

  /// Reads the header of a node; nil where it says nothing that can be: in traces that do not keep it.
  ///
  /// - Parameters:
  ///   - address: Where the node is.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  public init?(at address: UInt64, _ memory: (UInt64) -> UInt64) {
    let (maps, bytes) = (memory(address &+ 16), memory(address &+ 24))
    let (itemMap, childMap) = (UInt32(truncatingIfNeeded: maps), UInt32(maps >> 32))
    let (capacity, unused) = (UInt64(UInt32(truncatingIfNeeded: bytes)), bytes >> 32)
    let (itemCount, childCount) = (itemMap.nonzeroBitCount, childMap.nonzeroBitCount)
    let childBytes = UInt64(childCount) * Self.childStride
    guard itemMap != childMap, unused <= capacity, childBytes <= capacity - unused else {
      return nil
    }
    let itemBytes = capacity - unused - childBytes
    if itemCount > 0 {
      itemStride = itemBytes / UInt64(itemCount)
      guard itemStride > 0, itemBytes % UInt64(itemCount) == 0 else { return nil }
    } else {
      itemStride = 1
      guard itemBytes == 0 else { return nil }
    }
    let end = Self.start + capacity
    children = Self.start..<Self.start + childBytes
    items = end - itemBytes..<end
  }

  /// Where its children and items are, in bytes from the beginning.
  ///
  /// - Parameter end: One past the last byte of the node.
  /// - Returns: nil where that cannot be.
  func used(upTo end: UInt64) -> UsedElements? {
    items.upperBound <= end ? UsedElements(items, wrapped: children) : nil
  }

  /// What a place of the node belongs to; nil for what is in front of the children, or not in use.
  public func place(of offset: UInt64) -> Place? {
    if children.contains(offset) { return .child((offset - Self.start) / Self.childStride) }
    guard items.contains(offset) else { return nil }
    let number = (items.upperBound - 1 - offset) / itemStride
    return .item(number, offset: (offset - items.lowerBound) % itemStride)
  }
}
