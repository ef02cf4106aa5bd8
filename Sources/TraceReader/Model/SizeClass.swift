/// A category of blocks by requested size, such as `Malloc-16`.
///
/// Requested sizes are rounded up to 16 bytes up to 1 KiB, then to 512 bytes up to 32 KiB, then
/// to pages of 4 KiB up to 1 MiB, then to the 64th part of a MiB, GiB and so on, so that no two classes
/// have the same name. Size 0 counts as 16.
public struct SizeClass: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The greatest requested size in the class.
  public var bytes: UInt64

  /// Creates the class that `requested` bytes fall into.
  public init(containing requested: UInt64) {
    let step = Self.step(for: requested)
    let (sum, overflow) = max(requested, 1).addingReportingOverflow(step &- 1)
    bytes = overflow ? .max & ~(step &- 1) : sum & ~(step &- 1)
  }

  private static func step(for requested: UInt64) -> UInt64 {
    switch requested {
    case ...1024: return 16
    case ...32768: return 512
    case ...(1 << 20): return 4096
    default:
      let tens = (requested.bitWidth - 1 - requested.leadingZeroBitCount) / 10
      return 1 << UInt64(tens * 10 - 6)
    }
  }

  /// Creates the class with this greatest size.
  public init(bytes: UInt64) {
    self.bytes = bytes
  }

  /// `Malloc-16`, `Malloc-1008`, `Malloc-1.50 KiB`, `Malloc-4.00 KiB`, `Malloc-2.25 MiB`.
  public var name: String { "Malloc-\(sizeText)" }

  /// The same of blocks of the program's own allocators: `Pool-16`.
  public var poolName: String { "Pool-\(sizeText)" }

  private var sizeText: String {
    guard bytes > 1008 else { return "\(bytes)" }
    var (unit, scale): (Int, UInt64) = (0, 1024)
    while unit < Self.units.count - 1, bytes / scale >= 1024 {
      unit += 1
      scale <<= 10
    }
    let whole = bytes / scale
    // Never a whole one: the steps are at least the 64th part.
    let hundredths = ((bytes % scale) / (scale / 1024) * 100 + 512) / 1024
    let digits = hundredths < 10 ? "0\(hundredths)" : "\(hundredths)"
    return "\(whole).\(digits) \(Self.units[unit])"
  }

  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// Its name.
  public var description: String { name }

  /// Compares by number.
  public static func < (left: SizeClass, right: SizeClass) -> Bool {
    left.bytes < right.bytes
  }
}
