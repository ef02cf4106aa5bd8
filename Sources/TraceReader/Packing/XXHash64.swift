/// The checksum of zstd's frames: XXH64 with seed 0, of which they hold the lower half.
///
/// Over the lengths that are a multiple of 32 bytes only, as that of a file header is.
/// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
enum XXHash64 {
  private static let primes: [UInt64] = [
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
  ]

  /// The checksum of bytes; nil where their number is no multiple of 32, or 0.
  static func checksum(of bytes: [UInt8]) -> UInt64? {
    guard !bytes.isEmpty, bytes.count.isMultiple(of: 32) else { return nil }
    var lanes = [primes[0] &+ primes[1], primes[1], 0, 0 &- primes[0]]
    bytes.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count, by: 8) {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let lane = offset / 8 % 4
        lanes[lane] = round(lanes[lane], UInt64(littleEndian: word))
      }
    }
    var hash = zip(lanes, [1, 7, 12, 18]).reduce(UInt64(0)) { $0 &+ rotated($1.0, by: $1.1) }
    for lane in lanes { hash = (hash ^ round(0, lane)) &* primes[0] &+ primes[3] }
    hash &+= UInt64(bytes.count)
    hash = (hash ^ hash >> 33) &* primes[1]
    hash = (hash ^ hash >> 29) &* primes[2]
    return hash ^ hash >> 32
  }

  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotated(lane &+ word &* primes[1], by: 31) &* primes[0]
  }

  private static func rotated(_ value: UInt64, by count: UInt64) -> UInt64 {
    value << count | value >> (64 - count)
  }
}
