import TraceReader

/// Objects of Swift all of whose counted references are known: what else leads to one does not hold it.
///
/// Of much that leads to an object no type tells whether it holds it. An `unowned` reference may be in an enum,
/// an `Any` or a generic structure; behind the last element of an array stands what `removeLast` took out, and so
/// it does in front of the first one of a deque. But the object counts who holds it. Where as many properties of
/// classes, or values that closures capture, lead to it as it counts strong references, no other word is one of
/// these.
///
/// Only objects that are held by such other words in the end are looked at; the words must be in blocks whose
/// type is known, and be elements, or the object have `unowned` references.
struct SettledObjects: Sendable {
  /// For each such object whether it has `unowned` references.
  private var hasUnowned: [Int: Bool] = [:]

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - scanner: Knows what the properties of classes are.
  ///   - reachability: What was reached while none was known.
  /// - Complexity: O(*blocks*).
  init(_ scanner: EdgeScanner, _ reachability: Reachability) {
    let doubted = Self.doubted(scanner, reachability)
    guard !doubted.isEmpty else { return }
    var counted: [Int: UInt64] = [:]
    for block in 0..<scanner.heap.blocks.count {
      scanner.forEachCountedReference(of: block) { target in
        if doubted[target] != nil { counted[target, default: 0] += 1 }
      }
    }
    hasUnowned = doubted.filter { counted[$0.key] == $0.value.strong }.mapValues { $0.unowned > 0 }
  }

  var isEmpty: Bool { hasUnowned.isEmpty }

  /// Whether what leads to an object is known.
  func contains(_ block: Int) -> Bool { hasUnowned[block] != nil }

  /// Whether it is, and some of that are `unowned` references.
  func containsUnowned(_ block: Int) -> Bool { hasUnowned[block] == true }

  /// The counts of the objects that are held by words of which no type tells whether they hold.
  private static func doubted(
    _ scanner: EdgeScanner, _ reachability: Reachability
  ) -> [Int: ObjectCounts] {
    let (blocks, memory) = (scanner.heap.blocks, scanner.heap.memory)
    var doubted: [Int: ObjectCounts] = [:]
    for block in 0..<blocks.count {
      guard case .block(let holder) = reachability.holder(of: block),
        scanner.mayPointWithoutHolding(holder),
        let counts = ObjectCounts(at: blocks.address(of: block), in: memory),
        counts.strong > 0, !counts.isTakenDown, counts.unowned > 0 || scanner.hasElements(holder)
      else { continue }
      var isCertain = false
      scanner.forEachCountedReference(of: holder) { isCertain = isCertain || $0 == block }
      if !isCertain { doubted[block] = counts }
    }
    return doubted
  }
}

extension EdgeScanner {
  /// Calls `body` for each reference in a block of which its type tells that the object it leads to counts it.
  ///
  /// An object that is being taken down may have given up some of its own.
  func forEachCountedReference(of block: Int, _ body: (_ target: Int) -> Void) {
    let (start, memory) = (heap.blocks.address(of: block), heap.memory)
    guard let layout = layout(of: block), layout.hasCountedReferences,
      !SwiftObjects.isTakenDown(at: start, memory)
    else { return }
    layout.forEachCountedReference(ofBlockAt: start, size: heap.blocks.size(of: block), memory) {
      let value = memory.word(at: start &+ $0)
      guard value != 0, let target = target(of: value), target.edgeClass == .start else { return }
      body(target.block)
    }
  }

  /// Whether words of a block may point to objects without holding them, for all that its type tells.
  func mayPointWithoutHolding(_ block: Int) -> Bool {
    layout(of: block).map { !$0.isTask } ?? false
  }

  /// Whether a block has elements behind its properties.
  func hasElements(_ block: Int) -> Bool {
    guard let layout = layout(of: block) else { return false }
    return layout.isElement(at: heap.blocks.size(of: block) &- 1)
  }

  /// Whether a word does not hold the object that it points to, as other words are all that the object counts.
  func isUncounted(_ offset: UInt64, of block: Int, to target: Int, _ settled: SettledObjects)
    -> Bool
  {
    guard settled.contains(target), let layout = layout(of: block), !layout.isTask,
      settled.containsUnowned(target) || layout.isElement(at: offset)
    else { return false }
    var isCounted = false
    layout.forEachCountedReference(
      ofBlockAt: heap.blocks.address(of: block), size: heap.blocks.size(of: block), heap.memory
    ) { isCounted = isCounted || $0 == offset }
    return !isCounted
  }
}

extension ObjectLayout {
  fileprivate var hasCountedReferences: Bool {
    !countedOffsets.isEmpty || !countedFromEnd.isEmpty || !existentialOffsets.isEmpty
  }

  /// Whether an offset is one of an element: in an array, or behind the properties of a class that allocates
  /// room for elements itself.
  fileprivate func isElement(at offset: UInt64) -> Bool {
    isArray ? offset >= Self.elementsStart : size.map { offset >= $0 } ?? false
  }

  /// Visits the offsets of references that are counted, whether there is an object or not.
  ///
  /// Those of arrays are left out: how many of their elements are in use, no snapshot says.
  fileprivate func forEachCountedReference(
    ofBlockAt start: UInt64, size: UInt64, _ memory: SnapshotMemory, _ body: (UInt64) -> Void
  ) {
    guard elementStride == nil else { return }
    for offset in countedOffsets { body(offset) }
    for offset in countedFromEnd {
      let end = (size &+ 7) & ~7
      if offset <= end { body(end - offset) }
    }
    for offset in existentialOffsets where holdsObject(at: start &+ offset, memory) { body(offset) }
  }
}
