import TraceReader

/// Objects of Swift all of whose counted references are known: what else leads to one does not hold it.
///
/// Of much that leads to an object no type tells whether it holds it. An `unowned` reference may be in an enum,
/// an `Any` or a generic structure; behind the last element of an array stands what `removeLast` took out, and so
/// it does in front of the first one of a deque. But the object counts who holds it. Where as many properties of
/// classes, values that closures capture, and keys and values of tables lead to it as it counts strong references,
/// no other word is one of these.
///
/// Only objects that are held by such other words in the end are looked at; the words must be in blocks whose
/// type is known, and be elements, or the object have `unowned` references. In tasks and their slabs they may be
/// anywhere: an async function that goes on leaves in its frame what it used, but what it uses it has retained, and a
/// task that is done keeps the word that led to what its closure had captured. So it is on
/// stacks and in registers, and in heap of which no block is known, where most words are of blocks that have been
/// freed. A variable that holds an object without a reference of its own is an `unowned` one; with
/// none of these left, as of C, it is believed.
///
/// Of what leaks the same is found out: such a word would draw an object into the tree of another leak.
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
    add(Self.doubted(scanner, reachability), scanner)
  }

  /// Adds those of the objects that leak to which words of others lead that may not hold them.
  ///
  /// - Parameters:
  ///   - scanner: Knows what the properties of classes are.
  ///   - reachability: What was reached in the end.
  /// - Complexity: O(*blocks*), and O(*words*) of those that leak and are known.
  mutating func addLeaked(_ scanner: EdgeScanner, _ reachability: Reachability) {
    guard scanner.knowsObjects else { return }
    add(Self.doubtedLeaks(scanner, reachability), scanner)
  }

  /// Adds those of some objects whose references are all known.
  private mutating func add(_ doubted: [Int: ObjectCounts], _ scanner: EdgeScanner) {
    guard !doubted.isEmpty else { return }
    var counted: [Int: UInt64] = [:]
    for block in 0..<scanner.heap.blocks.count {
      scanner.forEachCountedReference(of: block) { target in
        if doubted[target] != nil { counted[target, default: 0] += 1 }
      }
    }
    for (object, counts) in doubted where counted[object] == counts.strong {
      hasUnowned[object] = counts.unowned > 0
    }
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
    var tables = CountedInTables()
    for block in 0..<blocks.count {
      guard let holder = reachability.holder(of: block),
        let doubt = scanner.doubt(of: block, heldBy: holder),
        let counts = ObjectCounts(at: blocks.address(of: block), in: memory),
        counts.isHeld, doubt == .always || counts.unowned > 0,
        !tables.contains(block, heldBy: holder, scanner)
      else { continue }
      doubted[block] = counts
    }
    return doubted
  }

  /// The counts of the objects that leak and that such words lead to.
  private static func doubtedLeaks(
    _ scanner: EdgeScanner, _ reachability: Reachability
  ) -> [Int: ObjectCounts] {
    let (blocks, memory) = (scanner.heap.blocks, scanner.heap.memory)
    var doubted: [Int: ObjectCounts] = [:]
    for block in 0..<blocks.count where reachability.isUnreached(block) {
      guard scanner.isKnownObject(block) || scanner.hasAsyncFrames(block) else { continue }
      scanner.forEachEdge(of: block, where: reachability.isUnreached) { offset, target in
        let object = target.block
        guard object != block, doubted[object] == nil,
          let counts = ObjectCounts(at: blocks.address(of: object), in: memory), counts.isHeld,
          scanner.isDoubtful(offset, of: block, to: object, isUnowned: counts.unowned > 0)
        else { return }
        doubted[object] = counts
      }
    }
    return doubted
  }
}

extension ObjectCounts {
  /// Whether somebody holds the object, as far as it tells.
  fileprivate var isHeld: Bool { strong > 0 && !isTakenDown }
}

/// Which objects are counted by their holders' types; of a table or an array, which may hold many, all are found at
/// once.
private struct CountedInTables {
  private var targets: [Int: Set<Int>] = [:]

