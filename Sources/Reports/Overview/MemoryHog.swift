import TraceReader

/// A category or a place in the program that held a quarter or more of the memory.
public struct MemoryHog: Sendable, Hashable, Encodable {
  /// What the share is of.
  public enum Measure: String, Sendable, Encodable {
    /// The memory available to the process.
    case available
    /// The live bytes at the peak.
    case peak
  }

  /// The category; nil when the hog is a place with blocks of many sizes.
  public var category: String?
  /// Live bytes at the peak.
  public var bytes: UInt64
  /// Live blocks at the peak.
  public var count: UInt64
  /// What the share is of.
  public var measure: Measure
  /// The whole that the bytes are a share of.
  public var measureBytes: UInt64
  /// The responsible frame that allocated most of it, whoever called it; nil without a stack.
  public var responsible: ReportFrame?
  /// Bytes of it that this place allocated.
  public var responsibleBytes: UInt64
  /// The ID of the stack through this place that holds most of it.
  public var stack: UInt32
  /// Bytes that this stack holds of it.
  public var stackBytes: UInt64

  /// More would be no help to anybody.
  static let limit = 3

  /// A smaller share of the peak is no finding: what a tiny program holds is always most of it.
  static let leastBytesOfPeak: UInt64 = 16 << 10

  /// Finds the hogs among the sites of a replay.
  static func find(_ result: ReplayResult, source: ReportSource) -> [MemoryHog] {
    var categories: [BlockCategory: Share] = [:]
    var places: [ReportFrame?: Share] = [:]
    for site in result.sites where site.tally.peakBytes > 0 {
      let place = source.names.responsible(of: site.stack)
      categories[source.categories.category(of: site), default: Share()].add(site, of: place)
      places[place?.asPlace, default: Share()].add(site, of: place)
    }
    let scale = Scale(peak: result.peak.bytes, available: source.availableBytes)
    let byCategory = categories.filter { scale.isHog($0.value) }
      .sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
    var hogs = byCategory.map { scale.hog($0.value, category: $0.key.name) }
    let named = Set(hogs.filter { $0.responsibleBytes >= $0.bytes / 2 }.map(\.responsible?.asPlace))
    let byPlace = places.filter { place, share in
      place != nil && scale.isHog(share) && !named.contains(place)
    }
    hogs += byPlace.values.map { scale.hog($0, category: nil) }
      .sorted { ($1.bytes, $0.stack) < ($0.bytes, $1.stack) }
    return Array(hogs.prefix(limit))
  }

  /// The sum of sites by the places that allocated them.
  private struct Share {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    private var places: [ReportFrame?: Place] = [:]

    mutating func add(_ site: Site, of frame: ReportFrame?) {
      bytes &+= site.tally.peakBytes
      count &+= site.tally.peakCount
      places[frame?.asPlace, default: Place(frame: frame)].add(site)
    }

    var heaviest: Place? {
      places.values.max {
        $0.bytes == $1.bytes ? $1.heaviest.stack < $0.heaviest.stack : $0.bytes < $1.bytes
      }
    }
  }

  private struct Place {
    let frame: ReportFrame?
    var bytes: UInt64 = 0
    private var stacks = StackShares()

    init(frame: ReportFrame?) { self.frame = frame }

    mutating func add(_ site: Site) {
      bytes &+= site.tally.peakBytes
      stacks.add(site.tally.peakBytes, of: site.stack)
    }

    var heaviest: (stack: StackID, bytes: UInt64) { stacks.summed().heaviest }
  }

  private struct Scale {
    var peak: UInt64
    var available: UInt64?

    func isHog(_ share: Share) -> Bool {
      if isQuarter(share.bytes, of: available) { return true }
      return share.bytes >= leastBytesOfPeak && isQuarter(share.bytes, of: peak)
        && isOfProgram(share)
    }

    /// Whether the program can do something about it: the 71 KiB that libstdc++ sets aside at
    /// start are most of what a small program holds, and blocks without a stack lead nowhere.
    private func isOfProgram(_ share: Share) -> Bool {
      guard let place = share.heaviest, place.bytes >= share.bytes / 2 else { return true }
      return place.frame?.role == .user
    }

    func isQuarter(_ bytes: UInt64, of whole: UInt64?) -> Bool {
      guard let whole, whole > 0 else { return false }
      return bytes >= whole / 4 + (whole % 4 == 0 ? 0 : 1)
    }

    func hog(_ share: Share, category: String?) -> MemoryHog {
      let ofAvailable = isQuarter(share.bytes, of: available)
      let place = share.heaviest
      let (stack, stackBytes) = place?.heaviest ?? (.none, 0)
      return MemoryHog(
        category: category, bytes: share.bytes, count: share.count,
        measure: ofAvailable ? .available : .peak,
        measureBytes: ofAvailable ? available ?? 0 : peak,
        responsible: place?.frame, responsibleBytes: place?.bytes ?? 0, stack: stack.rawValue,
        stackBytes: stackBytes)
    }
  }

  /// One sentence: `Malloc-64.00 MiB holds 61 % of the memory available …`.
  func text(bytes style: ByteStyle) -> String {
    let share = ShareText.wholePercent(bytes, of: measureBytes)
    let whole =
      measure == .available
      ? "the memory available (\(style.format(measureBytes)))"
      : "the peak (\(style.format(measureBytes)))"
    let origin = responsible?.title ?? "stacks that were not recorded"
    let amount = "\(style.format(bytes)) in \(CountText.blocks(count))"
    guard let category else {
      return "\(origin) holds \(share) of \(whole): \(amount)"
    }
    let part =
      responsibleBytes == bytes ? "all" : ShareText.wholePercent(responsibleBytes, of: bytes)
    return "\(category) holds \(share) of \(whole): \(amount), \(part) from \(origin)"
  }
}
