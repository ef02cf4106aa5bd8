/// The program has said that a block is not to be reported as leaked, nor what only it holds.
///
/// Source: `mt_ignored_record`.
public struct IgnoredBlock: Hashable, Sendable {
  /// When.
  public var time: EventTime
  /// An address in the block, which is the one that was live there.
  public var address: Address
  /// The thread that said so.
  public var thread: ThreadIndex

  /// Creates one.
  public init(time: EventTime, address: Address, thread: ThreadIndex) {
    (self.time, self.address, self.thread) = (time, address, thread)
  }

  /// Decodes the fields behind the header of a record; nil when they do not fit into it.
  init?(decoding cursor: inout ByteCursor) {
    time = EventTime(cursor.read())
    address = Address(cursor.read())
    thread = ThreadIndex(cursor.read(UInt32.self))
    cursor.skip(4)
    if cursor.isPastEnd { return nil }
  }
}
