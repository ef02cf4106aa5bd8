import CTraceFormat

/// The recorder's index of a thread: 1, 2, 3 … in order of appearance, never reused.
///
/// This is not the kernel's thread ID, which may be reused; see ``ThreadInfo/tid``.
public struct ThreadIndex: RawRepresentable, Hashable, Comparable, Sendable,
  CustomStringConvertible
{
  /// The number that stands in the trace.
  public var rawValue: UInt32

  /// Takes the number that stands in the trace.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Creates an index from its number.
  public init(_ rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// No thread of the process: its events are the recorder's own and are left out of all figures.
  public static let recorder = ThreadIndex(MT_THREAD_RECORDER)

  /// `T` and the number.
  public var description: String { "T\(rawValue)" }

  /// Compares by number.
  public static func < (left: ThreadIndex, right: ThreadIndex) -> Bool {
    left.rawValue < right.rawValue
  }
}
