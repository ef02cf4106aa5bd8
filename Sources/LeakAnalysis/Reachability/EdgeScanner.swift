import TraceReader

/// Says which block a word points to and how.
///
/// A word is tried as it stands; as the reference of a Swift object to its side table (bits 63 and
/// 62 set, the address shifted by 3); and without its lowest 3 and highest 17 bits, where enums,
/// trees and virtual machines keep tags.
///
/// A class, as it is passed on for each block: each of its tables would be retained every time.
final class EdgeScanner: Sendable {
  let heap: HeapImage
  let lookup: BlockLookup
  private let blocks: HeapBlocks
  private let memory: SnapshotMemory
  private let tables: EdgeTables
  private let findings: EdgeFindings
  private let namesParts: Bool

  /// What is left of a pointer without its tags: the lowest 3 bits and the highest 17.
  static let addressMask: UInt64 = 0x0000_7fff_ffff_fff8
  private static let sideTableMark: UInt64 = 3 << 62

  /// - Parameters:
  ///   - heap: The heap.
  ///   - tables: What is known of its blocks before any pointer was followed.
  ///   - findings: What searches with less knowledge have found.
  init(_ heap: HeapImage, _ tables: EdgeTables, _ findings: EdgeFindings = EdgeFindings()) {
    self.heap = heap
    lookup = heap.lookup
    blocks = heap.blocks
    memory = heap.memory
    self.tables = tables
    self.findings = findings
    namesParts = !findings.arrayParts.isEmpty
  }

  /// The same, once more is known.
  func with(_ findings: EdgeFindings) -> EdgeScanner { EdgeScanner(heap, tables, findings) }

  /// The places in a leaked block where nothing is that holds another one, ascending; nil where it has none.
  @inline(__always)
  func unusedOffsets(in block: Int) -> [UInt64]? { findings.unusedWords.offsets(in: block) }

  /// An edge to a block.
  struct Target {
    var block: Int
    var edgeClass: EdgeClass
  }

  /// The block that a word points to.
  ///
  /// - Parameters:
  ///   - value: The word.
  ///   - isWanted: Asked before much is done to find out how the word points to its block.
  /// - Returns: nil when it points to none, or to one that is not wanted.
  @inline(__always)
  func target(
    of value: UInt64, where isWanted: (_ block: Int) -> Bool = { _ in true }
  ) -> Target? {
    let block = lookup.block(containing: value)
    if block >= 0 {
      guard isWanted(block) else { return nil }
      if tables.isCollected, isCollectorLink(value, to: block) { return nil }
      if blocks.address(of: block) == value { return Target(block: block, edgeClass: .start) }
      return interior(block, value)
    }
    if value & ~Self.addressMask == 0 { return nil }
    return decoded(value)
  }

  /// The block that a word of a root points to.
  ///
  /// - Parameters:
  ///   - value: The word.
  ///   - address: Where it is.
  ///   - isWanted: Asked before much is done to find out how the word points to its block.
  /// - Returns: nil when it points to none, or to one that is not wanted.
  @inline(__always)
  func target(
    of value: UInt64, at address: UInt64, where isWanted: (_ block: Int) -> Bool = { _ in true }
  ) -> Target? {
    guard var target = named(at: address, by: value, where: isWanted) else { return nil }
    if target.edgeClass == .interior, isAbseilTable(value, from: address, to: target.block) {
      target.edgeClass = .start
    }
    return target
  }

  /// The block that a word points to, or whose beginning it leads to from in front of it.
  @inline(__always)
  private func named(
    at address: UInt64, by value: UInt64, where isWanted: (_ block: Int) -> Bool = { _ in true }
  ) -> Target? {
    if namesParts, let part = findings.arrayParts.part(namedAt: address) {
      return isWanted(part) ? Target(block: part, edgeClass: .start) : nil
    }
    return target(of: value, where: isWanted)
  }

  @inline(never)
  private func isAbseilTable(_ value: UInt64, from address: UInt64, to block: Int) -> Bool {
    InteriorPointers.isAbseilTable(
      value, from: address, inBlockAt: blocks.address(of: block), size: blocks.size(of: block),
      memory)
  }

