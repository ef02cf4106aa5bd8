/// Live blocks, counted: exactly, or estimated from those that are in a sample.
public struct LiveSum: Sendable {
  private var blocks: UInt64 = 0
  private var requested: UInt64 = 0
  private var estimatedBlocks = 0.0
  private var estimatedBytes = 0.0
  private var isEstimate = false
  /// The variances of the figures, where they are estimates: of all of them, as none was freed.
  public private(set) var variance = TallyVariance()

  /// Counts nothing yet.
  public init() {}

  /// How many blocks.
  public var count: UInt64 { isEstimate ? SampleWeight.integer(estimatedBlocks) : blocks }

  /// Their requested bytes.
  public var bytes: UInt64 { isEstimate ? SampleWeight.integer(estimatedBytes) : requested }

  /// Counts a block.
  ///
  /// - Parameters:
  ///   - size: Requested bytes.
  ///   - sampling: How the trace was sampled; nil when everything was recorded.
  public mutating func add(size: UInt64, sampling: Sampling?) {
    blocks &+= 1
    requested &+= size
    guard let sampling else { return }
    isEstimate = true
    let weight = 1 / sampling.probability(ofSize: size)
    estimatedBlocks += weight
    estimatedBytes += weight * Double(size)
    let added = sampling.countVariance(ofSize: size)
    variance.totalCount += added
    variance.liveCount += added
    variance.totalBytes += added * Double(size) * Double(size)
    variance.liveBytes += added * Double(size) * Double(size)
  }
}

extension ReplayResult {
  /// The result as if only some of the live blocks had ever been allocated.
  ///
  /// ``sites`` keep their positions; those without a wanted block are empty.
  ///
  /// - Parameter isWanted: Says which of ``liveBlocks`` stay.
  /// - Returns: This result with other sites, total and live blocks.
  public func restricted(toBlocks isWanted: (LiveBlock) -> Bool) -> ReplayResult {
    var result = self
    result.liveBlocks = liveBlocks.filtered(isWanted)
    var sums = Array(repeating: LiveSum(), count: sites.count)
    for block in result.liveBlocks where sums.indices.contains(block.site) {
      sums[block.site].add(size: block.size, sampling: sampling)
    }
    result.total = Tally()
    for (position, sum) in sums.enumerated() {
      var tally = Tally()
      tally.totalCount = sum.count
      tally.totalBytes = sum.bytes
      result.sites[position].tally = tally
      result.sites[position].variance = sampling == nil ? nil : sum.variance
      result.total += tally
    }
    return result
  }
}
