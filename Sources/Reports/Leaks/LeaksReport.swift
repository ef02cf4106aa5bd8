import LeakAnalysis
import TraceReader

/// Blocks that nothing can reach any more: the table of leaked objects and the trees of what each
/// leak drags along.
public struct LeaksReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.leaks"

  /// Trees whose roots are alike.
  public struct TreeGroup: Sendable, Hashable, Encodable {
    /// What the roots are: `root-leak` or `root-cycle`.
    public var role: LeakTreeLine.Role
    /// The type of the roots, else function and caller; nil where nothing is known.
    public var name: String?
    /// How many trees.
    public var instances: UInt64
    /// Blocks in all of them.
    public var count: UInt64
    /// Their requested bytes.
    public var bytes: UInt64
    /// The ID of the stack that allocated the roots.
    public var stack: UInt32
    /// The stack, leaf first.
    public var frames: [ReportFrame]
    /// The first few trees, the oldest first, as lines.
    public var trees: [[LeakTreeLine]]
    /// When each root was allocated, where the query asks for it; not part of the document.
    public var rootTimes: [EventTime] = []

    enum CodingKeys: String, CodingKey {
      case role, name, instances, count, bytes, stack, frames, trees
    }
  }

  /// Blocks that one kind of root holds.
  public struct Reachable: Sendable, Hashable, Encodable {
    /// `variables`, `thread-local variables`, `mappings`, `unknown heap`, `stacks`, `registers`,
    /// `kernel`, `signal stacks`.
    public var root: String
    /// How many blocks, and their bytes.
    public var blocks: BlockSum
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// Which snapshot.
  public var snapshot: SnapshotSummary
  /// What was asked for.
  public var query: LeaksQuery
  /// All live blocks; like those that are reached, without the recorder's unless they are asked for.
  public var live = BlockSum()
  /// The leaked blocks that are counted.
  public var leaked = BlockSum()
  /// Leaked blocks that nothing points to.
  public var rootLeakCount: UInt64 = 0
  /// Cycles that nothing points to.
  public var rootCycleCount: UInt64 = 0
  /// Blocks that only pointers into the middle of blocks, or with tags, lead to.
  public var possible = BlockSum()
  /// The rows of these, as far as the filters let them pass; those with the most bytes first.
  public var possibleRows = LongList<LeakRow>()
  /// How many of these rows there are without a limit.
  public var possibleRowCount = 0
  /// Leaked blocks of the system's libraries and of the recorder, which are not counted.
  public var system = BlockSum()
  /// Leaked blocks of these, by the rule that they fall under, counted or not.
  public var systemRules: [SystemLeakSum]
  /// Blocks that can be reached, by what holds them.
  public var reachable: [Reachable]
  /// The rows, those with the most bytes first, of their own or of their trees.
  public var rows: LongList<LeakRow>
  /// How many rows there are without a limit.
  public var rowCount: Int
  /// The places that allocated what the rows of stacks stand for, where they are asked for; those with the
  /// most bytes first.
  public private(set) var places: [LeakPlace] = []
  /// The trees, those with the most bytes first.
  public var treeGroups: [TreeGroup]
  /// Whether a leak drags another block along, so that rows and trees are not the same.
  private(set) var hasTrees = false
  /// How many groups of trees there are without a limit.
  public var treeGroupCount: Int
  /// What each snapshot found, when there are several; see ``setDiscoveries(_:in:)``.
  public private(set) var discoveries: [LeakDiscovery] = []
  /// How many snapshots there are up to this one; `discoveries` may leave some of them out.
  public private(set) var snapshotCount = 0
  /// The trace that this one is compared with, as the user named it.
  public var comparedWith: String?

  /// How many trees of a group are shown.
  static let treesPerGroup = 3

  /// Reports on an analysis.
  ///
  /// - Parameters:
  ///   - analysis: The heap.
  ///   - source: Names.
  ///   - query: What is asked for.
  ///   - baseline: Only what is more than its leaks counts, with every grouping the same blocks.
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(
    _ analysis: LeakAnalysis, source: ReportSource, query: LeaksQuery,
    baseline: LeakBaseline? = nil
  ) throws {
    let types = SnapshotTypeNames(source)
    let selection = try LeakSelection(analysis, source, types, query, baseline: baseline)
    trace = source.trace
    self.coverage = CoverageSummary(analysis.heap.coverage)
    snapshot = SnapshotSummary(analysis.heap, clock: source.clock)
    self.query = query
    (live, reachable) = Self.sums(analysis, query)
    possible = selection.possibleSum
    let labels = BlockLabels(heap: analysis.heap, types: types, names: source.names)
    systemRules = Self.systemRules(analysis, selection, source, types, query)
    if !query.includesSystem {
      for rule in systemRules { system.add(rule.blocks) }
    }
    let rows = query.hasRows ? Self.rows(analysis, selection, source, types, query) : LongList()
    let groups = LeakTreeGroups(
      analysis.leaks, labels: labels, selection.isShownRoot, keepsTimes: query.keepsRootTimes
    ).groups
    comparedWith = baseline?.name
    leaked = Self.sum(selection.isNew ?? selection.isCounted, analysis)
    rootLeakCount = groups.reduce(0) { $0 &+ ($1.role == .rootLeak ? $1.instances : 0) }
    rootCycleCount = groups.reduce(0) { $0 &+ ($1.role == .rootCycle ? $1.instances : 0) }
    rowCount = rows.count
    if query.findsPlaces { places = LeakPlace.find(rows) }
    self.rows = rows.limited(to: query.top)
    if baseline == nil, query.hasRows {
      let possible = Self.possibleRows(analysis, selection, source, types, query)
      possibleRowCount = possible.count
      possibleRows = possible.limited(to: query.top)
    }
    treeGroupCount = groups.count
    hasTrees = baseline == nil && groups.contains { $0.count > $0.instances }
    treeGroups = groups.prefix(query.top ?? .max).map { draft in
      draft.group(
        LeakTreeBuilder(leaks: analysis.leaks, labels: labels, limit: query.treeLines), source)
    }
  }

  /// Adds what the snapshots up to this one found, perhaps not all of them.
  public mutating func setDiscoveries(_ discoveries: [LeakDiscovery], in trace: Trace) {
    self.discoveries = discoveries
    snapshotCount = trace.completeSnapshots(before: snapshot.index).count + 1
  }

  private static func rows(
    _ analysis: LeakAnalysis, _ selection: LeakSelection, _ source: ReportSource,
    _ types: any TypeNaming, _ query: LeaksQuery
  ) -> LongList<LeakRow> {
    let leaks = analysis.leaks
    var names = LeakRowNames(
      heap: analysis.heap, source: source, types: types, grouping: query.grouping,
      isComparison: selection.isNew != nil, isRoot: leaks.isRoot)
    if selection.isNew == nil { names.tree = leaks.tree }
    var builder = LeakRowBuilder(names, capacity: leaks.count)
    for node in 0..<leaks.count where selection.isCounted[node] {
      builder.add(leaks.block(of: node), isNew: selection.isNew?[node])
    }
    return builder.finish()
  }

  private static func sum(_ isWanted: Bits, _ analysis: LeakAnalysis) -> BlockSum {
    var sum = BlockSum()
    for node in 0..<isWanted.count where isWanted[node] {
      sum.add(analysis.heap.blocks.ownBytes(of: analysis.leaks.block(of: node)))
    }
    return sum
  }

  /// The blocks that built-in rules leave out; their rows only where they are asked for.
  private static func systemRules(
    _ analysis: LeakAnalysis, _ selection: LeakSelection, _ source: ReportSource,
    _ types: any TypeNaming, _ query: LeaksQuery
  ) -> [SystemLeakSum] {
    let names = LeakRowNames(
      heap: analysis.heap, source: source, types: types, grouping: query.grouping,
      isRoot: analysis.leaks.isRoot)
    return selection.systemBlocks.map { rule, blocks in
      var sum = SystemLeakSum(
        rule: rule.name, reason: rule.reason, blocks: BlockSum(), rows: LongList())
      for block in blocks { sum.blocks.add(analysis.heap.blocks.ownBytes(of: Int(block))) }
      guard query.includesSystem else { return sum }
      var builder = LeakRowBuilder(names, capacity: blocks.count)
      for block in blocks { builder.add(Int(block)) }
      sum.rows = builder.finish()
      return sum
    }
  }

  /// The rows of possible leaks.
  ///
  /// Roots are those that something points to which is reached.
  private static func possibleRows(
    _ analysis: LeakAnalysis, _ selection: LeakSelection, _ source: ReportSource,
    _ types: any TypeNaming, _ query: LeaksQuery
  ) -> LongList<LeakRow> {
    let reachability = analysis.reachability
    let labels = BlockLabels(heap: analysis.heap, types: types, names: source.names)
    let roots = RootNames(source: source, info: analysis.heap.info)
    var names = LeakRowNames(
      heap: analysis.heap, source: source, types: types, grouping: query.grouping
    ) { block in
      guard case .block(let holder) = reachability.holder(of: block) else { return true }
      return reachability.state(of: holder) == .reached
    }
    names.holder = { block in
      switch reachability.holder(of: block) {
      case .root(let slot): roots.text(slot)
      case .block(let holder): labels.text(of: holder)
      case nil: nil
      }
    }
    var builder = LeakRowBuilder(names, capacity: selection.possible.count)
    for block in selection.possible { builder.add(Int(block)) }
    return builder.finish()
  }

  private static func sums(
    _ analysis: LeakAnalysis, _ query: LeaksQuery
  ) -> (live: BlockSum, reachable: [Reachable]) {
    var live = BlockSum()
    var byRoot = Root.Category.allCases.map { _ in BlockSum() }
    for block in 0..<analysis.heap.blocks.count
    where query.includesSystem || analysis.heap.blocks.site(of: block).thread != .recorder {
      let size = analysis.heap.blocks.ownBytes(of: block)
      live.add(size)
      if let category = analysis.reachability.rootCategory(of: block) {
        byRoot[Int(category.rawValue)].add(size)
      }
    }
    let reachable = zip(Root.Category.allCases, byRoot).filter { $0.1.count > 0 }.map {
      Reachable(root: RootText.plural($0.0), blocks: $0.1)
    }
    return (live, reachable)
  }
}

extension LeakForest {
  /// What is in the tree that a leaked block is the head of: nothing for one that another block drags along.
  fileprivate func tree(_ block: Int) -> BlockSum? {
    guard let node = node(of: block) else { return nil }
    guard root(of: node) == node else { return BlockSum() }
    return BlockSum(count: UInt64(subtreeCount(of: node)), bytes: subtreeBytes(of: node))
  }

  /// Whether a leaked block is a leak of its own or part of a cycle, not dragged along.
  fileprivate func isRoot(_ block: Int) -> Bool {
    node(of: block).map { role(of: $0) != .draggedAlong } ?? false
  }
}
