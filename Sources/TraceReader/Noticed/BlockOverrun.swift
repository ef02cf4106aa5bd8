import CTraceFormat

/// A block beside which was written: into the redzone behind it (`record --redzones`), or to what else
/// of its pages is not its own (`record --guard`).
public struct BlockOverrun: Hashable, Sendable {
  /// When it was found.
  public enum Discovery: String, Hashable, Sendable, Codable {
    /// When the block was freed, or passed to `realloc`.
    case free
    /// At the end of the process; the block was live then.
    case end
    /// At a mark of the program; the block was live then.
    case mark
  }

  /// Where the block begins.
  public var block: Address
  /// Requested bytes of the block.
  public var size: UInt64
  /// From the block's start to the first changed byte: behind it, or below 0 in front of it.
  public var offset: Int64
  /// Bytes from there to the end of the last changed one, as far as the redzone goes.
  public var length: UInt64
  /// When it was found.
  public var found: Discovery
  /// Who found it; not who wrote.
  public var thread: ThreadIndex
  /// When it was noticed.
  public var time: EventTime

  /// Creates an overrun.
  public init(
    block: Address, size: UInt64, offset: Int64, length: UInt64, found: Discovery,
    thread: ThreadIndex, time: EventTime
  ) {
    self.block = block
    self.size = size
    self.offset = offset
    self.length = length
    self.found = found
    self.thread = thread
    self.time = time
  }
}

extension BlockOverrun {
  /// Whether the bytes lie in front of the block, not behind it.
  public var isInFront: Bool { offset < 0 }

  /// What was done, in place of an operation.
  public var operation: Operation { isInFront ? .underrun : .overrun }

  /// Decodes what follows the record's header; nil for a kind that this version does not know.
  init?(decoding cursor: inout ByteCursor) {
    time = EventTime(cursor.read())
    block = Address(cursor.read())
    size = cursor.read()
    offset = Int64(bitPattern: cursor.read())
    length = cursor.read()
    let kind: UInt32 = cursor.read()
    thread = ThreadIndex(cursor.read())
    guard !cursor.isPastEnd else { return nil }
    switch kind {
    case MT_OVERRUN_AT_FREE.rawValue: found = .free
    case MT_OVERRUN_AT_END.rawValue: found = .end
    case MT_OVERRUN_AT_MARK.rawValue: found = .mark
    default: return nil
    }
  }
}
