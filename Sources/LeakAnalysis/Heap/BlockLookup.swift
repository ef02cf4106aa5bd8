/// Finds the block that an address lies in, in constant time for nearly all addresses.
///
/// ```
/// spans    [stretch of blocks close to each other) … by ascending address
/// table    for each 256 bytes of a span the first block that ends behind their beginning
/// ```
/// Blocks of more than 16 KiB and stretches without blocks have no entries in the table, so that
/// it stays at 512 bytes per block whatever a trace claims: half for the block, half for the gap.
struct BlockLookup {
  private struct Span {
    var start: UInt64
    var end: UInt64
    /// The first and one past the last block.
    var first: Int32
    var last: Int32
    /// Where its part of the table begins; -1 for a span of one great block.
    var table: Int
  }

  private static let granuleShift: UInt64 = 8
  private static let farAway: UInt64 = 16 << 10

  private let starts: [UInt64]
  private let ends: [UInt64]
  private var spans: [Span] = []
  private var table: [Int32] = []
  private var lowest: UInt64 = .max
  private var highest: UInt64 = 0

  init(_ blocks: HeapBlocks) {
    (starts, ends) = (blocks.addresses, blocks.ends)
    var first = 0
    while first < starts.count {
      var last = first + 1
      if !isGreat(first) {
        while last < starts.count, !isGreat(last), starts[last] - ends[last - 1] < Self.farAway {
          last += 1
        }
      }
      addSpan(first, last)
      first = last
    }
    lowest = starts.first ?? .max
    highest = ends.last ?? 0
  }

  private func isGreat(_ block: Int) -> Bool { ends[block] - starts[block] > Self.farAway }

  private mutating func addSpan(_ first: Int, _ last: Int) {
    var span = Span(
      start: starts[first], end: ends[last - 1], first: Int32(first), last: Int32(last), table: -1)
    defer { spans.append(span) }
    guard last - first > 1 else { return }
    span.table = table.count
    span.start = starts[first] & ~((1 << Self.granuleShift) - 1)
    var block = first
    var granule = span.start
    while granule < span.end {
      while block < last, ends[block] <= granule { block += 1 }
      table.append(Int32(block))
      let (next, overflows) = granule.addingReportingOverflow(1 << Self.granuleShift)
      if overflows { break }
      granule = next
    }
  }

  /// The position of the block that holds an address; -1 when none does.
  @inline(__always)
  func block(containing address: UInt64) -> Int {
    if address < lowest || address >= highest { return -1 }
    return search(address)
  }

  @inline(__always)
  private func search(_ address: UInt64) -> Int {
    var (low, high) = (0, spans.count)
    while low < high {
      let middle = (low &+ high) >> 1
      if spans[middle].end <= address { low = middle &+ 1 } else { high = middle }
    }
    guard low < spans.count, spans[low].start <= address else { return -1 }
    let span = spans[low]
    var block = Int(span.first)
    if span.table >= 0 {
      block = Int(table[span.table &+ Int((address &- span.start) >> Self.granuleShift)])
    }
    // The last one that does not begin behind the address; where it ends matters only for pointers
    // into the middle, and that is one more look into memory.
    while block < Int(span.last), starts[block] < address {
      if block &+ 1 < Int(span.last), starts[block &+ 1] <= address {
        block &+= 1
      } else {
        return address < ends[block] ? block : -1
      }
    }
    return block < Int(span.last) && starts[block] == address ? block : -1
  }
}
