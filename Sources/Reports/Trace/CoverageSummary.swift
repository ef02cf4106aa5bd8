import TraceReader

/// What the trace does not hold, as every report says it.
public struct CoverageSummary: Sendable, Hashable, Encodable {
  /// The counters that are not zero, by name.
  public var counters: [String: UInt64]
  /// One sentence for each gap, the gravest first; empty when nothing is known to be missing.
  public var warnings: [String]

  /// Makes a summary from its parts.
  public init(counters: [String: UInt64] = [:], warnings: [String] = []) {
    self.counters = counters
    self.warnings = warnings
  }

  /// Puts a trace's coverage into words.
  public init(_ coverage: Coverage) {
    counters = Dictionary(
      uniqueKeysWithValues: Self.named(coverage).filter { $0.1 > 0 }.map { ($0.0, $0.1) })
    warnings =
      Self.selectionWarnings(coverage) + Self.stopWarnings(coverage) + Self.damageWarnings(coverage)
      + Self.named(coverage).filter { $0.1 > 0 }.compactMap { $0.2?($0.1) }
      + Self.listed("reference counts not recorded", coverage.refcountRefusals)
      + Self.listed("calls that bypass the recorder", BypassText.byImage(coverage.bypassed))
      + Self.listed(
        "allocations while it was loaded are not recorded (RTLD_DEEPBIND)", coverage.boundLate)
      + Self.listed("child not recorded", coverage.childrenNotFollowed)
  }

  /// Writes the warnings, one line each; nothing when there are none.
  func write(to page: inout TextPage) {
    guard !warnings.isEmpty else { return }
    page.blank()
    for warning in warnings {
      page.line(Span("Coverage: ", .warning), Span(warning))
    }
  }

  /// The names of all counters.
  static var names: [String] { named(Coverage()).map(\.0) }

  /// Name in JSON, value, and the sentence where the number alone is worth one.
  private typealias Counter = (String, UInt64, (@Sendable (UInt64) -> String)?)

  private static func named(_ coverage: Coverage) -> [Counter] {
    [
      (
        "eventsDropped", coverage.eventsDropped,
        { "\(CountText.of($0, "event", .was)) not recorded" }
      ),
      (
        "nestedEventsLost", coverage.nestedEventsLost,
        { "\(CountText.of($0, "event", .was)) not recorded inside the recorder" }
      ),
      (
        "threadsLost", coverage.threadsLost,
        { "\(CountText.of($0, "thread", .was)) not recorded" }
      ),
      (
        "stackTableFull", coverage.stackTableFull,
        { "\(CountText.of($0, "event", .has)) no stack: the stack table was full" }
      ),
      (
        "stacksLost", coverage.stacksLost,
        { "\(CountText.of($0, "allocation", .has)) a stack that is missing in the file" }
      ),
      (
        "stacksCut", coverage.stacksCut,
        { "\(CountText.of($0, "event", .has)) a stack deeper than --depth: frames are left out" }
      ),
      (
        "stacksRootless", coverage.stacksRootless,
        { "\(CountText.of($0, "event", .has)) a stack whose outermost callers are not known" }
      ),
      (
        "refcountsLost", coverage.refcountsLost,
        { "\($0.grouped) retains and releases were not recorded" }
      ),
      (
        "announcedLeftOut", coverage.announcedLeftOut,
        {
          "\(CountText.of($0, "call", .was)) not recorded that announced a block of the program's own "
            + "allocators or its end: not all allocations were to be"
        }
      ),
      ("stacksMissing", coverage.stacksMissing, { "\(CountText.of($0, "event", .has)) no stack" }),
      (
        "imagesLost", coverage.imagesLost, { "\(CountText.of($0, "image")) could not be described" }
      ),
      (
        "unknownFrees", coverage.unknownFrees,
        { "\(CountText.of($0, "free")) of blocks allocated before or outside the recording" }
      ),
      (
        "implicitlyFreed", coverage.implicitlyFreed,
        { "\(CountText.of($0, "block", .was)) freed without a record of it" }
      ),
      (
        "eventsMissing", coverage.eventsMissing,
        { "\(CountText.of($0, "event", .is)) missing in the file" }
      ),
      (
        "doubtfulErrors", coverage.doubtfulErrors,
        {
          "\(CountText.of($0, "possible memory error", .is)) not told: what the trace does not hold may"
            + " explain \($0 == 1 ? "it" : "them")"
        }
      ),
      ("eventsBeforeStart", coverage.eventsBeforeStart, nil),
      ("bootstrapBlocks", coverage.bootstrapBlocks, nil),
      ("bootstrapBytes", coverage.bootstrapBytes, nil),
      ("nestedEvents", coverage.nestedEvents, nil),
      ("stacksCompared", coverage.stacksCompared, nil),
      (
        "stacksDifferent", coverage.stacksDifferent,
        { "libunwind sees other frames in \(CountText.of($0, "stack")); the notes show the first" }
      ),
      ("stacksGuessDifferent", coverage.stacksGuessDifferent, nil),
      ("stacksLibunwind", coverage.stacksLibunwind, nil),
      ("sampleInterval", coverage.sampleInterval, nil),
      ("inheritedFrees", coverage.inheritedFrees, nil),
      ("childrenNotFollowed", coverage.childrenNotFollowedCount, nil),
      ("damagedParts", coverage.damageCount, nil),
      ("damagedBytes", coverage.damagedBytes, nil),
      ("doubtfulParts", coverage.doubtCount, nil),
      (
        "missingBytes", coverage.missingBytes,
        { "the file was cut: \(CountText.of($0, "byte", .is)) missing at its end" }
      ),
    ]
  }

