import Symbolication
import TraceReader

/// What every report reads besides the replay: who was traced, and how to name things.
public struct ReportSource {
  /// Which trace.
  public var trace: TraceSummary
  /// Converts event times.
  public var clock: TraceClock
  /// The names of threads.
  public var threads: ThreadNames
  /// The names of backtraces.
  public var names: StackNames
  /// What blocks are called.
  public var categories: BlockCategories
  /// The names of variables.
  public var variables: VariableNames
  /// What addresses are that are neither in blocks nor variables.
  public var places: MemoryPlaces
  /// The stored properties of Swift classes.
  public var layouts: SwiftLayouts
  /// The least limit on the memory of the process; nil when the trace knows none.
  public var availableBytes: UInt64?
  /// Where the process ended that did not mean to; nil where that is not known.
  public var crash: Crash?
  /// What was recorded last of a process that crashed, if nothing says where.
  var lastEvent: MemoryError.EventSite?
  /// The most that code and variables of images can take of memory: the bytes of their addresses.
  var imageBytes: UInt64 = 0

  /// Makes a source from its parts.
  public init(
    trace: TraceSummary, clock: TraceClock, threads: ThreadNames, names: StackNames,
    categories: BlockCategories = BlockCategories(), variables: VariableNames = VariableNames(),
    places: MemoryPlaces = MemoryPlaces(), layouts: SwiftLayouts = SwiftLayouts(),
    availableBytes: UInt64? = nil
  ) {
    self.trace = trace
    self.clock = clock
    self.threads = threads
    self.names = names
    self.categories = categories
    self.variables = variables
    self.places = places
    self.layouts = layouts
    self.availableBytes = availableBytes
  }

  /// Makes the source for an opened trace.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - file: The file as the user named it; nil for a temporary recording.
  ///   - symbolicator: Looks up names.
  ///   - fullNames: Whether names are printed with all their template arguments.
  public init(
    _ trace: Trace, file: String?, symbolicator: any Symbolicator, fullNames: Bool = false
  ) {
    let process = trace.process
    let names = StackNames(
      stacks: trace.stacks, images: trace.images, types: trace.types, symbolicator: symbolicator,
      fullNames: fullNames)
    let typeNames = TypeNames(
      types: trace.types, images: trace.images, symbolicator: symbolicator)
    let layouts = SwiftLayouts(
      types: trace.types, images: trace.images, symbolicator: symbolicator)
    let sampling = Sampling(header: trace.header)
    self.init(
      trace: TraceSummary(
        file: file, executable: process.executablePath, arguments: process.arguments,
        pid: process.pid, startedAtNanoseconds: process.startWallNanoseconds,
        durationNanoseconds: trace.recordedNanoseconds, ending: EndingSummary(trace.ending)),
      clock: trace.clock, threads: ThreadNames(trace.threads), names: names,
      categories: BlockCategories(
        types: trace.types, images: trace.images, typeNames: typeNames, stackNames: names),
      variables: VariableNames(
        images: trace.images, symbolicator: symbolicator, layouts: layouts, fullNames: fullNames),
      places: MemoryPlaces(trace), layouts: layouts,
      availableBytes: trace.limits.availableBytes)
    self.trace.title = trace.notes.last { $0.kind == .title }?.text
    self.trace.sampling = sampling.map(SamplingSummary.init)
    self.trace.windows = WindowsSummary(trace)
    self.trace.shortage = ShortageSummary(trace.notes)
    crash = trace.crash
    if crash == nil, self.trace.ending.isCrash {
      lastEvent = (try? trace.lastEvent()) ?? nil
    }
    imageBytes = trace.images.images.lazy.filter { $0.unloadTime == nil }
      .reduce(0) { $0 &+ ($1.end.rawValue &- $1.start.rawValue) }
    let resident = trace.header.peakResident
    self.trace.peakResidentBytes = resident == 0 ? nil : resident
  }
}

extension ReportSource {
  /// The summary with the length that a replay found, which may go on after the last clock pair
  /// that the recorder stored.
  func summary(after result: ReplayResult) -> TraceSummary {
    var summary = trace
    summary.durationNanoseconds = max(
      summary.durationNanoseconds, clock.nanoseconds(result.lastTime))
    return summary
  }
}

extension Trace {
  /// How long the recording is known to have gone on, as far as the header tells.
  var recordedNanoseconds: UInt64 {
    let end = max(header.endTicks, max(header.latestTicks, header.stopTicks))
    let known = clock.nanoseconds(EventTime(end >> min(header.tickShift, 63)))
    // Others than the recorder switch it on and off.
    guard let window = windows?.last else { return known }
    return max(known, clock.nanoseconds(window.end ?? window.start))
  }
}
