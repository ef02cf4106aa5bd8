import TraceReader

/// A profile in the format of pprof, which Parca, Pyroscope and speedscope read as well.
///
/// Each sample is what one thread allocated with one stack of one type. Its values are named as
/// those of Go's heap profiles, whose viewers expect these names; those of the peak and of temporary
/// blocks come on top. It is not compressed: `pprof` reads either.
///
/// Source of the format: <https://github.com/google/pprof/blob/main/proto/profile.proto>.
public struct PprofProfile: Sendable {
  /// The profile as it goes into a file.
  public private(set) var bytes: [UInt8] = []

  /// The values of each sample; Go's come first, in the order of its heap profiles.
  private static let values: [ProfileValue] = [
    .totalBlocks, .totalBytes, .liveBlocks, .liveBytes, .peakBlocks, .peakBytes, .temporaryBlocks,
  ]

  /// Makes a profile of a replay.
  ///
  /// - Parameters:
  ///   - result: The replay.
  ///   - source: Names.
  ///   - filter: Which blocks are counted.
  ///   - shown: The value that viewers are to show first.
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(
    _ result: ReplayResult, source: ReportSource, filter: SiteFilter,
    shown: ProfileValue = .liveBytes
  ) throws {
    let sites = try filter.apply(to: result.sites, source: source)
    var tables = PprofTables(source.names, executable: source.trace.executable)
    var profile = ProtobufMessage()
    for value in Self.values {
      profile.add(Field.sampleType, tables.type(value.pprofName, value.isBytes ? "bytes" : "count"))
    }
    let sums = SiteSums.of(
      sites,
      by: { site in
        Key(
          stack: site.stack, thread: site.thread,
          category: source.categories.detailedCategory(of: site))
      }, weight: \.tally)
    for (key, tally) in sums {
      let values = Self.values.map { $0.of(tally) }
      guard values.contains(where: { $0 > 0 }) else { continue }
      var sample = ProtobufMessage()
      sample.add(1, packed: tables.locations(of: key.stack))
      sample.add(2, packed: values)
      sample.add(3, tables.label("thread", source.threads.summary(of: key.thread).text))
      sample.add(3, tables.label("type", key.category.name))
      profile.add(Field.sample, sample)
    }
    profile.add(Field.time, source.trace.startedAtNanoseconds)
    profile.add(Field.duration, source.trace.durationNanoseconds)
    profile.add(Field.periodType, tables.type("space", "bytes"))
    profile.add(Field.period, result.sampling?.interval ?? 1)
    profile.add(Field.comment, packed: [tables.text(source.trace.commandLine)])
    profile.add(Field.defaultSampleType, tables.text(shown.pprofName))
    bytes = profile.bytes + tables.message.bytes
  }

  /// The numbers of the fields of a profile that are written here.
  private enum Field {
    static let sampleType = 1
    static let sample = 2
    static let time = 9
    static let duration = 10
    static let periodType = 11
    static let period = 12
    static let comment = 13
    static let defaultSampleType = 14
  }

  private struct Key: Hashable, Comparable {
    var stack: StackID
    var thread: ThreadIndex
    var category: BlockCategory

    static func < (left: Key, right: Key) -> Bool {
      // Step by step: what the categories are need hardly ever be compared.
      if left.stack != right.stack { return left.stack < right.stack }
      if left.thread != right.thread { return left.thread < right.thread }
      return left.category < right.category
    }
  }
}

extension ProfileValue {
  /// What pprof calls it.
  fileprivate var pprofName: String {
    switch self {
    case .totalBlocks: "alloc_objects"
    case .totalBytes: "alloc_space"
    case .liveBlocks: "inuse_objects"
    case .liveBytes: "inuse_space"
    case .peakBlocks: "peak_objects"
    case .peakBytes: "peak_space"
    case .temporaryBlocks: "temporary_objects"
    }
  }
}
