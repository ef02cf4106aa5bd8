import TraceReader

/// A word of live memory that points into a block that was freed.
public struct DanglingPointer: Sendable {
  /// How sure it is that the program keeps the pointer, and that it means that block.
  ///
  /// Whether it is ever followed again, nobody can tell.
  public enum Confidence: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// It points to the beginning, and stands where the program must have written it while the holder lived: in a
    /// variable, or in a small block.
    case likely
    /// It may be what was left of something else: part of a large block, in which much is kept that counts no
    /// more; or it points into the middle.
    case possible
    /// It may well be a word that nobody has overwritten: on a stack, in a register, in the frames of async functions,
    /// in unused parts of arrays and of memory that the program manages itself.
    case doubtful

    /// The surest first.
    public static func < (left: Confidence, right: Confidence) -> Bool {
      left.rawValue < right.rawValue
    }
  }

  /// Greater blocks and variables are taken for arrays, and for memory that the program manages itself: of what they
  /// hold, only their owner knows whether it counts.
  public static let greatestStructure: UInt64 = 512

  /// What the word is in.
  public var holder: Reachability.Holder
  /// Where in the holding block it is, in bytes; 0 for roots.
  public var offset: UInt64
  /// The word.
  public var value: UInt64
  /// The block that it points into, with its allocation and its deallocation.
  public var freed: PastBlock
  /// Whether it points to the beginning of the block.
  public var isStart: Bool
  /// How sure all of this is.
  public var confidence: Confidence
}
