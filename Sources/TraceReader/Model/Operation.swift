import CTraceFormat

/// What an event did: the allocator function that was called, or a control code of the format.
public struct Operation: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number that stands in the trace.
  public var rawValue: UInt8

  /// Takes the number that stands in the trace.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Whether an operation begins or ends the life of a block.
  public enum Kind: Sendable {
    /// Returns a block.
    case allocation
    /// Ends the life of a block.
    case deallocation
    /// Anything else: the halves of `realloc`, failed allocations, changes of thread.
    case control
    /// A code that this version of the reader does not know.
    case unknown
  }

  /// Set in the codes of the Swift runtime's calls, which no event of a block has.
  private static let refcountBit: UInt8 = 0x80

  /// A call that changes the reference count of an object, in place of an operation on a block.
  public init(_ call: RefcountEvent.Call) {
    rawValue = Self.refcountBit | call.rawValue
  }

  /// The call that changes a reference count; nil for operations on blocks.
  public var refcountCall: RefcountEvent.Call? {
    guard rawValue & Self.refcountBit != 0 else { return nil }
    return RefcountEvent.Call(rawValue: rawValue & ~Self.refcountBit)
  }

  /// A use of a freed block: nothing that a function of the allocator was told of.
  public static let useOfFreed = Operation(rawValue: 0xff)

  /// A write behind the end of a block: likewise.
  public static let overrun = Operation(rawValue: 0xfe)

  /// A write in front of a block: likewise.
  public static let underrun = Operation(rawValue: 0xfc)

  /// An access beside a block: likewise.
  public static let outOfBounds = Operation(rawValue: 0xfd)

  /// The name of the function as users know it, such as `operator new[](nothrow)`.
  public var name: String {
    if let refcountCall { return refcountCall.name }
    if self == .useOfFreed { return "use of a freed block" }
    if self == .overrun { return "write past the end of a block" }
    if self == .underrun { return "write in front of a block" }
    if self == .outOfBounds { return "access outside of a block" }
    guard let name = mt_operation_info(rawValue).name else { return "unknown" }
    return String(cString: name)
  }

  /// Which deallocation functions go with which allocation functions.
  public var family: AllocatorFamily {
    AllocatorFamily(rawValue: mt_operation_info(rawValue).family) ?? .malloc
  }

  /// Whether it is an `operator new`, for one object or several, which is where C++ names a type.
  public var isOperatorNew: Bool {
    kind == .allocation && family != .malloc && family != .announced
  }

  /// Whether the operation begins or ends the life of a block.
  public var kind: Kind {
    switch UInt32(mt_operation_info(rawValue).operation_class) {
    case MT_CLASS_ALLOCATION.rawValue: .allocation
    case MT_CLASS_DEALLOCATION.rawValue: .deallocation
    case MT_CLASS_CONTROL.rawValue: .control
    default: .unknown
    }
  }

  /// Whether a deallocation says the size of its block; allocations always do.
  public var hasSize: Bool { mt_operation_info(rawValue).has_size != 0 }

  /// Whether the operation says an alignment.
  public var hasAlignment: Bool { mt_operation_info(rawValue).has_alignment != 0 }

  /// Its name.
  public var description: String { name }

  init(_ code: mt_operation) {
    rawValue = UInt8(truncatingIfNeeded: code.rawValue)
  }

  /// `malloc`.
  public static let malloc = Operation(MT_OP_MALLOC)
  /// `calloc`.
  public static let calloc = Operation(MT_OP_CALLOC)
  /// `realloc`, also of a block that existed.
  public static let realloc = Operation(MT_OP_REALLOC)
  /// `free`.
  public static let free = Operation(MT_OP_FREE)
  /// The program's own allocator has handed out a block.
  public static let announced = Operation(MT_OP_ANNOUNCED)
  /// The program's own allocator has taken a block back.
  public static let announcedEnd = Operation(MT_OP_ANNOUNCED_END)
  /// The deallocating half of `realloc`.
  public static let reallocBegin = Operation(MT_OP_REALLOC_BEGIN)
  /// The allocating half of `realloc`.
  public static let reallocEnd = Operation(MT_OP_REALLOC_END)
  /// A `realloc` that returned NULL: the old block lives on.
  public static let reallocFail = Operation(MT_OP_REALLOC_FAIL)
  /// A `realloc` whose new block is not in the sample; the old one, which was, is gone.
  public static let reallocLeft = Operation(MT_OP_REALLOC_LEFT)
  /// An allocation that returned NULL.
  public static let failed = Operation(MT_OP_FAILED)
  /// What follows is of another thread.
  public static let thread = Operation(MT_OP_THREAD)
}

/// Allocator functions whose blocks are ended by the same deallocation functions.
public enum AllocatorFamily: UInt8, Hashable, Sendable, CaseIterable {
  /// `malloc`, `calloc`, `free` and so on.
  case malloc = 1
  /// `operator new` and `operator delete`.
  case new = 2
  /// The forms of `new` and `delete` with an alignment.
  case newAligned = 3
  /// `operator new[]` and `operator delete[]`.
  case newArray = 4
  /// The forms of `new[]` and `delete[]` with an alignment.
  case newArrayAligned = 5
  /// An allocator of the program, which announces its blocks.
  case announced = 6
}
