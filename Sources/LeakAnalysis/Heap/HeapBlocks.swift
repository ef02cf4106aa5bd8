import TraceReader

/// The blocks that were live at a snapshot, as flat arrays by ascending address.
///
/// A block is known by its position in the arrays. 40 bytes per block, no object per block: a heap
/// may well have ten million of them.
public struct HeapBlocks: Sendable {
  /// Where each block begins; ascending, without repetitions.
  public private(set) var addresses: [UInt64] = []
  /// One past the last byte that belongs to each block: what the allocator rounded it up to, but
  /// never beyond the beginning of the next block.
  public private(set) var ends: [UInt64] = []
  /// The requested bytes of each block.
  public private(set) var sizes: [UInt64] = []
  /// The position in ``sites`` of where each block was allocated.
  public private(set) var siteIndices: [UInt32] = []
  /// The position of each block in the order of allocation.
  public private(set) var orders: [UInt32] = []
  /// When each block was allocated.
  public private(set) var times: [EventTime] = []
  /// Where the blocks were allocated.
  public let sites: [Site]

  /// More blocks than this are left out: positions have 31 bits.
  static let greatestCount = Int(Int32.max)

  /// Sorts live blocks by address.
  ///
  /// - Parameters:
  ///   - blocks: In the order of allocation; of two with one address the later one counts.
  ///   - sites: What `site` of the blocks is a position in.
  public init(_ blocks: consuming LiveBlocks, sites: [Site]) {
    self.sites = sites
    orders = Self.order(of: blocks, sites)
    take(blocks)
    // The blocks themselves are gone: with them, this would be the most memory that is ever in use.
    _ = consume blocks
    setEnds()
  }

  /// The positions of the usable blocks by ascending address, each address once.
  private static func order(of blocks: LiveBlocks, _ sites: [Site]) -> [UInt32] {
    var order: [UInt32] = []
    order.reserveCapacity(min(blocks.count, greatestCount))
    for position in blocks.indices.prefix(greatestCount)
    where sites.indices.contains(blocks[position].site) {
      order.append(UInt32(truncatingIfNeeded: position))
    }
    order.sort { left, right in
      let (first, second) = (blocks[Int(left)].address, blocks[Int(right)].address)
      return first == second ? left > right : first < second
    }
    var last: Address?
    order.removeAll { position in
      defer { last = blocks[Int(position)].address }
      return blocks[Int(position)].address == last
    }
    return order
  }

  private mutating func take(_ blocks: borrowing LiveBlocks) {
    reserve(orders.count)
    for position in orders {
      let block = blocks[Int(position)]
      addresses.append(block.address.rawValue)
      sizes.append(block.size)
      siteIndices.append(UInt32(truncatingIfNeeded: block.site))
      times.append(block.time)
    }
  }

  /// How many blocks there are.
  public var count: Int { addresses.count }

  /// Where a block was allocated.
  public func site(of block: Int) -> Site { sites[Int(siteIndices[block])] }

  /// A block with everything that is known of it but its alignment.
  public func liveBlock(_ block: Int) -> LiveBlock {
    let site = site(of: block)
    return LiveBlock(
      address: Address(addresses[block]), size: sizes[block], operation: site.operation,
      stack: site.stack, thread: site.thread, time: times[block],
      site: Int(siteIndices[block]))
  }

  /// The position of the block that begins at an address.
  ///
  /// - Complexity: O(log *n*).
  public func block(at address: UInt64) -> Int? {
    let position = firstPosition(from: address)
    return position < count && addresses[position] == address ? position : nil
  }

  /// The position of the block that an address lies in.
  ///
  /// - Complexity: O(log *n*).
  public func block(containing address: UInt64) -> Int? {
    let next = firstPosition(from: address)
    if next < count, addresses[next] == address { return next }
    guard next > 0, address < ends[next - 1] else { return nil }
    return next - 1
  }

  /// The position of the first block that begins at an address or behind it.
  func firstPosition(from address: UInt64) -> Int {
    addresses.partitioningIndex { $0 >= address }
  }

  private mutating func reserve(_ count: Int) {
    addresses.reserveCapacity(count)
    ends.reserveCapacity(count)
    sizes.reserveCapacity(count)
    siteIndices.reserveCapacity(count)
    times.reserveCapacity(count)
  }

  private mutating func setEnds() {
    for index in addresses.indices {
      let (end, overflows) = addresses[index].addingReportingOverflow(Self.usable(sizes[index]))
      let next = index + 1 < addresses.count ? addresses[index + 1] : .max
      ends.append(min(overflows ? .max : end, next))
    }
  }

  /// What glibc's malloc makes usable of a request.
  ///
  /// Programs that ask `malloc_usable_size` keep pointers there. Other allocators round up to other sizes, but never to less than the request.
  static func usable(_ size: UInt64) -> UInt64 {
    guard size < 1 << 56 else { return size }
    return max(24, ((size + 8 + 15) & ~15) - 8)
  }
}
