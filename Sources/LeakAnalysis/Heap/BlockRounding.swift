import TraceReader

/// How much an allocator makes usable of a request.
///
/// glibc's is known. Of others, which stand in for it (jemalloc, tcmalloc, mimalloc), only that it is no less
/// than the request, grows with it, and ends where the next block begins: what lies right behind the requested
/// bytes may be another block, and what a program uses of the rest ends with the shortest distance between
/// blocks of that size or greater ones.
struct BlockRounding {
  private let isKnown: Bool
  /// What is certain of each block by itself.
  let extent: BlockExtent
  /// For requests of up to `index * 8` bytes, the shortest distance from such a block, or a greater one, to
  /// the next.
  private var distances: [UInt64] = []

  private static let learnedSizes: UInt64 = 64 << 10

  static let glibc = BlockRounding(isKnown: true, .glibc)

  private init(isKnown: Bool, _ extent: BlockExtent) {
    (self.isKnown, self.extent) = (isKnown, extent)
  }

  /// That of an allocator that is known by its blocks alone.
  init(learnedFrom blocks: LiveBlocksByAddress) {
    self.init(isKnown: false, .unknown)
    distances = Array(repeating: .max, count: Int(Self.learnedSizes / 8) + 1)
    guard blocks.recordedCount > 1 else { return }
    for block in 1..<blocks.recordedCount where blocks.size(of: block - 1) <= Self.learnedSizes {
      let distance = blocks.address(of: block) - blocks.address(of: block - 1)
      let index = Self.index(blocks.size(of: block - 1))
      distances[index] = min(distances[index], distance)
    }
    for index in distances.indices.dropLast().reversed() {
      distances[index] = min(distances[index], distances[index + 1])
    }
  }

  private static func index(_ size: UInt64) -> Int { Int((size + 7) / 8) }

  /// The bytes from the beginning of a block that are its own and no other block's.
  @inline(__always)
  func certain(_ size: UInt64) -> UInt64 { extent.bytes(size) }

  /// How much more than its bytes an allocator may leave with a block, where that is too little for another one.
  var greatestLeftover: UInt64 { isKnown ? 16 : 0 }

  /// The bytes that a program may use which asks how many there are.
  func usable(_ size: UInt64) -> UInt64 {
    guard !isKnown, size < 1 << 56 else { return certain(size) }
    // Size classes are at most a quarter apart, or 16 bytes.
    let most = size + max(16, size / 4)
    guard size <= Self.learnedSizes else { return most }
    return max(certain(size), min(most, distances[Self.index(size)]))
  }
}