  private static func selectionWarnings(_ coverage: Coverage) -> [String] {
    if coverage.sampleInterval > 0 {
      return [
        "only a sample of the allocations was recorded: double frees, invalid frees and temporary"
          + " allocations cannot be seen in it, and other errors only on blocks that are in it"
      ]
    }
    guard coverage.isPausable else { return [] }
    return [
      "recording could be paused: double and invalid frees cannot be seen, and other errors only on"
        + " blocks that were allocated while it was not"
    ]
  }

  private static func stopWarnings(_ coverage: Coverage) -> [String] {
    guard let stop = coverage.stop else { return [] }
    return ["recording stopped before the program ended: \(stop.text)"]
  }

  private static func damageWarnings(_ coverage: Coverage) -> [String] {
    let lost = coverage.damageCount &- coverage.doubtCount
    return damageWarning(
      lost, coverage.damagedBytes &- coverage.doubtfulBytes, "could not be read",
      first: coverage.damage.first { !$0.isDoubt })
      + damageWarning(
        coverage.doubtCount, coverage.doubtfulBytes,
        coverage.doubtCount == 1
          ? "is not what was written: figures may be wrong"
          : "are not what was written: figures may be wrong",
        first: coverage.damage.first { $0.isDoubt })
  }

  private static func damageWarning(
    _ count: UInt64, _ bytes: UInt64, _ state: String, first: Damage?
  ) -> [String] {
    guard count > 0 else { return [] }
    let place = first.map { " (first at byte \($0.offset): \($0.reason))" } ?? ""
    let parts = count == 1 ? "1 part" : "\(count.grouped) parts"
    let size = bytes > 0 ? ", \(ByteStyle.human.format(bytes))," : ""
    return ["\(parts) of the file\(size) \(state)\(place)"]
  }

  private static func listed(_ kind: String, _ entries: [String]) -> [String] {
    let shown = entries.prefix(3).map { "\(kind): \($0)" }
    let more = entries.count - shown.count
    return more > 0 ? shown + ["\(kind): \(more) more"] : Array(shown)
  }
}
