/// Finds the greatest number of live bytes, and what was live then, in one pass.
///
/// While the live bytes rise to ever new peaks, the present figures of all sites are those of the
/// peak. The fall that follows has a number; a site that changes for the first time since it began
/// saves its figures under that number. In the end a site's figures at the peak are the
/// saved ones if it has any for the last fall, else its present ones: it has not changed since.
struct PeakTracker {
  /// What was live of a site when the peak was left.
  private struct Saved {
    var count: UInt64 = 0
    var bytes: UInt64 = 0
  }

  private(set) var peak = Peak()
  // These two lie apart: side by side they would be stored one by one and then loaded as a vector,
  // for which the processor waits.
  private(set) var liveBytes: UInt64 = 0
  /// The last fall; at a peak, the one that will follow.
  private var fall: UInt32 = 0
  /// Whether a site may have saved its figures for it; so it is of new sites before the first peak.
  private var hasFallen = true
  private(set) var liveCount: UInt64 = 0
  /// By number of the site.
  private var saved: [Saved] = []

  /// Counts a block in.
  ///
  /// - Returns: The live bytes, and the live blocks.
  @inline(__always)
  mutating func add(
    _ weight: SampleWeight, to site: UnsafeMutablePointer<SiteRecord>, _ number: UInt32,
    time: UInt64, index: UInt64
  ) -> (bytes: UInt64, count: UInt64) {
    let (bytes, count) = (liveBytes &+ weight.bytes, liveCount &+ weight.count)
    // Ahead of all else: what comes later may be in the same memory, as far as the compiler knows.
    (liveBytes, liveCount) = (bytes, count)
    if bytes > peak.bytes {
      peak.bytes = bytes
      peak.count = count
      peak.time = EventTime(time)
      peak.eventIndex = index
      if hasFallen { beginPeak() }
    } else {
      leavePeak(site, number)
    }
    return (bytes, count)
  }

  /// Counts a block out.
  @inline(__always)
  mutating func remove(
    _ weight: SampleWeight, from site: UnsafeMutablePointer<SiteRecord>, _ number: UInt32
  ) {
    leavePeak(site, number)
    liveBytes &-= weight.bytes
    liveCount &-= weight.count
  }

  /// Counts bytes in that another site has had until now: what is live becomes no more.
  mutating func lend(
    _ bytes: UInt64, to site: UnsafeMutablePointer<SiteRecord>, _ number: UInt32
  ) {
    leavePeak(site, number)
    liveBytes &+= bytes
  }

  /// Counts bytes out that sites have which are about to lie in a block that is counted as a whole.
  mutating func borrow(_ bytes: UInt64) {
    liveBytes &-= bytes
  }

  /// Counts them in again.
  mutating func unborrow(_ bytes: UInt64) {
    liveBytes &+= bytes
  }

  private mutating func beginPeak() {
    hasFallen = false
    fall &+= 1
  }

  @inline(__always)
  private mutating func leavePeak(
    _ site: UnsafeMutablePointer<SiteRecord>, _ number: UInt32
  ) {
    if site.pointee.savedFall != fall { save(site, Int(number)) }
  }

  @inline(never)
  private mutating func save(_ site: UnsafeMutablePointer<SiteRecord>, _ number: Int) {
    hasFallen = true
    site.pointee.savedFall = fall
    while saved.count <= number { saved.append(Saved()) }
    let tally = Tally(site.pointee.tally)
    saved[number] = Saved(count: tally.liveCount, bytes: tally.liveBytes)
  }

  /// The tally of a site with its figures at the peak.
  func finished(_ site: SiteRecord, _ number: Int) -> Tally {
    var tally = Tally(site.tally)
    if site.savedFall != fall {
      tally.peakBytes = tally.liveBytes
      tally.peakCount = tally.liveCount
    } else if number < saved.count {
      tally.peakBytes = saved[number].bytes
      tally.peakCount = saved[number].count
    }
    return tally
  }
}

extension Tally {
  /// What a replay has counted, without figures at the peak.
  fileprivate init(_ counts: SiteRecord.Counts) {
    self.init()
    (totalCount, totalBytes) = (counts.totalCount, counts.totalBytes)
    (freedCount, freedBytes) = (counts.freedCount, counts.freedBytes)
    temporaryCount = counts.temporaryCount
  }
}
