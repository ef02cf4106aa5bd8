import TraceReader

/// The blocks that were live at a snapshot, by ascending address.
///
/// Those that the program's own allocators announced come behind all others, see ``Pools``. A block is known by
/// its position. 32 bytes per block, no object per block: a heap may well have
/// ten million of them.
public struct HeapBlocks: Sendable {
  /// Where the blocks were allocated.
  public let sites: [Site]
  private let blocks: LiveBlocksByAddress
  private var rounding = BlockRounding.glibc
  /// What announced blocks lie in; nil where there is none.
  let pools: Pools?

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
    pools = self.blocks.recordedCount < self.blocks.count ? Pools(self.blocks) : nil
  }

  /// How many blocks there are.
  public var count: Int { blocks.count }

  /// How many of them were not announced: they come first.
  var recordedCount: Int { blocks.recordedCount }

  /// Whether an allocator of the program has announced a block.
  public func isAnnounced(_ block: Int) -> Bool { block >= blocks.recordedCount }

  /// Where a block begins.
  @inline(__always)
  public func address(of block: Int) -> UInt64 { blocks.address(of: block) }

  /// The requested bytes of a block.
  @inline(__always)
  public func size(of block: Int) -> UInt64 { blocks.size(of: block) }

  /// The bytes that count for a block: those that no announced block has which lies in it.
  public func ownBytes(of block: Int) -> UInt64 { blocks.ownBytes(of: block) }

  /// One past the last byte that belongs to a block and to no other block of its allocator: what the allocator rounded it up to if
  /// that is known, but never beyond the beginning of the next block.
  @inline(__always)
  public func end(of block: Int) -> UInt64 {
    end(of: block, length: rounding.certain(size(of: block)))
  }

  /// One past the last byte of a block that a program may use which asks how many there are.
  ///
  /// - Parameters:
  ///   - block: The block.
  ///   - hasLeftover: Whether the allocator has left more with it, because it was too little for another one.
  /// - Returns: The address.
  func usableEnd(of block: Int, hasLeftover: Bool = false) -> UInt64 {
    let more = hasLeftover ? rounding.greatestLeftover : 0
    return end(of: block, length: rounding.usable(size(of: block)) &+ more)
  }

  @inline(__always)
  private func end(of block: Int, length: UInt64) -> UInt64 {
    if block >= recordedCount { return Pools.end(of: block, blocks) }
    let (end, overflows) = address(of: block).addingReportingOverflow(length)
    let next = block &+ 1 < recordedCount ? address(of: block &+ 1) : .max
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
    var live = LiveBlock(
      address: Address(address(of: block)), size: size(of: block), operation: site.operation,
      stack: site.stack, thread: site.thread, time: time(of: block),
      site: siteIndex(of: block))
    live.ownBytes = ownBytes(of: block)
    return live
  }

  /// The blocks that begin at an address: an announced one before the one that it lies in.
  ///
  /// - Complexity: O(log *n*).
  public func blocks(at address: UInt64) -> [Int] {
    let recorded = firstPosition(from: address)
    let announced = pools.map { $0.firstAnnounced(from: address, blocks) } ?? count
    return [announced < count ? announced : nil, recorded < recordedCount ? recorded : nil]
      .compactMap { $0 }.filter { self.address(of: $0) == address }
  }

  /// The position of the block that begins at an address.
  ///
  /// - Complexity: O(log *n*).
  public func block(at address: UInt64) -> Int? { blocks(at: address).first }

  /// The position of the block that an address lies in: the innermost one.
  ///
  /// - Complexity: O(log *n*).
  public func block(containing address: UInt64) -> Int? {
    pools?.announced(containing: address, blocks) ?? recorded(containing: address)
  }

  /// The position of the block that was not announced that an address lies in.
  func recorded(containing address: UInt64) -> Int? {
    let next = firstPosition(from: address)
    if next < recordedCount, self.address(of: next) == address { return next }
    guard next > 0, address < end(of: next - 1) else { return nil }
    return next - 1
  }

  /// The position of the first block that was not announced and begins at an address or behind it.
  func firstPosition(from address: UInt64) -> Int {
    (0..<recordedCount).partitioningIndex { self.address(of: $0) >= address }
  }

  /// Of an announced block and those around it the first that holds an address, which is not before it.
  func innermost(_ block: Int, at address: UInt64) -> Int? {
    pools?.innermost(block, at: address, blocks)
  }

  /// The block that an announced one lies in; nil for others, and where none is known.
  @inline(__always)
  func pool(of block: Int) -> Int? {
    guard let pools else { return nil }
    return pools.pool(of: block)
  }

  /// Whether announced blocks lie in a block.
  @inline(__always)
  func holdsAnnounced(_ block: Int) -> Bool { pools.map { $0.isPool[block] } ?? false }

  /// The announced blocks that lie in a block, but for those that lie in one of them, by ascending address.
  func contents(of block: Int) -> [Int] {
    guard let pools, pools.isPool[block] else { return [] }
    return pools.contents(of: block, address(of: block)..<end(of: block), blocks)
  }

  /// Visits the parts of a range of memory that no announced block has.
  ///
  /// - Parameters:
  ///   - range: The range.
  ///   - block: The block that it is of; the announced ones that this one lies in do not count. nil for memory
  ///     outside of blocks.
  ///   - body: Called with each part, in ascending order.
  func forEachPart(
    of range: Range<UInt64>, in block: Int?, _ body: (Range<UInt64>) -> Void
  ) {
    guard let pools else { return body(range) }
    pools.forEachPart(of: range, in: block, blocks, body)
  }
}
