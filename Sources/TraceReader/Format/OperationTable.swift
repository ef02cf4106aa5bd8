import CTraceFormat

/// The operations of the format as bit sets and a table: what the event path needs of them.
///
/// A value of this type is copied to where it is used; a global would cost a check per event.
struct OperationTable {
  /// Bit *n* is set when the operation with code *n* begins the life of a block.
  private(set) var allocations: UInt64 = 0
  /// Bit *n* is set when the operation with code *n* ends the life of a block.
  private(set) var deallocations: UInt64 = 0
  /// Deallocations that carry a size.
  private(set) var sized: UInt64 = 0
  /// Allocations and deallocations that carry an alignment.
  private(set) var aligned: UInt64 = 0
  /// For each family, the operations that belong to it.
  private(set) var family: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
    (0, 0, 0, 0, 0, 0, 0)

  /// - Parameter isOneFamily: Whether any deallocation is right for any allocation.
  init(isOneFamily: Bool = false) {
    for code in UInt8(0)..<64 {
      let info = mt_operation_info(code)
      let bit = UInt64(1) << UInt64(code)
      switch UInt32(info.operation_class) {
      case MT_CLASS_ALLOCATION.rawValue:
        allocations |= bit
        if info.has_alignment != 0 { aligned |= bit }
      case MT_CLASS_DEALLOCATION.rawValue:
        deallocations |= bit
        if info.has_size != 0 { sized |= bit }
        if info.has_alignment != 0 { aligned |= bit }
      default:
        break
      }
      let isOfAllocator = UInt32(info.family) != MT_FAMILY_ANNOUNCED.rawValue
      insert(
        bit,
        family: isOneFamily && isOfAllocator ? MT_FAMILY_MALLOC.rawValue : UInt32(info.family))
    }
  }

  /// Whether a function can return no block, as what ends the life of one cannot; new ones can.
  static func canFail(_ code: UInt16) -> Bool {
    let info = mt_operation_info(UInt8(truncatingIfNeeded: code))
    return UInt32(info.operation_class) != MT_CLASS_DEALLOCATION.rawValue
  }

  private mutating func insert(_ bit: UInt64, family code: UInt32) {
    switch code {
    case MT_FAMILY_MALLOC.rawValue: family.1 |= bit
    case MT_FAMILY_NEW.rawValue: family.2 |= bit
    case MT_FAMILY_NEW_ALIGNED.rawValue: family.3 |= bit
    case MT_FAMILY_NEW_ARRAY.rawValue: family.4 |= bit
    case MT_FAMILY_NEW_ARRAY_ALIGNED.rawValue: family.5 |= bit
    case MT_FAMILY_ANNOUNCED.rawValue: family.6 |= bit
    default: family.0 |= bit
    }
  }

  /// The operations on blocks of the program's own allocators.
  var announced: UInt64 { family.6 }

  /// Bit *n* is set when the operation with code *n* has a new block: also the end of a `realloc`.
  var gains: UInt64 { allocations | Self.bit(Operation.reallocEnd.rawValue) }

  /// Bit *n* is set when the operation with code *n* gives a block up: also the beginning of a
  /// `realloc`.
  var losses: UInt64 { deallocations | Self.bit(Operation.reallocBegin.rawValue) }

  /// The bit of an operation; decoders let none through that is 64 or more.
  @inline(__always)
  static func bit(_ operation: UInt8) -> UInt64 { 1 &<< UInt64(operation) }

  /// The operations that may end what one begins, or begin what it ends.
  fileprivate func partners(of operation: UInt8) -> UInt64 {
    // Asked for every new site: no array.
    let first = members(family.1, operation) | members(family.2, operation)
    let second = members(family.3, operation) | members(family.4, operation)
    return first | second | members(family.5, operation) | members(family.6, operation)
  }

  /// A family, when an operation belongs to it.
  private func members(_ family: UInt64, _ operation: UInt8) -> UInt64 {
    family & Self.bit(operation) != 0 ? family : 0
  }
}

/// Operations that end the life of a block: deallocations, and the beginning of a `realloc`.
///
/// Their codes are from 24 to 55, of which no two are the same number modulo 32: one bit each.
struct DeallocationSet {
  private let bits: UInt32

  /// - Parameter operations: A bit set of any operations.
  init(_ operations: UInt64) {
    let high = UInt32(truncatingIfNeeded: operations &>> 32) & 0x00ff_ffff
    bits = UInt32(truncatingIfNeeded: operations) & 0xff00_0000 | high
  }

  /// Whether an operation that ends the life of a block is among them.
  @inline(__always)
  func contains(_ operation: UInt8) -> Bool { (bits &>> UInt32(operation)) & 1 != 0 }
}

extension OperationTable {
  /// Whether a block of one operation may be ended by the other.
  func areOne(_ left: UInt8, _ right: UInt8) -> Bool {
    partners(of: left) & Self.bit(right) != 0
  }

  /// The deallocations that are right for an allocation whatever its size and alignment: those that
  /// carry neither, which would have to be compared.
  func surelyRight(for allocation: UInt8) -> DeallocationSet {
    DeallocationSet(partners(of: allocation) & ~(sized | aligned))
  }
}
