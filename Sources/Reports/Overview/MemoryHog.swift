import TraceReader

/// A category or a stack that held a quarter or more of the memory.
public struct MemoryHog: Sendable, Hashable, Encodable {
  /// What the share is of.
  public enum Measure: String, Sendable, Encodable {
    /// The memory available to the process.
    case available
    /// The live bytes at the peak.
    case peak
  }

  /// The category; nil when the hog is a stack with blocks of many sizes.
  public var category: String?
  /// Live bytes at the peak.
  public var bytes: UInt64
  /// Live blocks at the peak.
  public var count: UInt64
  /// What the share is of.
  public var measure: Measure
  /// The whole that the bytes are a share of.
  public var measureBytes: UInt64
  /// The responsible frame of the stack that holds most of it; nil without a stack.
  public var responsible: ReportFrame?
  /// The ID of that stack.
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
    var stacks: [StackID: Share] = [:]
    for site in result.sites where site.tally.peakBytes > 0 {
      categories[source.categories.category(of: site), default: Share()].add(site)
      stacks[site.stack, default: Share()].add(site)
    }
    let scale = Scale(
      peak: result.peak.bytes, available: source.availableBytes, names: source.names)
    let byCategory = categories.filter { scale.isHog($0.value) }
      .sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
    var hogs = byCategory.map { category, share in
      scale.hog(share, category: category.name, source: source)
    }
    let named = Set(hogs.filter { $0.stackBytes >= $0.bytes / 2 }.map(\.stack))
    let byStack = stacks.filter { stack, share in
      stack != .none && scale.isHog(share) && !named.contains(stack.rawValue)
    }
    .sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
    hogs += byStack.map { scale.hog($0.value, category: nil, source: source) }
    return Array(hogs.prefix(limit))
  }

  /// The sum of sites and the one stack among them that holds most.
  private struct Share {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    var stacks: [StackID: UInt64] = [:]

    mutating func add(_ site: Site) {
      bytes &+= site.tally.peakBytes
      count &+= site.tally.peakCount
      stacks[site.stack, default: 0] &+= site.tally.peakBytes
    }

    var heaviest: (key: StackID, value: UInt64) {
      stacks.max { ($0.value, $1.key) < ($1.value, $0.key) } ?? (.none, 0)
    }
  }

  private struct Scale {
    var peak: UInt64
    var available: UInt64?
    var names: StackNames

    func isHog(_ share: Share) -> Bool {
      if isQuarter(share.bytes, of: available) { return true }
      return share.bytes >= leastBytesOfPeak && isQuarter(share.bytes, of: peak)
        && isOfProgram(share)
    }

    /// Whether the program can do something about it: the 71 KiB that libstdc++ sets aside at
    /// start are most of what a small program holds, and blocks without a stack lead nowhere.
    private func isOfProgram(_ share: Share) -> Bool {
      let (stack, bytes) = share.heaviest
      guard bytes >= share.bytes / 2 else { return true }
      return names.responsible(of: stack)?.role == .user
    }

    func isQuarter(_ bytes: UInt64, of whole: UInt64?) -> Bool {
      guard let whole, whole > 0 else { return false }
      return bytes >= whole / 4 + (whole % 4 == 0 ? 0 : 1)
    }

    func hog(_ share: Share, category: String?, source: ReportSource) -> MemoryHog {
      let ofAvailable = isQuarter(share.bytes, of: available)
      let (stack, stackBytes) = share.heaviest
      return MemoryHog(
        category: category, bytes: share.bytes, count: share.count,
        measure: ofAvailable ? .available : .peak,
        measureBytes: ofAvailable ? available ?? 0 : peak,
        responsible: source.names.responsible(of: stack), stack: stack.rawValue,
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
    let part = stackBytes == bytes ? "all" : ShareText.wholePercent(stackBytes, of: bytes)
    return "\(category) holds \(share) of \(whole): \(amount), \(part) from \(origin)"
  }
}
