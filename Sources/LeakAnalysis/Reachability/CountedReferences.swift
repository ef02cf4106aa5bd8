import TraceReader

/// References of which types tell that the objects count them which they lead to.
extension EdgeScanner {
  /// Calls `body` for each reference in a block of which its type tells that the object it leads to counts it.
  ///
  /// An object that is being taken down may have given up some of its own.
  func forEachCountedReference(of block: Int, _ body: (_ target: Int) -> Void) {
    let (start, memory) = (heap.blocks.address(of: block), heap.memory)
    guard let layout = layout(of: block), layout.hasCountedReferences,
      !SwiftObjects.isTakenDown(at: start, memory)
    else { return }
    layout.forEachCountedReference(
      ofBlockAt: start, size: heap.blocks.size(of: block), table(in: block, layout),
      usedElements(of: block), memory
    ) {
      let value = memory.word(at: start &+ $0)
      guard value != 0, let target = target(of: value), target.edgeClass == .start else { return }
      body(target.block)
    }
  }
}

extension ObjectLayout {
  var hasCountedReferences: Bool {
    !countedOffsets.isEmpty || !countedFromEnd.isEmpty || !existentialOffsets.isEmpty
      || keys?.countedOffsets.isEmpty == false
  }

  /// Whether an offset is one of an element: in an array, or behind the properties of a class that allocates
  /// room for elements itself.
  func isElement(at offset: UInt64) -> Bool {
    isArray ? offset >= elementsStart : size.map { offset >= $0 } ?? false
  }

  /// Visits the offsets of references that are counted, whether there is an object or not.
  ///
  /// Those of arrays are left out where it is not known which of their elements are in use.
  func forEachCountedReference(
    ofBlockAt start: UInt64, size: UInt64, _ table: SwiftTable?, _ elements: UsedElements?,
    _ memory: SnapshotMemory, _ body: (UInt64) -> Void
  ) {
    if let table { forEachCountedReference(in: table, ofBlockAt: start, memory, body) }
    if let elements, let elementStride, hasCountedReferences {
      elements.forEachStart(stride: elementStride) { element in
        forEachCountedReference(ofValueAt: start &+ element, memory) { body($0 &- start) }
      }
    }
    guard elementStride == nil else { return }
    forEachCountedReference(ofValueAt: start, memory) { body($0 &- start) }
    for offset in countedFromEnd {
      let end = (size &+ 7) & ~7
      if offset <= end { body(end - offset) }
    }
  }

  private func forEachCountedReference(
    in table: SwiftTable, ofBlockAt start: UInt64, _ memory: SnapshotMemory,
    _ body: (UInt64) -> Void
  ) {
    if let keys, !keys.countedOffsets.isEmpty {
      table.forEachKey(stride: keys.stride, memory) { key in
        for offset in keys.countedOffsets { body(key &+ offset &- start) }
      }
    }
    guard elementStride == table.valueStride,
      !countedOffsets.isEmpty || !existentialOffsets.isEmpty
    else { return }
    table.forEachValue(memory) { value in
      forEachCountedReference(ofValueAt: value, memory) { body($0 &- start) }
    }
  }

  /// Visits the addresses of those that have a place of their own in an object, or in a value of a table.
  private func forEachCountedReference(
    ofValueAt start: UInt64, _ memory: SnapshotMemory, _ body: (UInt64) -> Void
  ) {
    for offset in countedOffsets { body(start &+ offset) }
    for offset in existentialOffsets where holdsObject(at: start &+ offset, memory) {
      body(start &+ offset)
    }
  }

  /// Whether a reference is at an offset that is counted.
  func isCountedReference(
    _ offset: UInt64, ofBlockAt start: UInt64, size: UInt64, _ table: SwiftTable?,
    _ elements: UsedElements?, _ memory: SnapshotMemory
  ) -> Bool {
    if let table, let isCounted = isCountedReference(start &+ offset, in: table, memory) {
      return isCounted
    }
    if let elementStride {
      guard let elements, elements.contains(offset) else { return false }
      let element = offset - (offset - elementsStart) % elementStride
      return isCountedReference(start &+ offset, ofValueAt: start &+ element, memory)
    }
    var isCounted = false
    forEachCountedReference(ofBlockAt: start, size: size, nil, nil, memory) {
      isCounted = isCounted || $0 == offset
    }
    return isCounted
  }

  private func isCountedReference(
    _ address: UInt64, ofValueAt value: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    var isCounted = false
    forEachCountedReference(ofValueAt: value, memory) { isCounted = isCounted || $0 == address }
    return isCounted
  }

  /// Whether it is in a key or a value of a table; nil for what is neither.
  private func isCountedReference(
    _ address: UInt64, in table: SwiftTable, _ memory: SnapshotMemory
  ) -> Bool? {
    switch table.place(of: address, keyStride: keys?.stride) {
    case .key(let offset): return offset.map { keys?.countedOffsets.contains($0) == true } ?? false
    case .value(let offset):
      guard elementStride == table.valueStride else { return false }
      return isCountedReference(address, ofValueAt: address &- offset, memory)
    case nil: return nil
    }
  }
}
