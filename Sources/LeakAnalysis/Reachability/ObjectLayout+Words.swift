import TraceReader

extension ObjectLayout {
  /// Whether a word of a block of a size is a number, although it may look like a pointer.
  func isNumber(
    at offset: UInt64, _ table: SwiftTable?, ofBlockAt address: UInt64, size: UInt64
  ) -> Bool {
    if numbersFromEnd.contains(size &- offset) { return true }
    if self.table != nil, offset == SwiftTable.seedOffset { return true }
    return start(of: offset, table, ofBlockAt: address).map {
      numberOffsets.contains(offset - $0)
    } ?? false
  }

  /// Whether a word of a table is one of a key, or of an element of a set, that only identifies an object.
  func isIdentifierInKey(at address: UInt64, _ table: SwiftTable) -> Bool {
    if hasIdentifiersAsKeys { return table.isKey(address) }
    guard let keys, !keys.identifierOffsets.isEmpty,
      case .key(let offset?) = table.place(of: address, keyStride: keys.stride)
    else { return false }
    return keys.identifierOffsets.contains(offset)
  }

  /// Whether somebody may follow a word of a block that points to no block: a number is none to follow, nor what
  /// only identifies an object, nor what was left behind a value of any type.
  func mayPoint(
    at word: UInt64, in block: Int, _ table: SwiftTable?, _ heap: HeapImage,
    _ existentials: ExistentialValues
  ) -> Bool {
    let (address, size) = (heap.blocks.address(of: block), heap.blocks.size(of: block))
    let offset = word &- address
    if isNumber(at: offset, table, ofBlockAt: address, size: size)
      || identifiersFromEnd.contains((size &+ 7) & ~7 &- offset)
    {
      return false
    }
    if let table, isIdentifierInKey(at: word, table) { return false }
    guard let part = start(of: offset, table, ofBlockAt: address) else { return true }
    return !identifierOffsets.contains(offset - part)
      && !isBehindValue(offset - part, ofBlockAt: address &+ part, heap.memory, existentials)
  }

  /// Whether a word of a block that points to another one holds it.
  func holds(
    at word: UInt64, in block: Int, _ table: SwiftTable?, _ target: Int, _ heap: HeapImage,
    _ existentials: ExistentialValues
  ) -> Bool {
    let (address, size) = (heap.blocks.address(of: block), heap.blocks.size(of: block))
    let offset = word &- address
    if isNumber(at: offset, table, ofBlockAt: address, size: size) { return false }
    guard let part = start(of: offset, table, ofBlockAt: address) else { return true }
    if isBehindValue(offset - part, ofBlockAt: address &+ part, heap.memory, existentials) {
      return false
    }
    let isUnowned =
      unownedOffsets.contains(offset - part)
      || unownedFromEnd.contains((size &+ 7) & ~7 &- offset)
    return !isUnowned || SwiftObjects.isTakenDown(at: heap.blocks.address(of: target), heap.memory)
  }
}
