import TraceReader

/// The blocks that were live at a snapshot, by ascending address.
///
/// A block is known by its position. 32 bytes per block, no object per block: a heap may well have
/// ten million of them.
public struct HeapBlocks: Sendable {
  /// Where the blocks were allocated.
  public let sites: [Site]
  private let blocks: LiveBlocksByAddress
  private var rounding = BlockRounding.glibc

  /// More blocks than this are left out: positions have 31 bits.
  static let greatestCount = Int(Int32.max)

  /// Sorts live blocks by address.
  ///
  /// - Parameters:
  ///   - blocks: In the order of allocation; of two with one address the later one counts. They are
  ///     sorted in place if nothing else has them.
  ///   - sites: What `site` of the blocks is a position in.
  public init(_ blocks: consuming LiveBlocks, sites: [Site]) {
    self.sites = sites
    self.blocks = blocks.byAddress(siteCount: sites.count, limit: Self.greatestCount)
  }

  /// How many blocks there are.
  public var count: Int { blocks.count }

  /// Where a block begins.
  @inline(__always)
  public func address(of block: Int) -> UInt64 { blocks.address(of: block) }

  /// The requested bytes of a block.
  @inline(__always)
  public func size(of block: Int) -> UInt64 { blocks.size(of: block) }

  /// One past the last byte that belongs to a block and to no other: what the allocator rounded it up to if
  /// that is known, but never beyond the beginning of the next block.
  @inline(__always)
  public func end(of block: Int) -> UInt64 {
    end(of: block, length: rounding.certain(size(of: block)))
  }

  /// One past the last byte of a block that a program may use which asks how many there are.
  func usableEnd(of block: Int) -> UInt64 {
    end(of: block, length: rounding.usable(size(of: block)))
  }

  @inline(__always)
  private func end(of block: Int, length: UInt64) -> UInt64 {
    let (end, overflows) = address(of: block).addingReportingOverflow(length)
    let next = block &+ 1 < count ? address(of: block &+ 1) : .max
    return min(overflows ? .max : end, next)
  }

  /// What is certain of the extent of each block by itself.
  var extent: BlockExtent { rounding.extent }

  /// Takes the blocks for those of an allocator that nothing is known of.
  mutating func learnRounding() { rounding = BlockRounding(learnedFrom: blocks) }

  /// When a block was allocated.
  public func time(of block: Int) -> EventTime { blocks.time(of: block) }

  /// The position of a block in the order of allocation.
  public func order(of block: Int) -> UInt32 { blocks.order(of: block) }

  /// The position in ``sites`` of where a block was allocated.
  @inline(__always)
  public func siteIndex(of block: Int) -> Int { blocks.siteIndex(of: block) }

  /// Where a block was allocated.
  public func site(of block: Int) -> Site { sites[siteIndex(of: block)] }

  /// A block with everything that is known of it but its alignment.
  public func liveBlock(_ block: Int) -> LiveBlock {
    let site = site(of: block)
    return LiveBlock(
      address: Address(address(of: block)), size: size(of: block), operation: site.operation,
      stack: site.stack, thread: site.thread, time: time(of: block),
      site: siteIndex(of: block))
  }

  /// The position of the block that begins at an address.
  ///
  /// - Complexity: O(log *n*).
  public func block(at address: UInt64) -> Int? {
    let position = firstPosition(from: address)
    return position < count && self.address(of: position) == address ? position : nil
  }

  /// The position of the block that an address lies in.
  ///
  /// - Complexity: O(log *n*).
  public func block(containing address: UInt64) -> Int? {
    let next = firstPosition(from: address)
    if next < count, self.address(of: next) == address { return next }
    guard next > 0, address < end(of: next - 1) else { return nil }
    return next - 1
  }

  /// The position of the first block that begins at an address or behind it.
  func firstPosition(from address: UInt64) -> Int {
    (0..<count).partitioningIndex { self.address(of: $0) >= address }
  }
}
