/// Finds the greatest number of live bytes, and what was live then, in one pass.
///
/// While the live bytes rise to ever new peaks, the present figures of all sites are those of the
/// peak. When they first fall, the fall gets a number; a site that then changes for the first time
/// since saves its figures under that number. In the end a site's figures at the peak are the
/// saved ones if it has any for the last fall, else its present ones: it has not changed since.
struct PeakTracker {
  private(set) var peak = Peak()
  private(set) var liveBytes: UInt64 = 0
  private(set) var liveCount: UInt64 = 0
  private var fall: UInt32 = 0
  private var isAtPeak = false

  /// Counts a block in.
  @inline(__always)
  mutating func add(
    _ weight: SampleWeight, to site: UnsafeMutablePointer<SiteRecord>, time: UInt64, index: UInt64
  ) {
    let bytes = liveBytes &+ weight.bytes
    if bytes > peak.bytes {
      peak.bytes = bytes
      peak.count = liveCount &+ weight.count
      peak.time = EventTime(time)
      peak.eventIndex = index
      isAtPeak = true
    } else {
      leavePeak(site)
    }
    liveBytes = bytes
    liveCount &+= weight.count
  }

  /// Counts a block out.
  @inline(__always)
  mutating func remove(_ weight: SampleWeight, from site: UnsafeMutablePointer<SiteRecord>) {
    leavePeak(site)
    liveBytes &-= weight.bytes
    liveCount &-= weight.count
  }

  @inline(__always)
  private mutating func leavePeak(_ site: UnsafeMutablePointer<SiteRecord>) {
    if isAtPeak {
      isAtPeak = false
      fall &+= 1
    }
    guard site.pointee.savedFall != fall else { return }
    site.pointee.savedFall = fall
    site.pointee.tally.peakBytes = site.pointee.tally.liveBytes
    site.pointee.tally.peakCount = site.pointee.tally.liveCount
  }

  /// The tally of a site with its figures at the peak.
  func finished(_ site: SiteRecord) -> Tally {
    var tally = site.tally
    if isAtPeak || site.savedFall != fall {
      tally.peakBytes = tally.liveBytes
      tally.peakCount = tally.liveCount
    }
    return tally
  }
}
