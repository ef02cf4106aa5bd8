import CTraceFormat

/// The use of a freed block that was kept back from its allocator (`record --zombies`).
public struct ZombieUse: Hashable, Sendable {
  /// How the use showed.
  public enum Evidence: Hashable, Sendable {
    /// Words of the block had changed: from the first to the end of the last of them.
    case written(offset: UInt64, length: UInt64, when: Discovery)
    /// What was read from the block was followed, which this signal ended, from this stack.
    case followed(signal: Int32, stack: StackID)
  }

  /// When a change was found.
  public enum Discovery: String, Hashable, Sendable, Codable {
    /// When the block went back to its allocator.
    case release
    /// At the end of the process.
    case end
    /// At a mark of the program.
    case mark
  }

  /// Where the block begins; it is the one that was freed there last before `time`.
  public var block: Address
  /// How the use showed.
  public var evidence: Evidence
  /// Who found the change, or got the signal; not who wrote.
  public var thread: ThreadIndex
  /// When it was noticed.
  public var time: EventTime

  /// Creates a use.
  public init(block: Address, evidence: Evidence, thread: ThreadIndex, time: EventTime) {
    self.block = block
    self.evidence = evidence
    self.thread = thread
    self.time = time
  }
}

extension ZombieUse {
  /// Decodes what follows the record's header; nil for a kind that this version does not know.
  init?(decoding cursor: inout ByteCursor) {
    time = EventTime(cursor.read())
    block = Address(cursor.read())
    let (offset, length): (UInt64, UInt64) = (cursor.read(), cursor.read())
    let (kind, signal): (UInt32, UInt32) = (cursor.read(), cursor.read())
    thread = ThreadIndex(cursor.read())
    let stack: UInt32 = cursor.read()
    guard !cursor.isPastEnd else { return nil }
    switch kind {
    case MT_ZOMBIE_WRITTEN.rawValue:
      evidence = .written(offset: offset, length: length, when: .release)
    case MT_ZOMBIE_WRITTEN_AT_END.rawValue:
      evidence = .written(offset: offset, length: length, when: .end)
    case MT_ZOMBIE_WRITTEN_AT_MARK.rawValue:
      evidence = .written(offset: offset, length: length, when: .mark)
    case MT_ZOMBIE_USED.rawValue:
      evidence = .followed(signal: Int32(truncatingIfNeeded: signal), stack: StackID(stack))
    default: return nil
    }
  }
}