  /// Whether an address is that of the links of a Python object: only the garbage collector has it, whose list has all
  /// objects in it that it follows, and holds none.
  @inline(never)
  private func isCollectorLink(_ value: UInt64, to block: Int) -> Bool {
    let (start, links) = (blocks.address(of: block), value & ~SnapshotMemory.collectorFlags)
    guard links == start || links == start &+ 16, memory.isCollectorLink(at: links) else {
      return false
    }
    let object = memory.pythonObject(inBlockAt: start, size: blocks.size(of: block))
    return object?.offset == links &- start &+ 16
  }

  /// Words with tags are rare, so this stays out of the way.
  @inline(never)
  private func decoded(_ value: UInt64) -> Target? {
    if value & Self.sideTableMark == Self.sideTableMark {
      let block = lookup.block(containing: (value & ~Self.sideTableMark) << 3)
      if block >= 0, SwiftObjects.sideTableWord(of: blocks.address(of: block)) == value {
        return Target(block: block, edgeClass: .start)
      }
    }
    let address = value & Self.addressMask
    let block = lookup.block(containing: address)
    guard block >= 0 else { return nil }
    guard blocks.address(of: block) == address else {
      let isTask = isTask(at: address, inSlabOf: block)
      return Target(block: block, edgeClass: isTask ? .start : .interior)
    }
    let isObject = SwiftObjects.isObject(at: address, memory)
    return Target(block: block, edgeClass: isObject ? .start : .tagged)
  }

  /// A word that points into a block: usually doubtful, but not where a header is known to stand in
  /// front of what the program points to.
  @inline(never)
  private func interior(_ block: Int, _ value: UInt64) -> Target {
    let start = blocks.address(of: block)
    let size = blocks.size(of: block)
    let operation = blocks.site(of: block).operation
    let offset = value &- start
    let isOrdinary =
      InteriorPointers.isArray(offset, of: operation)
      || InteriorPointers.isBase(at: offset, of: start, memory)
      || InteriorPointers.isCoroutine(at: start, memory)
      || InteriorPointers.isException(at: offset, ofBlockAt: start, size: size, memory)
      || InteriorPointers.isObject(at: offset, ofBlockAt: start, size: size, memory)
      || InteriorPointers.isPythonText(at: offset, ofBlockAt: start, size: size, memory)
      || InteriorPointers.isSlice(ofBlockAt: start, size: size, operation, memory)
      || InteriorPointers.isMonotonicBuffer(
        at: offset, ofBlockAt: start, size: size, operation, memory)
      || InteriorPointers.isListLink(at: value, memory)
      || InteriorPointers.isAligned(at: offset, of: start, memory)
      || InteriorPointers.isOfGObject(at: offset, ofBlockAt: start, size: size, memory)
      || (offset == FundamentalTypes.offset && tables.fundamentalTypes.contains(block))
      || isElementLink(at: offset, of: block)
      || tables.metadataSlabs.contains(block)
      || findings.rustInteriors.isOwned(block, at: offset, in: blocks)
      || findings.headerBlocks.isOwned(block, at: offset, in: heap)
      || findings.cellBlocks.contains(block)
      || isTask(at: value, inSlabOf: block)
    return Target(
      block: block,
      edgeClass: isOrdinary ? .start : offset < 8 ? .tagged : .interior)
  }

  /// Whether a task of Swift lies at an address in a slab of another one, as those of `async let` do.
  private func isTask(at address: UInt64, inSlabOf block: Int) -> Bool {
    guard !tables.layouts.isEmpty, tables.layouts[memory.word(at: address)]?.isTask == true else {
      return false
    }
    let start = blocks.address(of: block)
    let used = memory.usedSizeOfTaskSlab(at: start, size: blocks.size(of: block))
    return used.map { address &- start < $0 } ?? false
  }

