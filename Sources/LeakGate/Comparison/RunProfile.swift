import Reports
import TraceReader

/// By what two recordings are compared.
public enum ComparisonGrouping: String, Sendable, CaseIterable, Encodable {
  /// By the type or size of the blocks.
  case category
  /// By the responsible function.
  case function
  /// By the program's own functions on the stack.
  case stack
}

/// What of the blocks is compared.
public enum ComparedBlocks: String, Sendable, CaseIterable, Encodable {
  /// Blocks that were not freed at the end.
  case unfreed
  /// All blocks that were allocated.
  case total
  /// Blocks that were live when most bytes were.
  case peak
  /// Memory that the program mapped itself, and that is there at the end.
  case mapped

  /// What to replay for it.
  public var request: ReplayRequest {
    var request = ReplayRequest()
    if self == .peak { request.liveAt = .peak }
    return request
  }

  /// In words.
  var text: String {
    switch self {
    case .unfreed: "unfreed at end"
    case .total: "all allocations"
    case .peak: "live at the peak"
    case .mapped: "mapped at end"
    }
  }
}

/// The blocks of one recording by what they have in common with those of another.
public struct RunProfile: Sendable, Hashable {
  /// The figures of the whole process.
  public var measures: [Measure: Amount]
  /// The blocks by name; names without what changes from build to build.
  public var rows: [String: Amount]
  /// Why the figures are not those of the whole process: a sentence for each gap.
  public var warnings: [String]
  /// How far measures may be off; empty when everything was recorded.
  var measureVariances: [Measure: AmountVariance] = [:]
  /// How far rows may be off, by name; empty when everything was recorded.
  var rowVariances: [String: AmountVariance] = [:]

  /// Sums up a replay.
  ///
  /// - Parameters:
  ///   - result: The replay that ``ComparedBlocks/request`` asks for.
  ///   - mappings: What was mapped at the end; nil where that was not recorded.
  ///   - source: Names.
  ///   - grouping: What a row is.
  ///   - blocks: Which blocks count.
  public init(
    _ result: ReplayResult, mappings: MappingHistory? = nil, source: ReportSource,
    grouping: ComparisonGrouping, blocks: ComparedBlocks
  ) {
    measures = [
      .peak: Amount(bytes: result.peak.bytes),
      .allocations: Amount(count: result.total.totalCount, bytes: result.total.totalBytes),
      .memoryErrors: Amount(count: result.errorCounts.values.reduce(0, &+)),
    ]
    if blocks != .peak {
      measures[.unfreed] = Amount(count: result.total.liveCount, bytes: result.total.liveBytes)
    }
    warnings =
      source.trace.figuresWarnings + CoverageSummary(result.coverage).warnings
    if result.coverage.sampleInterval > 0 {
      measureVariances[.peak] = AmountVariance(bytes: result.peak.bytesVariance)
    }
    var namer = RowNamer(source: source, grouping: grouping)
    rows = [:]
    if let mappings { add(mappings, areRows: blocks == .mapped, &namer) }
    for site in result.sites {
      let amount =
        blocks == .total
        ? Amount(count: site.tally.totalCount, bytes: site.tally.totalBytes)
        : Amount(count: site.tally.liveCount, bytes: site.tally.liveBytes)
      if let variance = site.variance {
        measureVariances[.allocations, default: AmountVariance()] += .total(variance)
        measureVariances[.unfreed, default: AmountVariance()] += .live(variance)
      }
      guard amount.count > 0, blocks != .mapped else { continue }
      let name = namer.name(of: site)
      if let variance = site.variance {
        rowVariances[name, default: AmountVariance()] +=
          blocks == .total ? .total(variance) : .live(variance)
      }
      rows[name, default: Amount()] += amount
    }
  }

  /// Counts what was mapped, as far as it can be touched.
  private mutating func add(
    _ history: MappingHistory, areRows: Bool, _ namer: inout RowNamer
  ) {
    var sum = Amount()
    for mapping in history.mappings where mapping.liveBytes > 0 {
      let amount = Amount(count: 1, bytes: mapping.usableBytes)
      sum += amount
      if areRows { rows[namer.name(of: mapping), default: Amount()] += amount }
    }
    measures[.mapped] = sum
    measures[.mappedPeak] = Amount(bytes: history.peakBytes)
  }

  /// Makes a profile from its parts.
  init(
    measures: [Measure: Amount], rows: [String: Amount], warnings: [String] = [],
    measureVariances: [Measure: AmountVariance] = [:],
    rowVariances: [String: AmountVariance] = [:]
  ) {
    self.measures = measures
    self.rows = rows
    self.warnings = warnings
    self.measureVariances = measureVariances
    self.rowVariances = rowVariances
  }
}

extension AmountVariance {
  /// That of all blocks of a site.
  fileprivate static func total(_ variance: TallyVariance) -> AmountVariance {
    AmountVariance(count: variance.totalCount, bytes: variance.totalBytes)
  }

  /// That of the blocks of a site that are live.
  fileprivate static func live(_ variance: TallyVariance) -> AmountVariance {
    AmountVariance(count: variance.liveCount, bytes: variance.liveBytes)
  }
}

/// Names of rows, looked up once for each stack.
private struct RowNamer {
  let source: ReportSource
  let grouping: ComparisonGrouping
  private var known: [StackID: String] = [:]
  private var names = NormalisedNames()

  init(source: ReportSource, grouping: ComparisonGrouping) {
    self.source = source
    self.grouping = grouping
  }

  mutating func name(of site: Site) -> String {
    grouping == .category ? source.categories.category(of: site).name : name(of: site.stack)
  }

  mutating func name(of mapping: Mapping) -> String {
    grouping == .category ? mapping.kind.name : name(of: mapping.stack)
  }

  private mutating func name(of stack: StackID) -> String {
    if let name = known[stack] { return name }
    let name = grouping == .function ? function(of: stack) : self.stack(stack)
    known[stack] = name
    return name
  }

  private mutating func function(of stack: StackID) -> String {
    guard let frame = source.names.responsible(of: stack) else { return "<no stack recorded>" }
    return names.name(frame.name)
  }

  private mutating func stack(_ stack: StackID) -> String {
    let functions = names.names(source.names.frames(of: stack))
    return functions.isEmpty ? "<no stack recorded>" : functions.joined(separator: " < ")
  }
}
