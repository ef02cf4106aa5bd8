import Testing

@testable import TraceReader

/// Keys of hash tables that all fall into one place.
enum ForgedKeys {
  /// A multiple of it by a small number has that as its hash: it is the inverse of the usual factor.
  static let inverse: UInt64 = 0xf1de_83e1_9937_733d

  /// How many a table gets: where each search goes through all of them, that takes longer than `timeLimit`; else
  /// seconds, also on a machine that does much else.
  static let count: UInt64 = 400_000
  static let timeLimit: TimeLimitTrait = .timeLimit(.minutes(10))

  /// A key of a site whose hash by the usual factor is a number.
  static func site(hash: UInt64) -> SiteKey {
    let wanted = hash &* inverse(of: 0xbf58_476d_1ce4_e5b9) &- kind
    let origin = (wanted ^ wanted >> 29 ^ wanted >> 58) &* inverse
    return SiteKey(
      size: 16, stack: UInt32(truncatingIfNeeded: origin), slot: UInt32(origin >> 32),
      operation: 1, isExcluded: false)
  }

  /// Blocks of 16 bytes by `malloc`.
  private static let kind: UInt64 = 1 << 8 | 1 << 1

  /// What makes 1 of an odd number, modulo 2^64.
  private static func inverse(of number: UInt64) -> UInt64 {
    (0..<6).reduce(number) { inverse, _ in inverse &* (2 &- number &* inverse) }
  }
}
