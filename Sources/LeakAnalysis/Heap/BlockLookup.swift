/// Finds the block that an address lies in, in constant time for nearly all addresses; of several that lie in each
/// other the innermost.
///
/// ```
/// spans    [stretch of blocks of one kind, close to each other) … by ascending address
/// table    for each granule of a span the first block that begins in it or behind it
/// ```
/// A span has at most half as many granules as blocks, so that the table stays at 2 bytes per block
/// whatever a trace claims. Where its blocks lie unevenly, a granule has many, which are searched.
struct BlockLookup {
  private struct Span {
    /// Where its first block begins.
    var start: UInt64
    var first: Int32
    /// The logarithm of the bytes in a granule.
    var shift: UInt32
    /// Where its part of the table begins.
    var table: Int
  }

  /// Blocks of more than this are great: those of a few bytes have finer granules without them.
  private static let farAway: UInt64 = 16 << 10
  /// Blocks are hardly ever smaller.
  private static let leastShift: UInt32 = 4
  /// So few blocks are looked at one after the other.
  private static let fewBlocks: Int32 = 4

  private let blocks: HeapBlocks
  private var spans: [Span] = []
  /// One more entry for each span than it has granules: one past its last block.
  private var table: [Int32] = []
  private var lowest: UInt64 = .max
  private var highest: UInt64 = 0
  /// Where the spans of announced blocks begin.
  private var recordedSpans = 0

  init(_ blocks: HeapBlocks) {
    self.blocks = blocks
    table.reserveCapacity(blocks.count / 2)
    addSpans(0, blocks.recordedCount)
    recordedSpans = spans.count
    addSpans(blocks.recordedCount, blocks.count)
    guard blocks.recordedCount > 0 else { return }
    lowest = blocks.address(of: 0)
    highest = blocks.end(of: blocks.recordedCount - 1)
  }

  private mutating func addSpans(_ start: Int, _ end: Int) {
    guard start < end else { return }
    var first = start
    for block in start + 1...end where block == end || !areClose(block - 1, block) {
      addSpan(first, block)
      first = block
    }
  }

  private func isGreat(_ block: Int) -> Bool {
    blocks.end(of: block) - blocks.address(of: block) > Self.farAway
  }

  /// Whether a block and the next one are to be in one span.
  private func areClose(_ block: Int, _ next: Int) -> Bool {
    let isGreat = isGreat(block)
    guard isGreat == self.isGreat(next) else { return false }
    let distance = blocks.address(of: next).subtractingReportingOverflow(blocks.end(of: block))
    // One may lie in the other.
    return isGreat || distance.overflow || distance.partialValue < Self.farAway
  }

  private mutating func addSpan(_ first: Int, _ last: Int) {
    let start = blocks.address(of: first)
    let length = blocks.address(of: last - 1) - start
    var shift = Self.leastShift
    while length >> UInt64(shift) >= UInt64(last - first + 1) / 2 { shift += 1 }
    spans.append(
      Span(
        start: start, first: Int32(truncatingIfNeeded: first), shift: shift, table: table.count))
    var next = 0
    for block in first..<last {
      let granule = Int((blocks.address(of: block) - start) >> UInt64(shift))
      while next <= granule {
        table.append(Int32(truncatingIfNeeded: block))
        next += 1
      }
    }
    table.append(Int32(truncatingIfNeeded: last))
  }

  /// The position of the block that holds an address; -1 when none does.
  @inline(__always)
  func block(containing address: UInt64) -> Int {
    if recordedSpans < spans.count {
      let block = announced(containing: address)
      if block >= 0 { return block }
    }
    if address < lowest || address >= highest { return -1 }
    return search(address, 0, recordedSpans)
  }

  /// The position of the innermost announced block that holds an address; -1 when none does.
  @inline(never)
  private func announced(containing address: UInt64) -> Int {
    guard address >= spans[recordedSpans].start else { return -1 }
    return search(address, recordedSpans, spans.count)
  }

  /// Looks in some of the spans, the first of which does not begin behind the address.
  @inline(__always)
  private func search(_ address: UInt64, _ first: Int, _ last: Int) -> Int {
    // The last span that begins at the address or before it: there is one.
    var (low, high) = (first, last)
    while high &- low > 1 {
      let middle = (low &+ high) >> 1
      if spans[middle].start <= address { low = middle } else { high = middle }
    }
    let span = spans[low]
    let end = low &+ 1 < spans.count ? spans[low &+ 1].table : table.count
    let granule = span.table &+ Int((address &- span.start) >> UInt64(span.shift))
    guard granule &+ 1 < end else { return block(table[end &- 1] &- 1, at: address) }
    return block(lastBlock(at: address, table[granule], table[granule &+ 1]), at: address)
  }

  /// The last of some blocks that does not begin behind an address; the one before them where all
  /// do.
  @inline(__always)
  private func lastBlock(at address: UInt64, _ first: Int32, _ last: Int32) -> Int32 {
    var (low, high) = (first, last)
    while high &- low > Self.fewBlocks {
      let middle = low &+ (high &- low) / 2
      if blocks.address(of: Int(middle)) <= address { low = middle } else { high = middle }
    }
    while low < high, blocks.address(of: Int(low)) <= address { low &+= 1 }
    return low &- 1
  }

  /// Where a block ends matters only for pointers into the middle, and that is one more look into
  /// memory.
  @inline(__always)
  private func block(_ block: Int32, at address: UInt64) -> Int {
    let block = Int(block)
    if blocks.address(of: block) == address || address < blocks.end(of: block) { return block }
    return block < blocks.recordedCount ? -1 : blocks.innermost(block, at: address) ?? -1
  }
}
