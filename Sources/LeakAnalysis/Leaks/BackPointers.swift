import TraceReader

/// Pointers that lead back to what holds the block which they lie in, where nothing counts references.
///
/// ```
/// parent --> storage --> child --> parent
/// ```
/// A pointer of C or C++ does not tell whether it owns. That of a field by which several blocks lead to the same one
/// does not, as the `parent` of nodes. Of two fields by which two blocks lead to each other, as `next` and `previous`,
/// one does not; nor does what leads from an element to the object whose container holds it. Blocks that hang
/// together in a ring by nothing but these do not keep each other, and one of them is the leak. Nor does the parent of
/// an object of Qt own. Of values of `Rc` and
/// `Arc` in Rust, which count their references, only a `Weak` is such a pointer.
struct BackPointers {
  /// Of each component that is no cycle without such pointers the oldest node that nothing else holds.
  private(set) var heads: Set<Int> = []

  /// - Parameters:
  ///   - graph: The leaked blocks.
  ///   - numbers: The components of the graph.
  ///   - cycles: The nodes of cycles that nothing outside points to.
  ///   - counted: Nodes that count their references; their components are left alone, as are those with objects of
  ///     Swift, Python and GObject.
  ///   - scanner: Finds the pointers.
  ///   - facts: What is known of the stacks that allocated the blocks.
  /// - Complexity: O(*words*) in the blocks of the cycles.
  init(
    _ graph: borrowing LeakGraph, _ numbers: borrowing Components, in cycles: Bits,
    counted: Set<Int>, _ scanner: EdgeScanner, _ facts: StackFacts
  ) {
    var candidates = Set<Int>()
    for node in 0..<graph.count where cycles[node] {
      candidates.insert(numbers.component(of: node))
    }
    for node in counted { candidates.remove(numbers.component(of: node)) }
    var countedByFacts = Set<Int>()
    for node in 0..<graph.count where cycles[node] {
      let component = numbers.component(of: node)
      guard candidates.contains(component) || countedByFacts.contains(component) else { continue }
      let block = Int(graph.blocks[node])
      if scanner.countsReferences(block) {
        candidates.remove(component)
        countedByFacts.remove(component)
      } else if facts.countsReferences(scanner.heap.blocks.site(of: block).stack) {
        candidates.remove(component)
        countedByFacts.insert(component)
      }
    }
    let known = scanner.heap.blocks
    if !candidates.isEmpty {
      var fields = CycleFields(graph, numbers, candidates, scanner) {
        scanner.isParentOfQt(at: $0, of: $1)
      }
      fields.dropSharedFields()
      fields.dropMutualFields(scanner, facts)
      heads = fields.headsWithoutCycle(known)
    }
    if !countedByFacts.isEmpty {
      let fields = CycleFields(graph, numbers, countedByFacts, scanner) {
        facts.isWeak($0, $1, scanner.heap)
      }
      heads.formUnion(fields.headsWithoutCycle(known))
    }
  }
}

extension EdgeScanner {
  /// Whether an object that counts its references lies in a block, but for those of `std::shared_ptr`.
  fileprivate func countsReferences(_ block: Int) -> Bool {
    if isInstance(block) { return true }
    let (start, memory) = (heap.blocks.address(of: block), heap.memory)
    if hasSwiftCounts(block), !isOfCxx(memory.word(at: start)) { return true }
    return memory.gobjectClass(ofBlockAt: start, size: heap.blocks.size(of: block)) != nil
      || memory.pythonObject(inBlockAt: start, size: heap.blocks.size(of: block)) != nil
  }

  /// Whether a word leads to a table of virtual functions of C++, known by the type information in front of it.
  private func isOfCxx(_ table: UInt64) -> Bool {
    let information = heap.memory.word(at: table &- 8)
    return InteriorPointers.isVirtualTable(information, heap.memory)
      && heap.memory.region(containing: heap.memory.word(at: information))?.kind == .image
  }
}
