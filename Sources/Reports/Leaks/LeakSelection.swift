import LeakAnalysis
import TraceReader

/// Which of the leaked blocks a report counts.
struct LeakSelection {
  /// For each node whether it is counted.
  let isCounted: [Bool]
  /// The roots of trees with a counted block, the oldest first.
  let roots: [Int]
  /// Blocks that are left out because they are the system's or the recorder's own.
  private(set) var system = BlockSum()

  /// Picks the leaked blocks that a query asks for.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing in the trace.
  init(
    _ analysis: LeakAnalysis, _ source: ReportSource, _ types: any TypeNaming, _ query: LeaksQuery
  ) throws {
    let (leaks, heap) = (analysis.leaks, analysis.heap)
    var filter = BlockFilter(query, heap: heap, source: source, types: types)
    try filter.prepare()
    var isSystem = Array(repeating: false, count: leaks.count)
    var known: [StackID: Bool] = [:]
    for root in leaks.roots {
      let site = heap.blocks.site(of: leaks.block(of: root))
      isSystem[root] = Self.isSystem(site, source, &known)
    }
    var counted = Array(repeating: false, count: leaks.count)
    var hasCounted = counted
    for node in 0..<leaks.count {
      let (block, root) = (leaks.block(of: node), leaks.root(of: node))
      if query.onlyCycles, leaks.role(of: root) != .rootCycle { continue }
      guard query.includesSystem || !isSystem[root] else {
        system.add(heap.blocks.sizes[block])
        continue
      }
      guard filter.passes(block) else { continue }
      counted[node] = true
      hasCounted[root] = true
    }
    isCounted = counted
    roots = leaks.roots.filter { hasCounted[$0] }
  }

  private static func isSystem(
    _ site: Site, _ source: ReportSource, _ known: inout [StackID: Bool]
  ) -> Bool {
    if site.thread == .recorder { return true }
    if let answer = known[site.stack] { return answer }
    let answer = SystemLeaks.covers(source.names.frames(of: site.stack))
    known[site.stack] = answer
    return answer
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
}
