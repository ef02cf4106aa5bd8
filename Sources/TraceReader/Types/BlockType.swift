import CTraceFormat

/// Names a type of this trace: the number in its `TYPE` record.
public struct TypeID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number that stands in the trace.
  public var rawValue: UInt32

  /// Takes the number that stands in the trace.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Compares by number.
  public static func < (left: TypeID, right: TypeID) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The type of a block, as the recorder read it from what the block's first word points to.
///
/// Source: `TYPE` records.
public struct BlockType: Hashable, Sendable {
  /// Where the type comes from, which decides how its name is written.
  public enum Kind: Hashable, Sendable {
    /// A Swift class; the name is dotted, with generic arguments.
    case swiftClass
    /// A Swift box of one value; the name is that of its type.
    case swiftBox
    /// A Swift closure context; the name is `[MANGLED]` for each captured value.
    case swiftCaptures
    /// A Swift box of an error; the name is that of its type.
    case swiftError
    /// A task of Swift concurrency; without a name.
    case swiftTask
    /// A job of Swift concurrency; without a name.
    case swiftJob
    /// A C++ class with run-time type information; the name is mangled.
    case cxxClass
    /// Perhaps a C++ class without it: the symbol 16 bytes before the word names it.
    case cxxVTable
    /// A kind that this version of the reader does not know.
    case unknown(UInt32)

    /// Whether its blocks are objects of the Swift runtime.
    public var isSwift: Bool {
      switch self {
      case .swiftClass, .swiftBox, .swiftCaptures, .swiftError, .swiftTask, .swiftJob: true
      case .cxxClass, .cxxVTable, .unknown: false
      }
    }

    init(code: UInt32) {
      switch code {
      case MT_TYPE_SWIFT_CLASS.rawValue: self = .swiftClass
      case MT_TYPE_SWIFT_BOX.rawValue: self = .swiftBox
      case MT_TYPE_SWIFT_CAPTURES.rawValue: self = .swiftCaptures
      case MT_TYPE_SWIFT_ERROR.rawValue: self = .swiftError
      case MT_TYPE_SWIFT_TASK.rawValue: self = .swiftTask
      case MT_TYPE_SWIFT_JOB.rawValue: self = .swiftJob
      case MT_TYPE_CXX_CLASS.rawValue: self = .cxxClass
      case MT_TYPE_CXX_VTABLE.rawValue: self = .cxxVTable
      default: self = .unknown(code)
      }
    }
  }

  /// Its number.
  public var id: TypeID
  /// Where it comes from.
  public var kind: Kind
  /// The name as recorded, see ``Kind``.
  public var name: String
  /// The first words of its blocks; none when it is only known as a base class.
  public var words: [UInt64]
  /// The address of its `type_info` or context descriptor, for boxes of the metadata of what they
  /// hold; 0 when it has none.
  public var definition: Address
  /// The size of a Swift class's instances without what is allocated behind them; else 0.
  public var instanceSize: UInt64
  /// The first base class of a C++ class.
  public var base: TypeID?
  /// When it was first seen.
  public var time: EventTime

  /// Creates a type.
  public init(
    id: TypeID, kind: Kind, name: String, words: [UInt64] = [], definition: Address = Address(0),
    instanceSize: UInt64 = 0, base: TypeID? = nil, time: EventTime = .distantPast
  ) {
    self.id = id
    self.kind = kind
    self.name = name
    self.words = words
    self.definition = definition
    self.instanceSize = instanceSize
    self.base = base
    self.time = time
  }
}

/// A block of a known type, allocated with a known stack.
///
/// Source: `TYPED` records; there is one for each combination, however often it was seen.
public struct TypeSighting: Hashable, Sendable {
  /// When the first word was read.
  public enum Evidence: Hashable, Sendable {
    /// A while after the allocation, when constructors had run.
    case settled
    /// When the block was freed, by which time C++ destructors may have put a base's word there.
    case freed

    init?(code: UInt32) {
      switch code {
      case MT_TYPE_SETTLED.rawValue: self = .settled
      case MT_TYPE_FREED.rawValue: self = .freed
      default: return nil
      }
    }
  }

  /// The backtrace of the allocation.
  public var stack: StackID
  /// Requested bytes.
  public var size: UInt64
  /// The type.
  public var type: TypeID
  /// When the word was read.
  public var evidence: Evidence
  /// The backtrace of the deallocation, where the word was read then.
  public var freeStack: StackID

  /// Creates a sighting.
  public init(
    stack: StackID, size: UInt64, type: TypeID, evidence: Evidence = .settled,
    freeStack: StackID = .none
  ) {
    self.stack = stack
    self.size = size
    self.type = type
    self.evidence = evidence
    self.freeStack = freeStack
  }
}
