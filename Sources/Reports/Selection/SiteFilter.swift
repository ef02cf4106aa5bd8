import TraceReader

/// Which blocks a report counts, by how long they lived.
public enum Lifespan: String, Sendable, CaseIterable, Encodable {
  /// All allocations.
  case all
  /// Created and still living.
  case persistent
  /// Created and destroyed.
  case transient
}

/// Which sites a report counts.
///
/// Names may hold `*` and `?`.
public struct SiteFilter: Sendable, Hashable, Encodable {
  /// The category, such as `Malloc-16`.
  public var category: String?
  /// The responsible frame's function; a text without `*` may stand anywhere in the name.
  public var responsible: String?
  /// The responsible frame's image; likewise.
  public var image: String?
  /// The thread: `T3`, a kernel ID, or a name.
  public var thread: String?
  /// How long the blocks lived.
  public var lifespan = Lifespan.all
  /// The generation that the blocks were chosen by beforehand; nil for all.
  public var generation: String?
  /// The part of the trace that the sites are of, in words; empty for all of it.
  public var scope: [String] = []
  /// What there is to say of a part that lies behind the end of the recording.
  public var endNote: String?

  /// All but ``scope`` and ``endNote``, which documents do not hold.
  private enum CodingKeys: String, CodingKey {
    case category, responsible, image, thread, lifespan, generation
  }

  /// Whether it leaves out sites of the part of the trace that they are of.
  var picksSites: Bool {
    category != nil || responsible != nil || image != nil || thread != nil || lifespan != .all
  }

  /// Makes a filter that lets everything through.
  public init() {}

  /// The sites that pass, with the numbers of the lifespan only.
  ///
  /// - Throws: ``ReportError`` when a name fits nothing in the trace, with the nearest names.
  func apply(
    to sites: [Site], source: ReportSource, detailed: Bool = false
  ) throws -> [Site] {
    // A copy of a million sites takes 120 MB.
    guard picksSites || sites.contains(where: { $0.tally.totalCount == 0 }) else { return sites }
    return try indices(in: sites, source: source, detailed: detailed)
      .compactMap { sites[$0].restricted(to: lifespan) }
  }

  /// The positions of the sites that pass by name, in ascending order.
  ///
  /// - Parameters:
  ///   - sites: All sites of the trace.
  ///   - source: Names.
  ///   - detailed: Whether the report names categories by source lines and callers, too; where it does
  ///     not, such names can be asked for that no category has.
  /// - Returns: Positions in `sites`.
  /// - Throws: ``ReportError`` when a name fits nothing in the trace, with the nearest names.
  func indices(
    in sites: [Site], source: ReportSource, detailed: Bool = false
  ) throws -> [Int] {
    var kept = Array(sites.indices)
    if let category {
      kept = try indices(in: sites, category, source, detailed: detailed)
    }
    if let thread {
      let threads = try threads(matching: thread, in: sites, source)
      kept = kept.filter { threads.contains(sites[$0].thread) }
    }
    if let image {
      kept = try keep(kept, of: sites, "responsible library", image, source) { $0?.imageName }
    }
    if let responsible {
      kept = try keep(kept, of: sites, "responsible function", responsible, source) { $0?.name }
    }
    return kept
  }

  private func indices(
    in sites: [Site], _ pattern: String, _ source: ReportSource, detailed: Bool
  ) throws -> [Int] {
    var namings = [sites.map(source.categories.category(of:))]
    // Other reports of the trace have shown these names: they are good everywhere, though source lines
    // are read for them only where it must be.
    if detailed || !namings[0].contains(where: { Glob.matches($0.name, pattern) }) {
      namings.append(sites.map(source.categories.detailedCategory(of:)))
    }
    let all = Set(namings.joined()).sorted()
    let wanted = Set(all.filter { Glob.matches($0.name, pattern) })
    if wanted.isEmpty {
      throw notFound("category", pattern, in: all.map(\.name))
    }
    return sites.indices.filter { site in namings.contains { wanted.contains($0[site]) } }
  }

  private func threads(
    matching pattern: String, in sites: [Site], _ source: ReportSource
  ) throws -> Set<ThreadIndex> {
    let all = Set(sites.map(\.thread)).sorted()
    let wanted = all.filter { source.threads.summary(of: $0).matches(pattern) }
    if wanted.isEmpty {
      let names = all.filter { $0.rawValue > 0 }.map { source.threads.summary(of: $0).briefName }
      throw notFound("thread", pattern, in: names)
    }
    return Set(wanted)
  }

  private func keep(
    _ indices: [Int], of sites: [Site], _ kind: String, _ pattern: String, _ source: ReportSource,
    name: (ReportFrame?) -> String?
  ) throws -> [Int] {
    var matches: [String: Bool] = [:]
    func fits(_ index: Int) -> Bool {
      guard let name = name(source.names.responsible(of: sites[index].stack)) else { return false }
      if let known = matches[name] { return known }
      let fits = Glob.contains(name, pattern)
      matches[name] = fits
      return fits
    }
    let kept = indices.filter(fits)
    // What only the other filters have left out is no mistyped name.
    if kept.isEmpty, !sites.indices.contains(where: fits) {
      throw notFound(kind, pattern, in: matches.keys.sorted())
    }
    return kept
  }

  private func notFound(_ kind: String, _ name: String, in names: [String]) -> ReportError {
    .notFound(NearMatches.message(kind, name, in: names, ofPart: !scope.isEmpty))
  }
}

extension Site {
  /// The site with the blocks of a lifespan only; nil when none is left.
  func restricted(to lifespan: Lifespan) -> Site? {
    var site = self
    switch lifespan {
    case .all: break
    case .persistent:
      site.tally.totalCount = tally.liveCount
      site.tally.totalBytes = tally.liveBytes
      (site.tally.freedCount, site.tally.freedBytes, site.tally.temporaryCount) = (0, 0, 0)
      site.variance?.totalCount = variance?.liveCount ?? 0
      site.variance?.totalBytes = variance?.liveBytes ?? 0
    case .transient:
      site.tally.totalCount = tally.freedCount
      site.tally.totalBytes = tally.freedBytes
      site.variance?.totalCount = variance?.freedCount ?? 0
      site.variance?.totalBytes = variance?.freedBytes ?? 0
      site.variance?.liveCount = 0
      site.variance?.liveBytes = 0
    }
    return site.tally.totalCount == 0 ? nil : site
  }
}

extension TallyRow {
  /// Takes over the numbers of a site.
  init(_ site: Site) {
    let tally = site.tally
    self.init(
      persistentBytes: tally.liveBytes, persistentCount: tally.liveCount,
      transientBytes: tally.freedBytes, transientCount: tally.freedCount,
      temporaryCount: tally.temporaryCount)
    variance = site.variance
  }
}
