import LeakAnalysis
import TraceReader

/// Which of the leaked blocks a report counts.
struct LeakSelection {
  /// For each node whether it is counted.
  let isCounted: Bits
  /// For each node whether it is counted and new; nil when the trace is compared with none.
  let isNew: Bits?
  /// The roots of trees with a counted block, or with a new one.
  let isShownRoot: Bits
  /// Leaked blocks under each built-in rule, by ascending address, whether they are counted or not.
  let systemBlocks: [(rule: SystemLeaks.Rule, blocks: [UInt32])]
  /// The blocks that only doubtful pointers lead to, by ascending address; without the system's
  /// unless these are asked for.
  private(set) var possible: [UInt32] = []
  /// All of these, whatever the filter says.
  private(set) var possibleSum = BlockSum()

  /// Picks the leaked blocks that a query asks for.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing in the trace.
  init(
    _ analysis: LeakAnalysis, _ source: ReportSource, _ types: any TypeNaming, _ query: LeaksQuery,
    baseline: LeakBaseline? = nil
  ) throws {
    let (leaks, heap) = (analysis.leaks, analysis.heap)
    var filter = BlockFilter(query, heap: heap, source: source, types: types)
    try filter.prepare()
    var rules = SystemRules(heap, source)
    var counted = Bits(count: leaks.count)
    for node in 0..<leaks.count {
      let (block, root) = (leaks.block(of: node), leaks.root(of: node))
      if query.onlyCycles, leaks.role(of: root) != .rootCycle { continue }
      let isSystem = rules.take(block, root: leaks.block(of: root))
      guard query.includesSystem || !isSystem, filter.passes(block) else { continue }
      counted[node] = true
    }
    isCounted = counted
    systemBlocks = rules.found
    isNew = baseline?.new(counted, of: analysis, source, types)
    isShownRoot = Self.roots(leaks, of: isNew ?? counted)
    let heldBySystem =
      query.includesSystem ? [] : analysis.possibleLeaks(heldBy: rules.foundForGood)
    for block in 0..<heap.blocks.count where analysis.reachability.state(of: block) == .possible {
      let isSystem =
        rules.rule(of: block) != nil || heldBySystem.contains(UInt32(truncatingIfNeeded: block))
      guard query.includesSystem || !isSystem else { continue }
      possibleSum.add(heap.blocks.ownBytes(of: block))
      if !query.onlyCycles, filter.passes(block) {
        possible.append(UInt32(truncatingIfNeeded: block))
      }
    }
  }

  private static func roots(_ leaks: LeakForest, of isShown: Bits) -> Bits {
    var roots = Bits(count: leaks.count)
    for node in 0..<leaks.count where isShown[node] { roots[leaks.root(of: node)] = true }
    return roots
  }
}

/// Sorts leaks by the built-in rule that leaves them out.
private struct SystemRules {
  private let heap: HeapImage
  private let source: ReportSource
  private var known: [StackID: SystemLeaks.Rule?] = [:]
  private(set) var found: [(rule: SystemLeaks.Rule, blocks: [UInt32])] = []

  init(_ heap: HeapImage, _ source: ReportSource) {
    self.heap = heap
    self.source = source
  }

  /// The blocks that were taken in, but for those that may have been freed.
  var foundForGood: [UInt32] {
    found.filter { $0.rule != SystemLeaks.perhapsFreed }.flatMap(\.blocks)
  }

  /// The rule that a block falls under by itself.
  mutating func rule(of block: Int) -> SystemLeaks.Rule? {
    if let lost = heap.coverage.lostTimes,
      lost.reach(from: heap.blocks.time(of: block), to: heap.info.time)
    {
      return SystemLeaks.perhapsFreed
    }
    let site = heap.blocks.site(of: block)
    if site.thread == .recorder { return SystemLeaks.recorder }
    guard let rule = rule(of: site.stack), heap.blocks.size(of: block) % rule.sizeUnit == 0
    else { return nil }
    return rule
  }

  private mutating func rule(of stack: StackID) -> SystemLeaks.Rule? {
    if let rule = known[stack] { return rule }
    let rule = SystemLeaks.rule(for: source.names.innermostFrames(of: stack))
    known[stack] = .some(rule)
    return rule
  }

