/// Finds categories and stacks that held a great part of the memory.
///
/// A hog held, when the live bytes were greatest, at least a quarter of the memory that the
/// process could have had, or of all that was live then.
public struct MemoryHogAnalysis: Sendable {
  /// A category or stack that held a great part of the memory.
  public struct Hog: Hashable, Sendable {
    /// The sites it consists of.
    public var group: SiteGroup
    /// Its part of all live bytes at the peak, 0 … 1.
    public var shareOfPeak: Double
    /// Its part of the available memory; nil when the trace does not know that.
    public var shareOfAvailable: Double?

    /// Its live bytes at the peak.
    public var bytes: UInt64 { group.tally.peakBytes }

    /// Whether it held a quarter of the memory that the process could have had.
    public func isThreat(threshold: Double = MemoryHogAnalysis.defaultThreshold) -> Bool {
      (shareOfAvailable ?? 0) >= threshold
    }
  }

  /// A quarter.
  public static let defaultThreshold = 0.25

  /// Categories that are hogs, greatest first.
  public let categories: [Hog]
  /// Stacks that are hogs, greatest first.
  public let stacks: [Hog]

  /// Runs the analysis.
  ///
  /// - Parameters:
  ///   - result: A replay.
  ///   - limits: What the process could have had.
  ///   - threshold: The least part of either that makes a hog, 0 … 1.
  public init(
    _ result: ReplayResult, limits: MemoryLimits, threshold: Double = Self.defaultThreshold
  ) {
    func hogs(by grouping: SiteGrouping) -> [Hog] {
      result.sites.grouped(by: grouping).compactMap { group -> Hog? in
        guard group.tally.peakBytes > 0, result.peak.bytes > 0 else { return nil }
        let bytes = Double(group.tally.peakBytes)
        let hog = Hog(
          group: group, shareOfPeak: bytes / Double(result.peak.bytes),
          shareOfAvailable: limits.availableBytes.map { bytes / Double(max($0, 1)) })
        let isHog = hog.shareOfPeak >= threshold || hog.isThreat(threshold: threshold)
        return isHog ? hog : nil
      }.sorted { $0.bytes > $1.bytes }
    }
    categories = hogs(by: .sizeClass)
    stacks = hogs(by: .stack)
  }
}
