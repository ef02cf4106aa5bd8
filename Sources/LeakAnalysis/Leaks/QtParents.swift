import TraceReader

/// Pointers from objects of Qt to their parents, which delete them, and are not kept by them.
///
/// ```
/// object:  +0 table   +8 its data
/// data:    +0 table   +8 its object   +16 parent   +24 children
/// ```
/// The library of a distribution has no debug information, and a parent of one child alone does not tell itself from
/// an owner.
/// Source: `QObjectData` in `qobject.h` of Qt 5 and 6.
extension EdgeScanner {
  /// Whether what lies at an offset of a block is such a pointer: the parent has the object among its children.
  func isParentOfQt(at offset: UInt64, of block: Int) -> Bool {
    guard offset == 16, let object = partner(of: heap.blocks.address(of: block)) else {
      return false
    }
    let parent = heap.memory.word(at: heap.blocks.address(of: block) &+ 16)
    guard let data = partner(of: parent) else { return false }
    let children = lookup.block(containing: heap.memory.word(at: data &+ 24))
    guard children >= 0 else { return false }
    let start = heap.blocks.address(of: children)
    let end = start &+ min(heap.blocks.size(of: children), Self.mostChildren &* 8)
    return stride(from: start, to: end, by: 8).contains { heap.memory.word(at: $0) == object }
  }

  /// What an object and its data have of each other; nil where they have not.
  private func partner(of address: UInt64) -> UInt64? {
    let (memory, other) = (heap.memory, heap.memory.word(at: address &+ 8))
    guard other != 0, memory.word(at: other &+ 8) == address,
      InteriorPointers.isVirtualTable(memory.word(at: address), memory),
      InteriorPointers.isVirtualTable(memory.word(at: other), memory)
    else { return nil }
    return other
  }

  /// Of several children each leads to the parent, and so tells it.
  private static let mostChildren: UInt64 = 64
}
