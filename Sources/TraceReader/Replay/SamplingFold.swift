/// What one allocation counts for while a trace is replayed: 1 and its size when everything was
/// recorded, else fixed-point numbers.
///
/// Fixed-point, so that what is added for a block and taken away when it is freed is the same, and
/// nothing remains.
struct SampleWeight {
  var count: UInt64
  var bytes: UInt64

  /// Binary places of a count; leaves room for 2^48 blocks.
  static let countPlaces: UInt64 = 16
  /// Binary places of bytes; leaves room for 2^56 bytes.
  static let bytePlaces: UInt64 = 8

  /// A number that is neither negative nor greater than can be.
  static func integer(_ value: Double) -> UInt64 {
    UInt64(exactly: min(max(value, 0), 0x1p62).rounded()) ?? 0
  }

  static func wholeCount(_ fixed: UInt64) -> UInt64 { rounded(fixed, countPlaces) }

  static func wholeBytes(_ fixed: UInt64) -> UInt64 { rounded(fixed, bytePlaces) }

  private static func rounded(_ fixed: UInt64, _ places: UInt64) -> UInt64 {
    fixed >> places &+ (fixed >> (places - 1) & 1)
  }
}

/// Weighs the allocations of a sampled trace, and collects how far the sums may be off.
struct SamplingFold {
  /// Whether the trace is a sample; otherwise nothing here but ``weight(of:)`` is called.
  let isOn: Bool
  let sampling: Sampling?
  /// The variances of all that was allocated, by number of the site.
  private(set) var totals: [TallyVariance] = []
  private var liveBytesVariance = 0.0
  private(set) var peakBytesVariance = 0.0

  init(_ sampling: Sampling?) {
    self.sampling = sampling
    isOn = sampling != nil
  }

  @inline(__always)
  func weight(of size: UInt64) -> SampleWeight {
    isOn ? estimated(size) : SampleWeight(count: 1, bytes: size)
  }

  @inline(never)
  private func estimated(_ size: UInt64) -> SampleWeight {
    let inverse = 1 / (sampling?.probability(ofSize: size) ?? 1)
    return SampleWeight(
      count: SampleWeight.integer(inverse * Double(1 << SampleWeight.countPlaces)),
      bytes: SampleWeight.integer(inverse * Double(size) * Double(1 << SampleWeight.bytePlaces)))
  }

  /// The variances that one allocation adds, as one that was freed again.
  private func variance(_ size: UInt64) -> TallyVariance {
    var variance = TallyVariance()
    variance.totalCount = sampling?.countVariance(ofSize: size) ?? 0
    variance.totalBytes = variance.totalCount * Double(size) * Double(size)
    return variance
  }

  /// Takes in an allocation.
  @inline(never)
  mutating func add(_ size: UInt64, to site: UInt32, at isPeak: Bool) {
    let added = variance(size)
    while totals.count <= Int(site) { totals.append(TallyVariance()) }
    totals[Int(site)] += added
    liveBytesVariance += added.totalBytes
    if isPeak { peakBytesVariance = max(0, liveBytesVariance) }
  }

  /// Takes in a deallocation.
  @inline(never)
  mutating func remove(_ size: UInt64) {
    liveBytesVariance -= variance(size).totalBytes
  }

  /// Takes an allocation back that is about to be added once more.
  @inline(never)
  mutating func takeBack(_ size: UInt64, from site: UInt32) {
    guard Int(site) < totals.count else { return }
    totals[Int(site)].totalCount -= variance(size).totalCount
    totals[Int(site)].totalBytes -= variance(size).totalBytes
  }

  /// The variances of each site, by number, those of the blocks that are live from `live`.
  func variances(siteCount: Int, live: borrowing LiveTable) -> [TallyVariance] {
    var result = totals
    while result.count < siteCount { result.append(TallyVariance()) }
    live.forEach { block in
      guard Int(block.site) < siteCount else { return }
      let added = variance(block.size)
      result[Int(block.site)].liveCount += added.totalCount
      result[Int(block.site)].liveBytes += added.totalBytes
    }
    return result
  }
}

extension ReplayResult {
  /// Turns the weighted figures of a replay into estimates.
  ///
  /// - Parameters:
  ///   - heap: The replay, which has ended.
  ///   - positions: For each site of the replay its position in ``sites``; -1 for those left out.
  mutating func estimate(from heap: borrowing HeapReplay, positions: [Int]) {
    let variances = heap.sampling.variances(siteCount: positions.count, live: heap.live)
    sampling = heap.sampling.sampling
    total = Tally()
    for (variance, position) in zip(variances, positions) where position >= 0 {
      sites[position].tally.roundToEstimate()
      sites[position].variance = variance
      total += sites[position].tally
    }
    peak.bytes = SampleWeight.wholeBytes(peak.bytes)
    peak.count = SampleWeight.wholeCount(peak.count)
    peak.bytesVariance = heap.sampling.peakBytesVariance
    timeline.liveBytes = timeline.liveBytes.map(SampleWeight.wholeBytes)
    timeline.liveCounts = timeline.liveCounts.map(SampleWeight.wholeCount)
  }
}

extension Tally {
  /// Turns weighted figures into whole ones.
  fileprivate mutating func roundToEstimate() {
    totalCount = SampleWeight.wholeCount(totalCount)
    freedCount = SampleWeight.wholeCount(freedCount)
    peakCount = SampleWeight.wholeCount(peakCount)
    totalBytes = SampleWeight.wholeBytes(totalBytes)
    freedBytes = SampleWeight.wholeBytes(freedBytes)
    peakBytes = SampleWeight.wholeBytes(peakBytes)
  }
}