  /// Whether a word in a frame of an async function leads into another slab of frames than its own.
  ///
  /// Frames are held by their task, to which each slab is linked by its beginning. One that leads to another's is that
  /// of who waits for it, held by its task as well, or a function has left the word that has gone on.
  @inline(never)
  private func isOtherFrame(_ target: Target, of block: Int) -> Bool {
    memory.taskSlab != 0 && target.block != block && isTaskSlab(target.block) && isTaskSlab(block)
  }

  /// Whether a word of an actor's state points to an object that is no task: then it was there before the actor.
  @inline(never)
  private func isLeftInActor(_ offset: UInt64, _ value: UInt64) -> Bool {
    guard offset < ObjectLayout.actorSize else { return false }
    return tables.layouts[memory.word(at: value & Self.addressMask)]?.isTask == false
  }

  /// Whether a word of a root holds the block that it points to, for all that is known.
  ///
  /// - Parameters:
  ///   - root: The root.
  ///   - address: Of the word.
  ///   - block: The block.
  /// - Returns: Whether it does.
  func isHolding(_ root: Root, _ address: UInt64, _ block: Int) -> Bool {
    if root.category == .global, findings.identifiers.contains(address) { return false }
    if !findings.expired.isEmpty, root.hasObjects, findings.expired.isExpired(at: address, memory) {
      return false
    }
    return findings.settled.isEmpty || !isUncounted(root, to: block, findings.settled)
  }

  /// Calls `body` for each word of a block that points to a block.
  ///
  /// What stands behind the text of a short string is doubtful. Left out is what does not hold: what was in the buffer
  /// of a stream, or a table of code, before, what a Swift side table
  /// says of its object, what libdispatch has
  /// left of work that is done, what frames of async functions know of those of others, what stands in buckets of Swift's
  /// tables and parts of its deques and trees that are not in use, in storage of containers of C++ where they have no
  /// elements, on stacks of signal handlers that have returned, objects in metadata of types, what only identifies objects, `unowned`
  /// references to objects that live, and of `std::weak_ptr` to those that are gone.
  /// One that has been taken down stays allocated for these. Left out is most of what leads to blocks that are not wanted.
  @inline(__always)
  func forEachEdge(
    of block: Int, where isWanted: (_ block: Int) -> Bool = { _ in true },
    _ body: (_ offset: UInt64, _ target: Target) -> Void
  ) {
    if !tables.pointerlessBlocks.isEmpty, tables.pointerlessBlocks.contains(block) { return }
    if !findings.expired.isEmpty, findings.expired.isHollow(block) { return }
    let start = blocks.address(of: block)
    let layout = layout(of: block)
    let table = table(in: block, layout)
    let parts = usedParts(of: block, layout)
    let dead = tables.deadOnSignalStacks.isEmpty ? nil : tables.deadOnSignalStacks[block]
    let elements = elements(of: block, start)
    let isSideTable = tables.sideTables.contains(block)
    var string = ShortString()
    forEachOwnWord(of: block, start..<end(of: block, layout)) { address, value in
      let isText = string.hasText(at: address, value, memory)
      guard var target = named(at: address, by: value, where: isWanted) else { return }
      if target.edgeClass != .start, isOtherFrame(target, of: block) { return }
      if isSideTable, tables.sideTables.isIdle(address, of: block, value, target) { return }
      if let elements, !elements.contains(address) { return }
      if !findings.expired.isEmpty, findings.expired.isExpired(at: address, memory) { return }
      if isLeftOver(address, of: block, start, table, parts, dead) { return }
      if let table, layout?.isIdentifierInKey(at: address, table) == true { return }
      if let layout, layout.hasObjectsAsElements,
        !isObject(value, target, at: address &- start, layout)
      {
        return
      }
      if let actor = layout?.actorOffset, isLeftInActor(address &- start &- actor, value) { return }
      if let layout,
        !layout.holds(at: address, in: block, table, target.block, heap, tables.existentials)
      {
        return
      }
      if !findings.settled.isEmpty,
        isUncounted(address &- start, of: block, to: target.block, findings.settled)
      {
        return
      }
      if !findings.metadata.isEmpty, isLeft(in: block, target.block, by: findings.metadata) {
        return
      }
      if target.edgeClass != .start,
        holdsAttributes(at: address &- start, of: block)
          || holdsMessage(at: address &- start, of: block, value, target)
          || isElementLink(at: address &- start, of: block, to: value, target.block)
          || isTaggedLink(value, of: block, to: target)
          || InteriorPointers.isCountedText(
            value, in: blocks.address(of: target.block), from: address, inBlockAt: start, memory)
          || isAbseilTable(value, from: address, to: target.block)
      {
        target.edgeClass = .start
      }
      if target.edgeClass == .start, isText || layout?.hasSmallElements == true {
        target.edgeClass = .tagged
      }
      body(address &- start, target)
    }
  }

