import CTraceFormat

/// A word that the program gave to the kernel, and gets back with what it waits for.
public struct KernelWord: Hashable, Sendable {
  /// What brings it back.
  public enum Source: Hashable, Sendable {
    /// An event of the epoll instance with this descriptor.
    case epoll(descriptor: UInt32)
    /// The signal of a timer, with the number that the kernel gave it.
    case timer(number: UInt32)
    /// What this version of the reader does not know.
    case unknown(UInt32)
  }

  /// What brings it back.
  public var source: Source
  /// The word: a pointer, perhaps.
  public var value: UInt64

  /// Creates a word.
  public init(_ source: Source, value: UInt64) {
    self.source = source
    self.value = value
  }

  init(kind: UInt32, number: UInt32, value: UInt64) {
    self.value = value
    source =
      switch kind {
      case MT_SNAPSHOT_EPOLL.rawValue: .epoll(descriptor: number)
      case MT_SNAPSHOT_TIMER.rawValue: .timer(number: number)
      default: .unknown(kind)
      }
  }
}
