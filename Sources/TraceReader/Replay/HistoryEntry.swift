/// One event in the life of an address.
public struct HistoryEntry: Hashable, Sendable {
  /// The event; for an ended `realloc` there is one entry per half, for one that failed a single one.
  public var event: Event
  /// How many events of the trace came before it.
  public var eventIndex: UInt64
  /// The start of the block.
  public var block: Address
  /// Requested bytes of the block; nil when it is not known.
  public var blockSize: UInt64?
  /// How far the asked address is from the start of the block.
  public var offset: UInt64
  /// Whether the event came for a block that was not live: a double or invalid free.
  public var isUnexpected: Bool
}