  /// Whether a word of an array of objects can be one of them: the others were there before the elements.
  private func isObject(
    _ value: UInt64, _ target: Target, at offset: UInt64, _ layout: ObjectLayout
  ) -> Bool {
    offset < layout.elementsStart
      || value & Self.addressMask == blocks.address(of: target.block)
  }

  /// Calls `body` for each word of a block that points to no block, but for those that are known to be left over,
  /// to be numbers, or only to identify something, such as the object that a side table was made for.
  func forEachOtherWord(of block: Int, _ body: (_ offset: UInt64, _ value: UInt64) -> Void) {
    if tables.pointerlessBlocks.contains(block) || tables.sideTables.contains(block) { return }
    if findings.expired.isHollow(block) { return }
    let start = blocks.address(of: block)
    let layout = layout(of: block)
    // Its properties have been given up, and nobody reads them.
    if layout?.isInstance == true, SwiftObjects.isTakenDown(at: start, memory) { return }
    let table = table(in: block, layout)
    let parts = usedParts(of: block, layout)
    let dead = tables.deadOnSignalStacks[block]
    let elements = elements(of: block, start)
    var string = ShortString()
    forEachOwnWord(of: block, start..<end(of: block, layout)) { address, value in
      let offset = address &- start
      guard !string.hasText(at: address, value, memory), named(at: address, by: value) == nil,
        elements?.contains(address) != false,
        !isLeftOver(address, of: block, start, table, parts, dead),
        layout?.mayPoint(at: address, in: block, table, heap, tables.existentials) != false,
        offset != DispatchCaches.key || !tables.queueSpecifics.contains(block),
        // Work that belonged to a group would have kept it.
        offset != DispatchCaches.owner || tables.plainRecords?[block] != true
      else { return }
      body(offset, value)
    }
  }

  /// Visits the words of a part of a block, but for those in announced blocks that lie in it.
  @inline(__always)
  private func forEachOwnWord(
    of block: Int, _ range: Range<UInt64>, _ body: (_ address: UInt64, _ value: UInt64) -> Void
  ) {
    guard blocks.holdsAnnounced(block) else { return memory.forEachWord(in: range, body) }
    blocks.forEachPart(of: range, in: block) { memory.forEachWord(in: $0, body) }
  }

  /// The addresses between which the elements of a container of C++ are; nil where all of the block may hold some.
  @inline(__always)
  private func elements(of block: Int, _ start: UInt64) -> Range<UInt64>? {
    if findings.freeElements.isEmpty { return nil }
    return findings.freeElements.elements(of: block).map {
      start &+ $0.lowerBound..<start &+ $0.upperBound
    }
  }

  /// The dictionary or set of Swift in a block.
  @inline(__always)
  func table(in block: Int, _ layout: ObjectLayout?) -> SwiftTable? {
    layout?.table.flatMap { form in
      SwiftTable(form, at: blocks.address(of: block), size: blocks.size(of: block), memory)
    }
  }

