import CTraceFormat

/// What a program was about to do with memory when it was stopped.
public struct MemoryAccess: Hashable, Sendable {
  /// Reading, writing or executing.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// Bytes were to be read.
    case read
    /// Bytes were to be written.
    case write
    /// Code was to be executed.
    case execute
    /// The processor does not tell.
    case unknown
  }

  /// What was to be done.
  public var kind: Kind
  /// From the block's start to the first byte that could not be accessed; below 0 in front of it.
  public var offset: Int64
  /// Which signal stopped it.
  public var signal: Int32

  /// Creates an access.
  public init(kind: Kind, offset: Int64, signal: Int32) {
    self.kind = kind
    self.offset = offset
    self.signal = signal
  }
}

/// An access beside a guarded block, or to a freed one (`record --guard`).
public struct GuardedAccess: Hashable, Sendable {
  /// Where the block begins.
  public var block: Address
  /// Requested bytes of the block.
  public var size: UInt64
  /// Whether the block had been freed.
  public var isFreed: Bool
  /// What was to be done, and where.
  public var access: MemoryAccess
  /// Who was about to do it.
  public var thread: ThreadIndex
  /// Its stack.
  public var stack: StackID
  /// When it was stopped.
  public var time: EventTime

  /// Creates an access.
  public init(
    block: Address, size: UInt64, isFreed: Bool, access: MemoryAccess, thread: ThreadIndex,
    stack: StackID, time: EventTime
  ) {
    self.block = block
    self.size = size
    self.isFreed = isFreed
    self.access = access
    self.thread = thread
    self.stack = stack
    self.time = time
  }
}

extension GuardedAccess {
  /// Decodes what follows the record's header; nil for what does not fit into it.
  init?(decoding cursor: inout ByteCursor) {
    time = EventTime(cursor.read())
    block = Address(cursor.read())
    size = cursor.read()
    let address: UInt64 = cursor.read()
    let (kind, isFreed): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let signal: UInt32 = cursor.read()
    thread = ThreadIndex(cursor.read())
    stack = StackID(cursor.read(UInt32.self))
    guard !cursor.isPastEnd else { return nil }
    self.isFreed = isFreed != 0
    access = MemoryAccess(
      kind: MemoryAccess.Kind(code: kind),
      offset: Int64(bitPattern: address &- block.rawValue),
      signal: Int32(truncatingIfNeeded: signal))
  }
}

extension MemoryAccess.Kind {
  init(code: UInt32) {
    switch code {
    case MT_ACCESS_READ.rawValue: self = .read
    case MT_ACCESS_WRITE.rawValue: self = .write
    case MT_ACCESS_EXECUTE.rawValue: self = .execute
    default: self = .unknown
    }
  }
}
