import ArgumentParser
import Reports

extension Lifespan: ExpressibleByArgument {}

/// Which part of the trace is replayed.
struct TimeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only blocks allocated from this time on: \(TimePoint.forms).", valueName: "time|mark"),
    transform: ArgumentForm.time)
  var from: TimePoint?

  @Option(
    help: ArgumentHelp("Only events up to this time.", valueName: "time|mark"),
    transform: ArgumentForm.time)
  var to: TimePoint?

  @Option(
    name: .customLong("live-at"),
    help: ArgumentHelp(
      "The state at this time instead of the end; 'peak' is when most was live.",
      valueName: "time|mark|peak"),
    transform: { LiveMoment($0) })
  var liveAt: LiveMoment?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only blocks of these requested sizes: \(ByteRange.forms).", valueName: "range"),
    transform: ArgumentForm.sizes)
  var size: ByteRange?

  /// The part of the trace in the terms of the reports.
  var request: ReplayRequest {
    var request = ReplayRequest()
    request.from = from
    request.to = to
    request.liveAt = liveAt
    request.sizes = size
    return request
  }

  /// The part of the trace in words; empty for all of it.
  var scope: [String] {
    [
      from.map { "allocated from \($0.words) on" }, to.map { "events up to \($0.words)" },
      size.map(\.words),
    ].compactMap(\.self)
  }

  /// The moment in words, for headlines; nil for the end.
  var momentText: String? {
    liveAt?.text ?? (to == nil ? nil : "the end of the time range")
  }
}

/// Which blocks are counted, by name.
struct FilterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only this category, such as Malloc-16; names may hold * and ?.", valueName: "name"))
  var category: String?

  @Option(
    help: ArgumentHelp(
      "Only blocks whose responsible function has this in its name.", valueName: "function"))
  var responsible: String?

  @Option(
    help: ArgumentHelp(
      "Only blocks whose responsible function is in this image.", valueName: "image"))
  var image: String?

  @Option(
    help: ArgumentHelp(
      "Only blocks of this thread: T2, its kernel ID, or a name.", valueName: "thread"))
  var thread: String?

  /// The filter in the terms of the reports.
  ///
  /// - Parameters:
  ///   - lifespan: How long the blocks lived.
  ///   - scope: The part of the trace that is looked at, in words.
  ///   - endNote: What there is to say of a part behind the end of the recording.
  /// - Returns: The filter.
  func filter(
    lifespan: Lifespan = .all, in scope: [String] = [], endNote: String? = nil
  ) -> SiteFilter {
    var filter = SiteFilter()
    filter.scope = scope
    filter.endNote = endNote
    filter.category = category
    filter.responsible = responsible
    filter.image = image
    filter.thread = thread
    filter.lifespan = lifespan
    return filter
  }
}

extension LiveMoment {
  /// The moment in words.
  var text: String {
    switch self {
    case .peak: "the peak"
    case .time(let point): point.words
    }
  }
}

extension TimePoint {
  /// The point in time in words.
  var words: String {
    switch self {
    case .nanoseconds(let value): "\(Double(value) / 1_000_000_000) s"
    case .millionths(let value): "\(Double(value) / 10_000) %"
    case .mark(let name): "the mark \"\(name.printable)\""
    }
  }
}

extension ByteRange {
  /// The sizes in words.
  var words: String {
    let (low, high) = (bytes.lowerBound, bytes.upperBound)
    if low == high { return "size \(ByteStyle.human.format(low))" }
    if high == .max { return "sizes from \(ByteStyle.human.format(low)) on" }
    return "sizes \(ByteStyle.human.format(low)) to \(ByteStyle.human.format(high))"
  }
}