  /// Whether nothing reads a word of a block again: what libdispatch has left of work that is done, what stands
  /// in buckets of Swift's tables and parts of its deques and trees that are not in use, between the header of a task's slab and what is in use of
  /// it, and on stacks of signal handlers that have returned.
  @inline(__always)
  private func isLeftOver(
    _ address: UInt64, of block: Int, _ start: UInt64, _ table: SwiftTable?,
    _ parts: UsedElements?, _ dead: [Range<UInt64>]?
  ) -> Bool {
    if let dead, dead.contains(where: { $0.contains(address) }) { return true }
    if let idleRecords = tables.idleRecords, idleRecords[block],
      address &- start != DispatchCaches.next
    {
      return true
    }
    if let handlers = tables.handlers, handlers[block], address &- start == DispatchCaches.next {
      return true
    }
    if let plainRecords = tables.plainRecords, plainRecords[block],
      address &- start == DispatchCaches.passedOn
    {
      return true
    }
    if let table, !table.isInUse(address, memory) { return true }
    if let parts, parts.isFree(address &- start) { return true }
    return address &- start == SnapshotMemory.gapInTaskSlab
      && memory.usedSizeOfTaskSlab(at: start, size: blocks.size(of: block)) != nil
  }

  /// One past the last byte of a block that its program may use when it asks how many there are.
  ///
  /// Right behind it stands how large the next block is. Where a pointer is there instead, glibc had 16 bytes more,
  /// which would not have made a block.
  private func usableEnd(of block: Int) -> UInt64 {
    let end = blocks.usableEnd(of: block)
    let word = memory.word(at: end) & Self.addressMask
    guard word != 0, memory.isMapped(word) else { return end }
    return blocks.usableEnd(of: block, hasLeftover: true)
  }

  /// Whether a word of a block is where a Python object names its attributes, by an address inside of
  /// their block.
  @inline(never)
  private func holdsAttributes(at offset: UInt64, of block: Int) -> Bool {
    guard offset < 16, !memory.pythonClasses.isEmpty else { return false }
    let object = memory.pythonObject(
      inBlockAt: blocks.address(of: block), size: blocks.size(of: block))
    return object?.offset == 32
  }

  /// Whether a word of a block is where an exception of libstdc++ has its message, behind three words that count its
  /// characters and who shares them.
  @inline(never)
  private func holdsMessage(
    at offset: UInt64, of block: Int, _ value: UInt64, _ target: Target
  ) -> Bool {
    guard offset == InteriorPointers.exceptionOffset + 8,
      value &- blocks.address(of: target.block) == 24,
      blocks.site(of: target.block).operation.family == .new
    else { return false }
    let start = blocks.address(of: block)
    let object = InteriorPointers.exceptionOffset
    return InteriorPointers.isVirtualTable(memory.word(at: start &+ object), memory)
      && InteriorPointers.isException(
        at: object, ofBlockAt: start, size: blocks.size(of: block), memory)
  }

  /// Whether a pointer in a block to the block itself holds it: in an object of Swift, where a `std::shared_ptr`
  /// lies that names an object and the counts in front of it, and in values of Rust that share themselves.
  ///
  /// Elsewhere it is a list that is empty, a short string, or a buffer in the object.
  @inline(never)
  func holdsItself(_ block: Int, at offset: UInt64) -> Bool {
    let start = blocks.address(of: block)
    if isInstance(block) || hasSwiftCounts(block) || findings.selfOwners.contains(block) {
      return true
    }
    guard offset >= 24, memory.word(at: start &+ offset) == start,
      InteriorPointers.isVirtualTable(memory.word(at: start), memory)
    else { return false }
    let object = memory.word(at: start &+ offset &- 8)
    return object >= start &+ 16 && object < blocks.end(of: block)
  }

  /// Whether a block begins as an object of Swift does, with counts in its second word; elsewhere than in a process
  /// with the Swift runtime that is any odd number.
  func hasSwiftCounts(_ block: Int) -> Bool {
    heap.hasSwift && ObjectCounts(at: blocks.address(of: block), in: memory) != nil
  }

  /// What is known of what lies in a block.
  @inline(__always)
  func layout(of block: Int) -> ObjectLayout? {
    guard !tables.layouts.isEmpty else { return nil }
    let address = blocks.address(of: block)
    return tables.layouts[memory.word(at: address)]?.layout(ofBlockAt: address, memory)
  }

  /// Whether anything is known of objects of Swift.
  var knowsObjects: Bool { !tables.layouts.isEmpty }

