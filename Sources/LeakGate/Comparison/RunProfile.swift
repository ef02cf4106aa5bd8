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
  ///   - source: Names.
  ///   - grouping: What a row is.
  ///   - blocks: Which blocks count.
  public init(
    _ result: ReplayResult, source: ReportSource, grouping: ComparisonGrouping,
    blocks: ComparedBlocks
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
    for site in result.sites {
      let amount =
        blocks == .total
        ? Amount(count: site.tally.totalCount, bytes: site.tally.totalBytes)
        : Amount(count: site.tally.liveCount, bytes: site.tally.liveBytes)
      if let variance = site.variance {
        measureVariances[.allocations, default: AmountVariance()] += .total(variance)
        measureVariances[.unfreed, default: AmountVariance()] += .live(variance)
      }
      guard amount.count > 0 else { continue }
      let name = namer.name(of: site)
      if let variance = site.variance {
        rowVariances[name, default: AmountVariance()] +=
          blocks == .total ? .total(variance) : .live(variance)
      }
      rows[name, default: Amount()].count &+= amount.count
      rows[name, default: Amount()].bytes &+= amount.bytes
    }
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

  init(source: ReportSource, grouping: ComparisonGrouping) {
    self.source = source
    self.grouping = grouping
  }

  mutating func name(of site: Site) -> String {
    if grouping == .category { return source.categories.category(of: site).name }
    if let name = known[site.stack] { return name }
    let name = grouping == .function ? function(of: site.stack) : stack(site.stack)
    known[site.stack] = name
    return name
  }

  private func function(of stack: StackID) -> String {
    guard let frame = source.names.responsible(of: stack) else { return "<no stack recorded>" }
    return FunctionText.normalised(frame.name)
  }

  private func stack(_ stack: StackID) -> String {
    let functions = Fingerprint.normalised(source.names.frames(of: stack))
    return functions.isEmpty ? "<no stack recorded>" : functions.joined(separator: " < ")
  }
}
