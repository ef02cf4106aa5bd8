import TraceReader

/// Which blocks of a heap can be reached, and how the others hang together.
public struct LeakAnalysis: Sendable {
  /// The heap that was analysed.
  public let heap: HeapImage
  /// Which blocks can be reached and what holds them.
  public let reachability: Reachability
  /// The blocks that cannot be reached.
  public let leaks: LeakForest
  /// What was followed, in this order.
  let roots: [Root]
  /// Finds the pointers.
  let scanner: EdgeScanner

  /// Follows all pointers of a heap.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - layouts: What is known of objects, by their first words.
  ///   - sharedCounts: What counts for objects of `std::shared_ptr`, by its first word.
  ///   - facts: What is known of the stacks that allocated the blocks.
  ///   - valueSize: How many bytes a value of Swift takes, by the address of its type's value witnesses;
  ///     nil where that is not known.
  ///   - variable: What the type of a variable tells of its word at an address.
  /// - Complexity: O(*words* + *blocks* · log *blocks*) time; with the heap itself about 64 bytes per block, besides
  ///   8 to 12 per word.
  public init(
    _ heap: HeapImage, layouts: [UInt64: ObjectLayout] = [:],
    sharedCounts: [UInt64: SharedCounts] = [:],
    facts: StackFacts = StackFacts(), valueSize: (UInt64) -> UInt64? = { _ in nil },
    variable: (UInt64) -> VariableWord = { _ in VariableWord() }
  ) {
    self.heap = heap
    roots = RootSet(heap).roots
    let tables = EdgeTables(heap, layouts: layouts, facts: facts, valueSize: valueSize)
    let growing = GrowingArrays(EdgeScanner(heap, tables), roots)
    let known = EdgeFindings(
      growingArrays: growing, freeElements: FreeElements(heap, roots, facts),
      expired: ExpiredCounts(heap, roots, sharedCounts))
    var search = Search(EdgeScanner(heap, tables), roots, known)
    search.findings.rustInteriors = RustInteriors(heap, search.reachability, facts)
    if !search.findings.rustInteriors.isEmpty { search.repeat() }
    search.findings.arrayParts = ArrayParts(heap, search.reachability, facts)
    if !search.findings.arrayParts.isEmpty { search.repeat() }
    search.findings.headerBlocks = HeaderBlocks(search.scanner, search.reachability, roots, facts)
    if !search.findings.headerBlocks.isEmpty { search.repeat() }
    search.findCellBlocks(facts)
    search.findings.metadata = TypeMetadata(search.scanner, search.reachability, facts)
    if !search.findings.metadata.isEmpty { search.repeat() }
    search.findings.identifiers = IdentifyingVariables(
      search.scanner, roots, variable: variable, valueSize: valueSize)
    if !search.findings.identifiers.isEmpty { search.repeat() }
    search.findings.settled = SettledObjects(search.scanner, search.reachability)
    if !search.findings.settled.isEmpty { search.repeat() }
    search.findings.settled.addLeaked(search.scanner, search.reachability)
    search.findings.selfOwners = SelfOwners.blocks(heap, search.reachability, facts)
    search.findings.unusedWords = UnusedWords(search.scanner, search.reachability, facts)
    scanner = search.scanner.with(search.findings)
    leaks = LeakForest(scanner, facts, &search.reachability)
    reachability = search.reachability
  }

  /// The possible leaks that pointers to beginnings lead to from some leaked blocks, directly or not.
  ///
  /// - Parameter leaked: The leaked blocks.
  /// - Returns: The positions of the possible leaks.
  /// - Complexity: O(*words* of these and of what they lead to).
  public func possibleLeaks(heldBy leaked: some Sequence<UInt32>) -> Set<UInt32> {
    var found: Set<UInt32> = []
    var next = Array(leaked)
    while let block = next.popLast() {
      scanner.forEachEdge(of: Int(block)) { _, target in
        let held = UInt32(truncatingIfNeeded: target.block)
        guard target.edgeClass == .start, reachability.state(of: target.block) == .possible,
          found.insert(held).inserted
        else { return }
        next.append(held)
      }
    }
    return found
  }
}

/// A search for what can be reached, which is repeated when its result tells more of what pointers hold.
private struct Search {
  private(set) var scanner: EdgeScanner
  private let roots: [Root]
  var findings: EdgeFindings
  var reachability: Reachability

  /// Chunks of pools that hold each other's cells are rarely longer chains.
  private static let greatestRounds = 8

  init(_ scanner: EdgeScanner, _ roots: [Root], _ findings: EdgeFindings) {
    (self.scanner, self.roots, self.findings) = (scanner.with(findings), roots, findings)
    reachability = Self.reachability(self.scanner, roots)
  }

  /// Looks for blocks that are handed out in cells: those that are reached by their cells may lead to more of them.
  mutating func findCellBlocks(_ facts: StackFacts) {
    for _ in 0..<Self.greatestRounds {
      let found = CellBlocks(scanner, reachability, roots, facts)
      guard findings.cellBlocks.add(found) else { return }
      `repeat`()
    }
  }

  /// Searches anew with what was found.
  mutating func `repeat`() {
    scanner = scanner.with(findings)
    reachability = Self.reachability(scanner, roots)
  }

  /// What the search needs beside its result is gone afterwards.
  private static func reachability(_ scanner: EdgeScanner, _ roots: [Root]) -> Reachability {
    var marker = Marker(scanner, roots: roots)
    marker.mark()
    return marker.result
  }
}
