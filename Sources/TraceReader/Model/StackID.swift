import CTraceFormat

/// Names an interned backtrace: the ID of its leaf node in the ``StackTable``.
public struct StackID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number that stands in the trace.
  public var rawValue: UInt32

  /// Takes the number that stands in the trace.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Creates an ID from its number.
  public init(_ rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// No backtrace was taken.
  public static let none = StackID(MT_STACK_NONE)

  /// The caller of the outermost known frame of a backtrace that lacks its root.
  public static let cut = StackID(MT_STACK_CUT)

  /// The first ID that a node can have.
  public static let first = StackID(MT_STACK_FIRST)

  /// `#` and the number.
  public var description: String { "#\(rawValue)" }

  /// Compares by number.
  public static func < (left: StackID, right: StackID) -> Bool {
    left.rawValue < right.rawValue
  }
}
