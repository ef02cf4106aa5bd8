/// A block that covered an address once, or does so still.
public struct PastBlock: BitwiseCopyable, Sendable {
  /// Where the block began.
  public internal(set) var address: UInt64 = 0
  /// Its requested bytes.
  public internal(set) var size: UInt64 = 0
  /// How many events came before its allocation.
  public internal(set) var begin: UInt64 = 0
  /// How many events came before its deallocation; `.max` while it is live.
  public internal(set) var end: UInt64 = .max
  /// How many events came before the first allocation of a block that covered the address; `.max` when none did.
  public internal(set) var firstBegin: UInt64 = .max
  private var beginTime: UInt64 = 0
  private var endTime: UInt64 = 0
  private var beginStack: UInt32 = 0
  private var endStack: UInt32 = 0
  private var beginThread: UInt32 = 0
  private var endThread: UInt32 = 0
  private var beginOperation: UInt8 = 0
  private(set) var endOperation: UInt8 = 0

  /// None yet.
  init() {}

  /// Whether any block has covered the address.
  public var isKnown: Bool { firstBegin != .max }

  /// Whether the block was deallocated.
  public var isFreed: Bool { isKnown && end != .max }

  /// Whether no other block has covered the address before.
  public var isFirst: Bool { firstBegin == begin }

  /// Who allocated it.
  public var allocation: MemoryError.EventSite {
    MemoryError.EventSite(
      operation: Operation(rawValue: beginOperation), stack: StackID(beginStack),
      thread: ThreadIndex(beginThread), time: EventTime(beginTime))
  }

  /// Who deallocated it; of no meaning while it is live.
  public var deallocation: MemoryError.EventSite {
    MemoryError.EventSite(
      operation: Operation(rawValue: endOperation), stack: StackID(endStack),
      thread: ThreadIndex(endThread), time: EventTime(endTime))
  }

  /// Takes over the block of an allocation.
  mutating func begin(
    _ event: RawEvent, _ operation: UInt8, _ stack: UInt32, thread: UInt32, index: UInt64
  ) {
    (address, size, begin, end) = (event.address, event.size, index, .max)
    (beginTime, beginStack, beginThread) = (event.time, stack, thread)
    beginOperation = operation
    firstBegin = min(firstBegin, index)
  }

  /// Notes that the block was deallocated.
  mutating func finish(_ event: RawEvent, thread: UInt32, index: UInt64) {
    (endTime, endStack, endThread) = (event.time, event.stack, thread)
    (endOperation, end) = (event.operation, index)
  }

  /// Takes the deallocation back.
  mutating func revive() { end = .max }
}

/// The last block that covered each of some addresses, up to a moment.
public struct PastBlocks: Sendable {
  /// The addresses, ascending and each once.
  public let addresses: [UInt64]
  /// What is known of each address, in their order.
  public let blocks: [PastBlock]
  /// Whether the events were looked at to the end: in a damaged trace, each of millions of blocks can cover all
  /// addresses.
  public let isComplete: Bool

  /// What is known of an address; nothing for one that was not asked for.
  public func block(covering address: UInt64) -> PastBlock {
    position(of: address).map { blocks[$0] } ?? PastBlock()
  }

  /// The position of an address that was asked for.
  ///
  /// - Complexity: O(log *n*).
  public func position(of address: UInt64) -> Int? {
    let position = addresses.partitioningIndex { $0 >= address }
    return position < addresses.count && addresses[position] == address ? position : nil
  }
}
