/// A thread of the traced process.
///
/// Source: `THREAD` records.
public struct ThreadInfo: Hashable, Sendable {
  /// The recorder's index of the thread.
  public var index: ThreadIndex
  /// The kernel's thread ID; the kernel may reuse it.
  public var tid: UInt32
  /// The last name the thread had; empty when it never had one.
  public var name: String
  /// When the recorder first saw the thread.
  public var began: EventTime
  /// When the thread ended; nil when it did not, or nobody saw it.
  public var ended: EventTime?

  /// Creates a thread description.
  public init(
    index: ThreadIndex, tid: UInt32, name: String, began: EventTime, ended: EventTime? = nil
  ) {
    self.index = index
    self.tid = tid
    self.name = name
    self.began = began
    self.ended = ended
  }
}