  /// Whether types are known to whose objects elements may be added.
  var hasGrowing: Bool { tables.layouts.values.contains { $0.isArray || $0.isTreeNode } }

  /// Whether instances of classes are known.
  var hasInstances: Bool { tables.layouts.values.contains(where: \.isInstance) }

  /// Whether an instance of a class lies in a block.
  func isInstance(_ block: Int) -> Bool {
    layout(of: block)?.isInstance == true
  }

  /// Whether elements may be added to what lies in a block.
  func mayGrow(_ block: Int) -> Bool {
    layout(of: block).map { $0.isArray || $0.isTreeNode } ?? false
  }

  /// Whether a block holds the elements of an array or a deque of Swift.
  func isArray(_ block: Int) -> Bool {
    layout(of: block)?.isArray == true
  }

  /// Where the elements of an array or a deque of Swift are that are in use; nil for what is none, and where nothing
  /// tells.
  func usedElements(of block: Int) -> UsedElements? {
    layout(of: block).flatMap { usedElements(of: block, $0) }
  }

  /// Whether all of a word of an array of Swift is an element that is in use.
  func isWholeElement(at offset: UInt64, of block: Int) -> Bool {
    guard layout(of: block)?.elementStride == ObjectLayout.addressSize else { return false }
    return usedElements(of: block)?.contains(offset) ?? false
  }

  private func usedElements(of block: Int, _ layout: ObjectLayout) -> UsedElements? {
    guard layout.isArray, !findings.growingArrays.contains(block) else { return nil }
    let start = blocks.address(of: block)
    let elements =
      layout.isDeque
      ? usedSlots(of: block, layout)
      : SwiftArray(at: start, memory)?.elements(stride: layout.elementStride)
    return elements.flatMap { start &+ $0.end <= usableEnd(of: block) ? $0 : nil }
  }

  /// The elements in use of a deque, which need not begin where its slots do, or of a node of a tree.
  @inline(__always)
  private func usedParts(of block: Int, _ layout: ObjectLayout?) -> UsedElements? {
    guard let layout, layout.isDeque || layout.isTreeNode else { return nil }
    return layout.isDeque ? usedElements(of: block, layout) : usedPartsOfNode(block)
  }

  private func usedPartsOfNode(_ block: Int) -> UsedElements? {
    guard !findings.growingArrays.contains(block) else { return nil }
    let start = blocks.address(of: block)
    return SwiftTreeNode(at: start, memory.word)?.used(upTo: usableEnd(of: block) &- start)
  }

  /// Where the elements of a deque are that are in use.
  private func usedSlots(of block: Int, _ layout: ObjectLayout) -> UsedElements? {
    guard let stride = layout.elementStride else { return nil }
    return SwiftDeque(at: blocks.address(of: block), memory.word)?
      .elements(start: layout.elementsStart, stride: stride, size: blocks.size(of: block))
  }

  /// One past the last byte of a block that is looked at.
  ///
  /// The slack that the allocator added is used by programs that ask for its size, as arrays of
  /// Swift do. Elsewhere it holds what was left of earlier blocks, as the part of a slab does that
  /// its task does not use any more.
  @inline(__always)
  private func end(of block: Int, _ layout: ObjectLayout?) -> UInt64 {
    let size = blocks.size(of: block)
    let start = blocks.address(of: block)
    if let used = memory.usedSizeOfTaskSlab(at: start, size: size) { return start &+ used }
    var isExact = tables.isExact[blocks.siteIndex(of: block)]
    if let known = layout?.size {
      isExact = size <= known
    } else if !isExact, heap.slack == .ofObjects {
      isExact = size < SwiftObjects.leastSize || !SwiftObjects.isObject(at: start, memory)
    }
    let usedEnd = layout.flatMap { usedElements(of: block, $0) }.map { start &+ $0.end }
    guard isExact else {
      let end = min(usableEnd(of: block), usedEnd ?? .max)
      return layout?.end(ofBlockAt: start, usedTo: end) ?? end
    }
    // A pointer lies in the block with all of its bytes.
    return min(blocks.end(of: block), start &+ (size & ~7), usedEnd ?? .max)
  }
}
