/// The memory of a snapshot: the words that are kept, found by address.
///
/// Flat arrays, about 8 bytes for each kept word and 80 for each page with one; nothing is shared
/// with the trace it was loaded from.
public struct SnapshotMemory: Sendable {
  /// The mappings of the process, in ascending order, without overlaps.
  public let regions: [SnapshotRegion]
  /// The names of the classes of a Python interpreter, by the addresses that their objects hold.
  public internal(set) var pythonClasses: [UInt64: String] = [:] {
    didSet { pythonType = pythonClasses.filter { $0.value == "type" }.keys.min() }
  }
  /// The address of the class of all classes, `type`, a variable of Python's runtime; nil without Python.
  public private(set) var pythonType: UInt64?
  /// The names of the classes of GObject, by the addresses that their instances begin with.
  public internal(set) var gobjectClasses: [UInt64: String] = [:]
  /// What the slabs of Swift's tasks begin with; 0 where the process has none.
  public internal(set) var taskSlab: UInt64 = 0
  /// How many runs of words, or chunks of runs, could not be read to their end: they are damaged,
  /// or contradict what was before them.
  public internal(set) var damagedRuns = 0
  /// Whether words are missing because they would take more memory than there is for them.
  public internal(set) var exceedsMemory = false

  /// The numbers (addresses / 4096) of the pages that have kept words, in ascending order.
  @usableFromInline var pages: [UInt64] = []
  /// Eight words of 64 bits for each page: which of its 512 words are kept.
  @usableFromInline var bitmaps: [UInt64] = []
  /// For each page, the position in `values` of its first kept word.
  @usableFromInline var firstValues: [Int] = []
  /// The kept words by ascending address.
  @usableFromInline var values: [UInt64] = []
  /// Where pages begin that follow each other: heaps have few such places.
  @usableFromInline var runs: [PageRun] = []

  /// Pages with kept words that follow each other.
  @usableFromInline
  struct PageRun: Sendable {
    var firstPage: UInt64
    /// The position of the first one in `pages`.
    var position: Int
  }

  init(regions: [SnapshotRegion]) {
    self.regions = regions
  }

  /// How many words are kept.
  public var wordCount: Int { values.count }

  /// The mapping that holds an address; nil when none does.
  ///
  /// - Complexity: O(log *n*) in the number of mappings.
  public func region(containing address: UInt64) -> SnapshotRegion? {
    SnapshotRegion.position(of: address, in: regions).map { regions[$0] }
  }

  /// Whether an address was mapped.
  ///
  /// - Complexity: O(log *n*) in the number of mappings.
  public func isMapped(_ address: UInt64) -> Bool {
    SnapshotRegion.position(of: address, in: regions) != nil
  }

  /// The word at an address, which is rounded down to a multiple of 8.
  ///
  /// - Returns: 0 where no word is kept or nothing is mapped.
  /// - Complexity: O(log *n*) in the number of stretches of pages with kept words.
  @inlinable
  public func word(at address: UInt64) -> UInt64 {
    let slot = firstPage(from: address >> 12)
    guard slot < pages.count, pages[slot] == address >> 12 else { return 0 }
    let index = Int(truncatingIfNeeded: address >> 3 & 511)
    let bits = bitmaps[slot &* 8 &+ index >> 6]
    let bit = UInt64(1) << UInt64(index & 63)
    guard bits & bit != 0 else { return 0 }
    var rank = (bits & (bit &- 1)).nonzeroBitCount
    for earlier in 0..<index >> 6 { rank &+= bitmaps[slot &* 8 &+ earlier].nonzeroBitCount }
    return values[firstValues[slot] &+ rank]
  }

  /// Visits the kept words that lie in a range of addresses, in ascending order.
  ///
  /// - Parameters:
  ///   - range: Words are visited whose first byte lies in it; they begin on multiples of 8.
  ///   - body: Called with the address of a word and the word, which is not 0.
  @inlinable
  public func forEachWord(
    in range: Range<UInt64>, _ body: (_ address: UInt64, _ value: UInt64) -> Void
  ) {
    guard !range.isEmpty else { return }
    var slot = firstPage(from: range.lowerBound >> 12)
    let lastPage = (range.upperBound &- 1) >> 12
    while slot < pages.count, pages[slot] <= lastPage {
      visit(slot, in: range, body)
      slot &+= 1
    }
  }

  /// The address of the first page with kept words at or behind an address; nil where there is none.
  public func firstKeptPage(from address: UInt64) -> UInt64? {
    let slot = firstPage(from: address >> 12 + (address & 4095 == 0 ? 0 : 1))
    return slot < pages.count ? pages[slot] << 12 : nil
  }

  @inlinable
  func visit(
    _ slot: Int, in range: Range<UInt64>, _ body: (_ address: UInt64, _ value: UInt64) -> Void
  ) {
    let page = pages[slot] << 12
    // The first word that begins in the range, and one past the last.
    let low = range.lowerBound > page ? Int((range.lowerBound &- page &+ 7) >> 3) : 0
    let rest = range.upperBound &- page
    let high = rest < 4096 ? Int((rest &+ 7) >> 3) : 512
    var position = firstValues[slot]
    for group in 0..<8 where group &* 64 < high {
      var bits = bitmaps[slot &* 8 &+ group]
      if group &* 64 &+ 64 <= low {
        position &+= bits.nonzeroBitCount
        continue
      }
      while bits != 0 {
        let index = group &* 64 &+ bits.trailingZeroBitCount
        if index >= high { return }
        if index >= low { body(page &+ UInt64(index) &* 8, values[position]) }
        position &+= 1
        bits &= bits &- 1
      }
    }
  }

  /// The position of the first page with kept words whose number is at least `page`.
  @usableFromInline
  func firstPage(from page: UInt64) -> Int {
    // The last run that begins there or before it.
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = low &+ (high &- low) / 2
      if runs[middle].firstPage <= page { low = middle &+ 1 } else { high = middle }
    }
    guard low > 0 else { return 0 }
    let run = runs[low &- 1]
    let end = low < runs.count ? runs[low].position : pages.count
    return Int(min(UInt64(run.position) &+ (page &- run.firstPage), UInt64(end)))
  }

  /// About how many bytes of memory the words take.
  var size: Int {
    values.count * MemoryLayout<UInt64>.stride + pages.count * Self.bytesPerPage
  }

  /// Its number, which words of it are kept, and where the first one is.
  private static let bytesPerPage = 8 + 64 + 8

  /// Adds a page without kept words behind all others.
  mutating func appendPage(_ page: UInt64) {
    if pages.last.map({ $0 &+ 1 != page }) ?? true {
      runs.append(PageRun(firstPage: page, position: pages.count))
    }
    pages.append(page)
    firstValues.append(values.count)
    for _ in 0..<8 { bitmaps.append(0) }
  }
}
