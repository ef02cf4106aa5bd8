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
  private(set) var family: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

  init() {
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
      insert(bit, family: UInt32(info.family))
    }
  }

  private mutating func insert(_ bit: UInt64, family code: UInt32) {
    switch code {
    case MT_FAMILY_MALLOC.rawValue: family.1 |= bit
    case MT_FAMILY_NEW.rawValue: family.2 |= bit
    case MT_FAMILY_NEW_ALIGNED.rawValue: family.3 |= bit
    case MT_FAMILY_NEW_ARRAY.rawValue: family.4 |= bit
    case MT_FAMILY_NEW_ARRAY_ALIGNED.rawValue: family.5 |= bit
    default: family.0 |= bit
    }
  }

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
    let bit = UInt64(1) << UInt64(operation & 63)
    var partners: UInt64 = 0
    for members in [family.1, family.2, family.3, family.4, family.5] where members & bit != 0 {
      partners |= members
    }
    return partners
  }
}

/// Which deallocations go with an allocation, by one look into memory.
///
/// The owner frees it with ``deallocate()``.
struct FamilyTable {
  private let partners: UnsafeMutablePointer<UInt64>
  /// Those that carry neither size nor alignment, which would have to be compared.
  private let plain: UInt64

  init(_ table: OperationTable) {
    plain = ~(table.sized | table.aligned)
    partners = .allocate(capacity: 64)
    for code in UInt8(0)..<64 {
      (partners + Int(code)).initialize(to: table.partners(of: code))
    }
  }

  func deallocate() {
    partners.deallocate()
  }

  /// Whether a block of one operation may be ended by the other.
  @inline(__always)
  func areOne(_ left: UInt8, _ right: UInt8) -> Bool {
    partners[Int(left & 63)] & OperationTable.bit(right) != 0
  }

  /// Whether a deallocation is the right one for an allocation whatever its size and alignment.
  @inline(__always)
  func isSurelyRight(_ deallocation: UInt8, for allocation: UInt8) -> Bool {
    partners[Int(allocation & 63)] & plain & OperationTable.bit(deallocation) != 0
  }
}