  mutating func contains(
    _ object: Int, heldBy holder: Reachability.Holder, _ scanner: EdgeScanner
  ) -> Bool {
    guard case .block(let block) = holder else { return false }
    guard let layout = scanner.layout(of: block), layout.table != nil || layout.isArray else {
      return Self.targets(of: block, scanner).contains(object)
    }
    if let known = targets[block] { return known.contains(object) }
    let found = Self.targets(of: block, scanner)
    targets[block] = found
    return found.contains(object)
  }

  private static func targets(of block: Int, _ scanner: EdgeScanner) -> Set<Int> {
    var found: Set<Int> = []
    scanner.forEachCountedReference(of: block) { found.insert($0) }
    return found
  }
}

/// When what leads to an object may do so without holding it.
private enum Doubt {
  case always, ofUnowned
}

extension Root {
  /// Whether words of the root that lead to objects of Swift may have been left there.
  fileprivate var doubt: Doubt? {
    switch category {
    case .stack, .registers, .unknownHeap: .always
    case .global, .threadLocal: .ofUnowned
    default: nil
    }
  }
}

extension EdgeScanner {
  /// When it is doubtful that what was found to hold an object does so; nil where it is believed.
  fileprivate func doubt(of object: Int, heldBy holder: Reachability.Holder) -> Doubt? {
    switch holder {
    case .root(let slot): isKnownObject(object) ? slot.root.doubt : nil
    case .block(let block):
      if isKnownObject(block) {
        hasElements(block) ? .always : .ofUnowned
      } else {
        hasAsyncFrames(block) && isKnownObject(object) ? .always : nil
      }
    }
  }

  /// Whether the frames of async functions of a task are in a block.
  func isTaskSlab(_ block: Int) -> Bool {
    let (blocks, memory) = (heap.blocks, heap.memory)
    return memory.usedSizeOfTaskSlab(at: blocks.address(of: block), size: blocks.size(of: block))
      != nil
  }

  /// Whether a task of Swift has its frames in a block, or what it began with: words stay there that mean nothing any
  /// more, as they do on a stack.
  func hasAsyncFrames(_ block: Int) -> Bool {
    layout(of: block)?.isTask == true || isTaskSlab(block)
  }

  /// Whether an object of a known type lies in a block which is no task: of those the runtime has references of its own.
  func isKnownObject(_ block: Int) -> Bool {
    layout(of: block).map { !$0.isTask } ?? false
  }

  /// Whether a block has elements behind its properties.
  func hasElements(_ block: Int) -> Bool {
    guard let layout = layout(of: block) else { return false }
    return layout.isElement(at: heap.blocks.size(of: block) &- 1)
  }

  /// Whether a word of a root does not hold the object that it points to, as other words are all that it counts.
  func isUncounted(_ root: Root, to target: Int, _ settled: SettledObjects) -> Bool {
    guard settled.contains(target), isKnownObject(target) else { return false }
    switch root.doubt {
    case .always: return true
    case .ofUnowned: return settled.containsUnowned(target)
    case nil: return false
    }
  }

  /// Whether a word of a block does not hold the object that it points to, for the same reason.
  func isUncounted(_ offset: UInt64, of block: Int, to target: Int, _ settled: SettledObjects)
    -> Bool
  {
    settled.contains(target)
      && isDoubtful(offset, of: block, to: target, isUnowned: settled.containsUnowned(target))
  }

  /// Whether no type tells that a word of a block holds the object that it points to.
  ///
  /// - Parameters:
  ///   - offset: The word.
  ///   - block: The block.
  ///   - target: The object.
  ///   - isUnowned: Whether the object has `unowned` references.
  /// - Returns: Whether none does.
  fileprivate func isDoubtful(
    _ offset: UInt64, of block: Int, to target: Int, isUnowned: Bool
  ) -> Bool {
    if hasAsyncFrames(block) { return isKnownObject(target) }
    guard let layout = layout(of: block), isUnowned || layout.isElement(at: offset) else {
      return false
    }
    return !layout.isCountedReference(
      offset, ofBlockAt: heap.blocks.address(of: block), size: heap.blocks.size(of: block),
      table(in: block, layout), usedElements(of: block), heap.memory)
  }
}
