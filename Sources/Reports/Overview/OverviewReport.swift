import LeakAnalysis
import TraceReader

/// One page about a trace: what matters, and what to type next.
public struct OverviewReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.report"

  /// A place that allocates and frees again at once.
  public struct Hotspot: Sendable, Hashable, Encodable {
    /// The responsible frame; nil without a stack.
    public var responsible: ReportFrame?
    /// The ID of one of its stacks.
    public var stack: UInt32
    /// Allocations that were freed right after.
    public var temporaryCount: UInt64
    /// All allocations of these stacks.
    public var totalCount: UInt64
    /// Bytes of all allocations of these stacks.
    public var totalBytes: UInt64
  }

  /// How much of each the page shows.
  enum Limit {
    static let errors = 3
    static let categories = 8
    static let unfreed = 5
    static let leaks = 5
    static let hotspots = 5
    /// Nobody would change code for fewer temporary allocations.
    static let leastTemporary: UInt64 = 100
    static let frames = 8
  }

  /// Which trace.
  public var trace: TraceSummary
  /// Whether any block may have been allocated without a record of it: recording was paused, or
  /// the program calls a `malloc` of its own.
  let mayMissBlocks: Bool
  /// Whether the program has a `malloc` of its own, which the recording did not reach.
  let hasOwnAllocator: Bool
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// How many events were replayed.
  public var eventCount: UInt64
  /// The memory errors, the first few in full.
  public var errors: ErrorsReport
  /// Who held most of the memory at the peak.
  public var hogs: [MemoryHog]
  /// The totals and the categories with the most live bytes.
  public var allocations: AllocationsReport
  /// The stacks with the most unfreed bytes.
  public var unfreed: UnfreedReport
  /// The places with the most unfreed bytes, whoever called them.
  public var unfreedPlaces: [UnfreedPlace]
  /// How many places have unfreed blocks.
  public var unfreedPlaceCount: Int
  /// The leaks of the last snapshot; nil for a trace without one.
  public var leaks: LeaksReport?
  /// Why leaks are not known, and how the next recording tells them; nil where they are.
  public var leaksUnknown: String?
  /// The objects of that snapshot that `unowned` references have outlived, by class.
  public var deinitialized: [DanglingReport.Deinitialized]
  /// Memory that the program mapped itself; nil where that was not recorded.
  public var mapped: MappedSum?
  /// The places with the most temporary allocations.
  public var hotspots: [Hotspot]
  /// Names that could not be looked up, and why.
  public var symbolWarnings: [String]
  /// Where else names can be had; nil where none is missing.
  let namesAdvice: String?
  private let asksServers: Bool
  private let imageBytes: UInt64

  /// Picks what matters from a replay that kept the live blocks.
  ///
  /// - Parameters:
  ///   - result: The replay of the whole trace.
  ///   - leaks: From ``leaks(_:source:)``, of the last snapshot; nil for a trace without one.
  ///   - leaksUnknown: Why there is none.
  ///   - deinitialized: From ``deinitialized(_:source:)``, of the same.
  ///   - mapped: Memory that the program mapped itself; nil where that was not recorded.
  ///   - source: Names.
  ///   - checks: What the recording looked for in the heap while it ran.
  ///   - asksServers: Whether names come from debuginfod servers as well.
  /// - Throws: Nothing at present: there are no filters that could fit nothing.
  public init(
    _ result: ReplayResult, leaks: LeaksReport? = nil, leaksUnknown: String? = nil,
    deinitialized: [DanglingReport.Deinitialized] = [], mapped: MappedSum? = nil,
    source: ReportSource, checks: Set<HeapCheck> = [], asksServers: Bool = false
  ) throws {
    self.asksServers = asksServers
    imageBytes = source.imageBytes
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    mayMissBlocks =
      trace.windows != nil || result.coverage.bypassed.contains { $0.hasPrefix("malloc: ") }
    hasOwnAllocator = result.coverage.bypassed.contains("malloc: \(source.trace.executable)")
    eventCount = result.eventCount
    errors = ErrorsReport(
      result, source: source, top: Limit.errors, frameLimit: Limit.frames, checks: checks)
    hogs = MemoryHog.find(result, source: source)
    var query = AllocationsQuery()
    query.top = Limit.categories
    allocations = try AllocationsReport(result, source: source, query: query)
    var unfreedQuery = UnfreedQuery()
    unfreedQuery.top = Limit.unfreed
    unfreedQuery.frames = Limit.frames
    unfreed = try UnfreedReport(result, source: source, query: unfreedQuery)
    let places = UnfreedPlace.find(result, source: source)
    unfreedPlaces = Array(places.prefix(Limit.unfreed))
    unfreedPlaceCount = places.count
    self.leaks = leaks
    self.leaksUnknown = leaksUnknown
    self.deinitialized = deinitialized
    self.mapped = mapped
    hotspots = Self.hotspots(result, source)
    symbolWarnings = source.names.warnings
    namesAdvice = source.names.missing.advice
  }

  /// The leaks as this report shows them.
  ///
  /// - Parameters:
  ///   - analysis: The heap, which need not be kept for the rest.
  ///   - source: Names.
  /// - Returns: The groups of leaks with the most bytes.
  /// - Throws: Nothing at present: there are no filters that could fit nothing.
  public static func leaks(_ analysis: LeakAnalysis, source: ReportSource) throws -> LeaksReport {
    var query = LeaksQuery()
    query.top = Limit.leaks
    query.findsPlaces = true
    return try LeaksReport(analysis, source: source, query: query)
  }

  /// The objects that `unowned` references have outlived.
  ///
  /// - Parameters:
  ///   - analysis: The heap, which need not be kept for the rest.
  ///   - source: Names.
  /// - Returns: Those of the most references first.
  public static func deinitialized(
    _ analysis: LeakAnalysis, source: ReportSource
  ) -> [DanglingReport.Deinitialized] {
    DanglingReport.deinitialized(in: analysis.heap, source)
  }

  /// Callers of one function are added up: the place to change is the same.
  private static func hotspots(_ result: ReplayResult, _ source: ReportSource) -> [Hotspot] {
    var spots: [ReportFrame?: Hotspot] = [:]
    for site in result.sites where site.tally.temporaryCount > 0 {
      let frame = source.names.responsible(of: site.stack)
      var spot =
        spots[frame?.asPlace]
        ?? Hotspot(
          responsible: frame, stack: site.stack.rawValue, temporaryCount: 0, totalCount: 0,
          totalBytes: 0)
      spot.stack = min(spot.stack, site.stack.rawValue)
      spot.temporaryCount &+= site.tally.temporaryCount
      spot.totalCount &+= site.tally.totalCount
      spot.totalBytes &+= site.tally.totalBytes
      spots[frame?.asPlace] = spot
    }
    let ordered = spots.values.sorted {
      ($1.temporaryCount, $0.stack) < ($0.temporaryCount, $1.stack)
    }
    return Array(ordered.prefix(Limit.hotspots))
  }

  /// Whether the process may have ended because it read an `unowned` reference to an object that is gone: then
  /// the Swift runtime calls `abort`.
  var mayHaveReadUnowned: Bool {
    errors.isUnexplainedCrash && !deinitialized.isEmpty && trace.ending.isAbort
  }

  /// What was in memory besides the heap; nil where that is not known.
  var resident: ResidentMemory? {
    trace.peakResidentBytes.map {
      ResidentMemory(
        peakBytes: $0, heapPeakBytes: allocations.timeline.peak.bytes, imageBytes: imageBytes)
    }
  }

  /// Whether the program may have mapped much memory itself, which was not recorded.
  private var mayHaveMapped: Bool {
    mapped == nil && !mayMissBlocks && errors.checks.isEmpty && resident?.isMostlyOther == true
  }

  /// The frames that the page names as responsible, from its top.
  private var responsibles: [ReportFrame?] {
    hogs.map(\.responsible) + (leaks?.places ?? []).map(\.responsible)
      + unfreedPlaces.map(\.responsible) + hotspots.map(\.responsible)
  }

  /// Commands that lead on from here, with what each is for.
  public var nextCommands: [NextCommand] {
    let file = trace.fileArgument
    var commands: [NextCommand] = []
    if trace.file == nil {
      commands.append(
        NextCommand(
          "memtrace record -o \(file) -- \(trace.commandLine)",
          "keeps the trace for what follows"))
    }
    if hasOwnAllocator {
      commands.append(
        NextCommand(
          "memtrace record --bundled-allocator -- \(trace.commandLine)",
          "what it allocates by its own malloc"))
    }
    if errors.totalCount > 0 || errors.failureCount > 0 {
      commands.append(NextCommand("memtrace errors \(file)", "all errors with whole stacks"))
      if let first = errors.entries.first {
        commands.append(
          NextCommand(
            "memtrace history \(file) \(HexText.of(first.address)) --stacks",
            first.block == nil ? "what happened at that address" : "the life of that block"))
      }
    }
    if mayHaveReadUnowned {
      commands.append(
        NextCommand("memtrace dangling \(file)", "objects that unowned references have outlived"))
    }
    if errors.isUnexplainedCrash,
      let search = NextCommand.explainingCrash(
        of: trace, without: errors.checks, knowsPlace: errors.crash != nil)
    {
      commands.append(search)
    }
    if let hog = hogs.first?.category {
      commands.append(
        NextCommand(
          "memtrace allocations \(file) --category \(ShellText.quoted(hog)) --call-tree",
          "who allocates it"))
    }
    if let leaks, leaks.leaked.count > 0 {
      commands.append(NextCommand("memtrace leaks \(file)", "what is leaked, and what it holds"))
    }
    if unfreed.totalCount > 0 {
      commands.append(NextCommand("memtrace unfreed \(file)", "every stack with unfreed blocks"))
    }
    if let mapped, mapped.peakBytes > 0 {
      commands.append(NextCommand("memtrace mappings \(file)", "memory that it mapped itself"))
    }
    if mayHaveMapped {
      commands.append(
        NextCommand(
          "memtrace mappings -- \(trace.commandLine)",
          "what else was in memory: what it maps itself"))
    }
    commands.append(NextCommand("memtrace allocations \(file)", "all categories"))
    if allocations.timeline.peak.bytes > 0 {
      commands.append(
        NextCommand("memtrace allocations \(file) --live-at peak", "what was live at the peak"))
    }
    if !asksServers, let names = NextCommand.fetchingNames(of: file, for: responsibles) {
      commands.append(names)
    }
    return commands
  }
}