  /// What is known of a block is known of it alone, what it is for of its root.
  private mutating func rule(of block: Int, root: Int) -> SystemLeaks.Rule? {
    let own = rule(of: block)
    if own == SystemLeaks.perhapsFreed { return own }
    let rule = rule(of: root)
    return rule == SystemLeaks.perhapsFreed ? own : rule
  }

  /// Takes a block in under the rule of its root, which it shares.
  ///
  /// - Returns: Whether there is one.
  mutating func take(_ block: Int, root: Int) -> Bool {
    guard let rule = rule(of: block, root: root) else { return false }
    let block = UInt32(truncatingIfNeeded: block)
    if let position = found.firstIndex(where: { $0.rule == rule }) {
      found[position].blocks.append(block)
    } else {
      found.append((rule, [block]))
    }
    return true
  }
}

/// The filters of a query, applied to single blocks.
struct BlockFilter {
  private let query: LeaksQuery
  private let heap: HeapImage
  private let source: ReportSource
  private let types: any TypeNaming
  private var sites: [Bool]?
  /// The names of categories that pass; nil for all.
  private var categories: Set<String>?

  init(_ query: LeaksQuery, heap: HeapImage, source: ReportSource, types: any TypeNaming) {
    self.query = query
    self.heap = heap
    self.source = source
    self.types = types
  }

  /// Looks up the sites and the categories that pass by name.
  ///
  /// - Throws: ``ReportError`` when a name fits nothing in the trace, with the nearest names.
  mutating func prepare() throws {
    if let pattern = query.filter.category { categories = try categories(matching: pattern) }
    var filter = query.filter
    filter.category = nil
    filter.lifespan = .all
    filter.scope = []
    filter.endNote = nil
    guard filter != SiteFilter() else { return }
    var passing = Array(repeating: false, count: heap.blocks.sites.count)
    for index in try filter.indices(in: heap.blocks.sites, source: source) {
      passing[index] = true
    }
    sites = passing
  }

  /// The categories of the heap's blocks, leaked or not, that have such a name.
  ///
  /// What was freed before the snapshot is in the trace, too: that nothing of it is leaked is an
  /// answer, not a mistyped name.
  private func categories(matching pattern: String) throws -> Set<String> {
    var names = Set(heap.blocks.sites.map { source.categories.category(of: $0).name })
    for block in 0..<heap.blocks.count { names.formUnion(self.names(of: block)) }
    let wanted = names.filter { Glob.matches($0, pattern) }
    if !wanted.isEmpty { return wanted }
    // These take longer: callers and source lines of everything that was ever allocated.
    names.formUnion(heap.blocks.sites.map { source.categories.detailedCategory(of: $0).name })
    if !names.contains(where: { Glob.matches($0, pattern) }) {
      throw ReportError.notFound(NearMatches.message("category", pattern, in: names.sorted()))
    }
    return []
  }

  /// What a block is called in the table, with `--group-by type`, and in other reports.
  private func names(of block: Int) -> [String] {
    [
      types.category(of: block, in: heap).name, types.detailedCategory(of: block, in: heap).name,
      source.categories.category(of: heap.blocks.site(of: block)).name,
    ]
  }

  func passes(_ block: Int) -> Bool {
    let blocks = heap.blocks
    if let sites, !sites[blocks.siteIndex(of: block)] { return false }
    if let sizes = query.sizes, !sizes.bytes.contains(blocks.size(of: block)) { return false }
    if let from = query.fromNanoseconds, source.clock.nanoseconds(blocks.time(of: block)) < from {
      return false
    }
    guard let categories else { return true }
    return names(of: block).contains(where: categories.contains)
  }
}

/// A number of blocks and their bytes.
public struct BlockSum: Sendable, Hashable, Encodable {
  /// How many blocks.
  public var count: UInt64
  /// Their requested bytes.
  public var bytes: UInt64

  /// Makes a sum; without arguments an empty one.
  public init(count: UInt64 = 0, bytes: UInt64 = 0) {
    self.count = count
    self.bytes = bytes
  }

  /// With the blocks of another sum.
  func adding(_ other: BlockSum) -> BlockSum {
    BlockSum(count: count &+ other.count, bytes: bytes &+ other.bytes)
  }

  mutating func add(_ size: UInt64) {
    count &+= 1
    bytes &+= size
  }

  mutating func add(_ other: BlockSum) {
    count &+= other.count
    bytes &+= other.bytes
  }
}
