/// Blocks that were live when a replay stopped, in order of allocation: 32 bytes each.
///
/// A ``LiveBlock`` is put together when it is asked for; a heap may well have a hundred million of
/// them.
public struct LiveBlocks: Sendable {
  /// What all blocks of a site have in common.
  struct Origin: Hashable, Sendable {
    var site: Int
    var operation: Operation
    var stack: StackID
    var thread: ThreadIndex
  }

  private(set) var storage: LiveEntries
  /// What `site` of the entries is a position in.
  let origins: [Origin]
  /// For each block that announced ones lie in, by its key, how many of its bytes these have.
  private(set) var handedOut: [UInt64: UInt64] = [:]

  /// No blocks.
  public init() {
    self.init([])
  }

  /// Some blocks, which stay in their order.
  public init(_ blocks: some Collection<LiveBlock>) {
    var numbers: [Origin: UInt32] = [:]
    var origins: [Origin] = []
    var entries = LiveEntries.Builder(capacity: blocks.count)
    for block in blocks {
      let origin = Origin(
        site: block.site, operation: block.operation, stack: block.stack, thread: block.thread)
      let number = numbers[origin] ?? UInt32(truncatingIfNeeded: origins.count)
      if number == origins.count {
        numbers[origin] = number
        origins.append(origin)
      }
      entries.append(
        LiveEntry(
          address: BlockKey.of(block.address, block.operation), size: block.size,
          alignment: block.alignment,
          time: block.time.rawValue, site: number, serial: 0))
    }
    storage = entries.finished()
    self.origins = origins
  }

  /// The blocks of a replay.
  ///
  /// - Parameters:
  ///   - entries: The live ones; `site` is a position in `sites`.
  ///   - sites: The sites of the result.
  ///   - handedOut: For each block that announced ones lie in, by its key, how many bytes these have.
  init(_ entries: LiveEntries, sites: [Site], handedOut: [UInt64: UInt64] = [:]) {
    storage = entries
    self.handedOut = handedOut
    origins = sites.enumerated().map { position, site in
      Origin(
        site: position, operation: site.operation, stack: site.stack, thread: site.thread)
    }
  }

  private init(_ storage: LiveEntries, of blocks: LiveBlocks) {
    (self.storage, origins, handedOut) = (storage, blocks.origins, blocks.handedOut)
  }

  /// Only some of the blocks, as small as these.
  public func filtered(_ isWanted: (LiveBlock) throws -> Bool) rethrows -> LiveBlocks {
    var entries = LiveEntries.Builder(capacity: count)
    for position in indices where try isWanted(self[position]) {
      entries.append(storage.entries[position])
    }
    return LiveBlocks(entries.finished(), of: self)
  }
}

extension LiveBlocks: RandomAccessCollection {
  /// 0, always.
  public var startIndex: Int { 0 }

  /// How many blocks there are.
  public var endIndex: Int { storage.entries.count }

  /// The block at a position.
  public subscript(position: Int) -> LiveBlock {
    let entry = storage.entries[position]
    let origin = origins[Int(entry.site)]
    var block = LiveBlock(
      address: BlockKey.address(of: entry.address, origin.operation), size: entry.size,
      alignment: entry.alignment,
      operation: origin.operation, stack: origin.stack, thread: origin.thread,
      time: EventTime(entry.time), site: origin.site)
    if !handedOut.isEmpty {
      block.ownBytes &-= Swift.min(handedOut[entry.address] ?? 0, entry.size)
    }
    return block
  }
}

extension LiveBlocks: Equatable {
  /// Compares all blocks and their order.
  public static func == (left: LiveBlocks, right: LiveBlocks) -> Bool {
    left.elementsEqual(right)
  }
}

extension LiveBlocks: ExpressibleByArrayLiteral {
  /// Blocks that are written down one by one.
  public init(arrayLiteral blocks: LiveBlock...) {
    self.init(blocks)
  }
}
