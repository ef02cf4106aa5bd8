/// A category of blocks by requested size, such as `Malloc-16`.
///
/// Requested sizes are rounded up to 16 bytes up to 1 KiB, then to 512 bytes up to 32 KiB, then
/// to pages of 4 KiB. Size 0 counts as 16.
public struct SizeClass: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The greatest requested size in the class.
  public var bytes: UInt64

  /// Creates the class that `requested` bytes fall into.
  public init(containing requested: UInt64) {
    let step: UInt64 = requested <= 1024 ? 16 : requested <= 32768 ? 512 : 4096
    let (sum, overflow) = max(requested, 1).addingReportingOverflow(step &- 1)
    bytes = overflow ? .max & ~(step &- 1) : sum & ~(step &- 1)
  }

  /// Creates the class with this greatest size.
  public init(bytes: UInt64) {
    self.bytes = bytes
  }

  /// `Malloc-16`, `Malloc-1008`, `Malloc-1.50 KiB`, `Malloc-4.00 KiB`, `Malloc-2.25 MiB`.
  public var name: String {
    guard bytes > 1008 else { return "Malloc-\(bytes)" }
    var (unit, scale): (Int, UInt64) = (0, 1024)
    while unit < Self.units.count - 1, bytes / scale >= 1024 {
      unit += 1
      scale <<= 10
    }
    let whole = bytes / scale
    let hundredths = (bytes % scale) / max(scale / 128, 1) * 100 / 128
    let digits = hundredths < 10 ? "0\(hundredths)" : "\(hundredths)"
    return "Malloc-\(whole).\(digits) \(Self.units[unit])"
  }

  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// Its name.
  public var description: String { name }

  /// Compares by number.
  public static func < (left: SizeClass, right: SizeClass) -> Bool {
    left.bytes < right.bytes
  }
}
