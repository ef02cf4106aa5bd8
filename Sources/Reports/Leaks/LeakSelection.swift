import LeakAnalysis
import TraceReader

/// Which of the leaked blocks a report counts.
struct LeakSelection {
  /// For each node whether it is counted.
  let isCounted: [Bool]
  /// The roots of trees with a counted block, the oldest first.
  let roots: [Int]
  /// Leaked blocks under each built-in rule, by ascending address, whether they are counted or not.
  let systemBlocks: [(rule: SystemLeaks.Rule, blocks: [Int])]
  /// The blocks that only doubtful pointers lead to, by ascending address; without the system's
  /// unless these are asked for.
  private(set) var possible: [Int] = []
  /// All of these, whatever the filter says.
  private(set) var possibleSum = BlockSum()

  /// Picks the leaked blocks that a query asks for.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing in the trace.
  init(
    _ analysis: LeakAnalysis, _ source: ReportSource, _ types: any TypeNaming, _ query: LeaksQuery
  ) throws {
    let (leaks, heap) = (analysis.leaks, analysis.heap)
    var filter = BlockFilter(query, heap: heap, source: source, types: types)
    try filter.prepare()
    var rules = SystemRules(heap, source)
    for root in leaks.roots { rules.addRoot(leaks.block(of: root)) }
    var counted = Array(repeating: false, count: leaks.count)
    var hasCounted = counted
    for node in 0..<leaks.count {
      let (block, root) = (leaks.block(of: node), leaks.root(of: node))
      if query.onlyCycles, leaks.role(of: root) != .rootCycle { continue }
      let isSystem = rules.take(block, root: leaks.block(of: root))
      guard query.includesSystem || !isSystem, filter.passes(block) else { continue }
      counted[node] = true
      hasCounted[root] = true
    }
    isCounted = counted
    systemBlocks = rules.found
    roots = leaks.roots.filter { hasCounted[$0] }
    for block in 0..<heap.blocks.count where analysis.reachability.state(of: block) == .possible {
      let isSystem = rules.rule(of: block) != nil
      guard query.includesSystem || !isSystem else { continue }
      possibleSum.add(heap.blocks.sizes[block])
      if !query.onlyCycles, filter.passes(block) { possible.append(block) }
    }
  }
}

/// Sorts leaks by the built-in rule that leaves them out.
private struct SystemRules {
  private let heap: HeapImage
  private let source: ReportSource
  private var known: [StackID: SystemLeaks.Rule?] = [:]
  private var rulesOfRoots: [Int: SystemLeaks.Rule] = [:]
  private(set) var found: [(rule: SystemLeaks.Rule, blocks: [Int])] = []

  init(_ heap: HeapImage, _ source: ReportSource) {
    self.heap = heap
    self.source = source
  }

  /// The rule that a block falls under by itself.
  mutating func rule(of block: Int) -> SystemLeaks.Rule? {
    let site = heap.blocks.site(of: block)
    if site.thread == .recorder { return SystemLeaks.recorder }
    if let rule = known[site.stack] { return rule }
    let rule = SystemLeaks.rule(for: source.names.frames(of: site.stack))
    known[site.stack] = .some(rule)
    return rule
  }

  /// Looks for the rule of a root; what it drags along shares it.
  mutating func addRoot(_ block: Int) {
    if let rule = rule(of: block) { rulesOfRoots[block] = rule }
  }

  /// Takes a block in under the rule of its root.
  ///
  /// - Returns: Whether there is one.
  mutating func take(_ block: Int, root: Int) -> Bool {
    guard let rule = rulesOfRoots[root] else { return false }
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

  init(_ query: LeaksQuery, heap: HeapImage, source: ReportSource, types: any TypeNaming) {
    self.query = query
    self.heap = heap
    self.source = source
    self.types = types
  }

  /// Looks up the sites that pass by name.
  ///
  /// - Throws: ``ReportError`` when a name fits nothing in the trace, with the nearest names.
  mutating func prepare() throws {
    var filter = query.filter
    filter.category = nil
    filter.lifespan = .all
    guard filter != SiteFilter() else { return }
    var passing = Array(repeating: false, count: heap.blocks.sites.count)
    for index in try filter.indices(in: heap.blocks.sites, source: source) {
      passing[index] = true
    }
    sites = passing
  }

  func passes(_ block: Int) -> Bool {
    let blocks = heap.blocks
    if let sites, !sites[Int(blocks.siteIndices[block])] { return false }
    if let sizes = query.sizes, !sizes.bytes.contains(blocks.sizes[block]) { return false }
    if let from = query.fromNanoseconds, source.clock.nanoseconds(blocks.times[block]) < from {
      return false
    }
    guard let wanted = query.filter.category else { return true }
    // As the table calls it, or as `--group-by type` and the other reports do.
    return Glob.matches(types.category(of: block, in: heap).name, wanted)
      || Glob.matches(types.detailedCategory(of: block, in: heap).name, wanted)
      || Glob.matches(source.categories.category(of: blocks.site(of: block)).name, wanted)
  }
}

/// A number of blocks and their bytes.
public struct BlockSum: Sendable, Hashable, Encodable {
  /// How many blocks.
  public var count: UInt64 = 0
  /// Their requested bytes.
  public var bytes: UInt64 = 0

  /// Makes an empty sum.
  public init() {}

  mutating func add(_ size: UInt64) {
    count &+= 1
    bytes &+= size
  }

  mutating func add(_ other: BlockSum) {
    count &+= other.count
    bytes &+= other.bytes
  }
}
