import CProcessor

/// Finds the entries of a ``LiveTable`` by address: numbers in buckets of half a cache line.
///
/// ```
/// bucket   6 tags (8 bits of the hash; 0: free) | overflow (8 bits) | - | 6 numbers (32 bits)
/// ```
/// All tags of a bucket are compared at once, so a lookup meets no branch that depends on how full
/// the table is, as a chain of slots would. An entry whose bucket is full goes to the next one;
/// `overflow` counts those that passed by, so that a search knows when to end and nothing has to be
/// moved when an entry goes.
///
/// Addresses are from the file, which may have been made so that all of them belong to one bucket. So no search
/// passes more than a few dozen buckets; what finds no place in these is a *stray*, in a dictionary, whose hash
/// nobody can foresee. Other traces have none.
///
/// Tags and overflow are one number, always loaded and stored as a whole: a block is often looked
/// up right after it was inserted, and the processor waits where a load covers more than a store
/// just before.
struct LiveIndex: ~Copyable {
  static let lanes = 6
  private static let bucketSize = 32
  private static let numbersOffset = 8
  private static let overflowUnit: UInt64 = 1 << 48
  /// A count that has come so far stays: how many there really are is no longer known.
  private static let greatestOverflow: UInt64 = 255 << 48

  private let buckets: UnsafeMutableRawPointer
  private let mask: Int
  private let shift: UInt64
  /// The numbers of the strays, by their hashes, which differ as the addresses do.
  private var strays: [UInt64: UInt32] = [:]
  /// An entry lies at most so many buckets behind its own.
  private static let greatestDistance = 64
  /// How many entries it takes before a larger one is made.
  let greatestCount: Int

  /// - Parameter bits: The logarithm of the number of buckets, 1 ..< 32.
  init(bits: Int) {
    let count = 1 << bits
    buckets = .allocate(byteCount: count * Self.bucketSize, alignment: 2 * Self.bucketSize)
    cprocessor_use_large_pages(buckets, count * Self.bucketSize)
    buckets.initializeMemory(as: UInt8.self, repeating: 0, count: count * Self.bucketSize)
    mask = count - 1
    shift = UInt64(UInt64.bitWidth - bits)
    // Fuller, more than a few in a hundred entries would not find room in their bucket.
    greatestCount = count / 5 * 3 * Self.lanes
  }

  deinit {
    buckets.deallocate()
  }

  @inline(__always)
  static func hash(_ address: UInt64) -> UInt64 { address &* 0x9e37_79b9_7f4a_7c15 }

  @inline(__always)
  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> shift) }

  /// The tag in the lowest byte; never 0.
  @inline(__always)
  private static func tag(_ hash: UInt64) -> UInt64 { max(hash &>> 24 & 0xff, 1) }

  @inline(__always)
  private func bucket(_ index: Int) -> UnsafeMutableRawPointer {
    buckets + index &* Self.bucketSize
  }

  @inline(__always)
  private func tags(_ index: Int) -> UInt64 { bucket(index).load(as: UInt64.self) }

  @inline(__always)
  private func setTags(_ tags: UInt64, _ index: Int) {
    bucket(index).storeBytes(of: tags, as: UInt64.self)
  }

  /// Where the lowest six bytes are the tag: the top bit of each.
  @inline(__always)
  private static func matches(_ tags: UInt64, _ tag: UInt64) -> UInt64 {
    let low: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
    let difference = tags ^ tag &* 0x0001_0101_0101_0101
    return ~((difference & low) &+ low | difference | low) & 0x0000_8080_8080_8080
  }

  /// The first lane among matches.
  @inline(__always)
  private static func lane(_ matches: UInt64) -> Int { matches.trailingZeroBitCount &>> 3 }

  @inline(__always)
  private func number(_ lane: Int, in index: Int) -> UInt32 {
    bucket(index).load(
      fromByteOffset: Self.numbersOffset &+ lane &* 4, as: UInt32.self)
  }

  @inline(__always)
  private static func overflow(_ tags: UInt64) -> UInt64 { tags & greatestOverflow }

  // MARK: Looking up

  /// Finds an entry.
  ///
  /// - Parameters:
  ///   - hash: Of the address.
  ///   - isRight: Whether the entry with a number has the address.
  /// - Returns: The number; nil when there is none.
  @inline(__always)
  func find(_ hash: UInt64, _ isRight: (UInt32) -> Bool) -> UInt32? {
    let index = home(hash)
    let tags = tags(index)
    let found = Self.matches(tags, Self.tag(hash))
    if found != 0 {
      let number = number(Self.lane(found), in: index)
      if isRight(number) { return number }
    } else if Self.overflow(tags) == 0 {
      return nil
    }
    return findFurtherOn(hash, isRight)
  }

  @inline(never)
  private func findFurtherOn(_ hash: UInt64, _ isRight: (UInt32) -> Bool) -> UInt32? {
    if let (bucket, lane) = search(hash, isRight) { return number(lane, in: bucket) }
    return strays.isEmpty ? nil : strays[hash]
  }

  /// Looks at all lanes of all buckets that an entry may be in.
  @inline(never)
  private func search(_ hash: UInt64, _ isRight: (UInt32) -> Bool) -> (bucket: Int, lane: Int)? {
    var index = home(hash)
    for _ in 0...min(mask, Self.greatestDistance) {
      let tags = tags(index)
      var rest = Self.matches(tags, Self.tag(hash))
      while rest != 0 {
        let lane = Self.lane(rest)
        if isRight(number(lane, in: index)) { return (index, lane) }
        rest &= rest &- 1
      }
      if Self.overflow(tags) == 0 { return nil }
      index = (index &+ 1) & mask
    }
    return nil
  }

  /// Starts to load the bucket of an address.
  ///
  /// - Parameters:
  ///   - address: Of a block.
  ///   - mask: All bits set; or none, for the first bucket instead, which is at hand.
  @inline(__always)
  func prefetch(_ address: UInt64, mask: UInt64) {
    let home = home(Self.hash(address)) & Int(truncatingIfNeeded: mask)
    cprocessor_prefetch(bucket(home))
  }

  /// The number of an entry that may be that of an address, to prefetch it; nil for none.
  @inline(__always)
  func candidate(_ address: UInt64) -> UInt32? {
    let hash = Self.hash(address)
    let index = home(hash)
    let found = Self.matches(tags(index), Self.tag(hash))
    return found == 0 ? nil : number(Self.lane(found), in: index)
  }

  // MARK: Changing

  /// Adds an entry whose address is not there; there must be room.
  @inline(__always)
  mutating func insert(_ number: UInt32, _ hash: UInt64) {
    if !put(number, hash, in: home(hash)) { insertFurtherOn(number, hash) }
  }

  /// Adds an entry to a bucket; false when that is full.
  @inline(__always)
  private func put(_ number: UInt32, _ hash: UInt64, in index: Int) -> Bool {
    let tags = tags(index)
    let free = Self.matches(tags, 0)
    guard free != 0 else { return false }
    let lane = Self.lane(free)
    setTags(tags | Self.tag(hash) &<< UInt64(truncatingIfNeeded: lane &* 8), index)
    bucket(index).storeBytes(
      of: number, toByteOffset: Self.numbersOffset &+ lane &* 4, as: UInt32.self)
    return true
  }

  @inline(never)
  private mutating func insertFurtherOn(_ number: UInt32, _ hash: UInt64) {
    var index = home(hash)
    for _ in 0..<Self.greatestDistance {
      let tags = tags(index)
      if Self.overflow(tags) < Self.greatestOverflow { setTags(tags &+ Self.overflowUnit, index) }
      index = (index &+ 1) & mask
      if put(number, hash, in: index) { return }
    }
    strays[hash] = number
  }

  /// Finds an entry and takes it out.
  ///
  /// - Parameters: As of ``find(_:_:)``.
  /// - Returns: The number; nil when there is none.
  @inline(__always)
  mutating func remove(_ hash: UInt64, _ isRight: (UInt32) -> Bool) -> UInt32? {
    let index = home(hash)
    let tags = tags(index)
    let found = Self.matches(tags, Self.tag(hash))
    if found != 0 {
      let lane = Self.lane(found)
      let number = number(lane, in: index)
      if isRight(number) {
        setTags(tags & ~(0xff &<< UInt64(truncatingIfNeeded: lane &* 8)), index)
        return number
      }
    } else if Self.overflow(tags) == 0 {
      return nil
    }
    return searchAndRemove(hash, isRight)
  }

  @inline(never)
  private mutating func searchAndRemove(
    _ hash: UInt64, _ isRight: (UInt32) -> Bool
  ) -> UInt32? {
    guard let (bucket, lane) = search(hash, isRight) else {
      guard let number = strays.removeValue(forKey: hash) else { return nil }
      notePassing(from: home(hash), count: Self.greatestDistance)
      return number
    }
    let number = number(lane, in: bucket)
    setTags(tags(bucket) & ~(0xff &<< UInt64(truncatingIfNeeded: lane &* 8)), bucket)
    notePassing(from: home(hash), count: (bucket &- home(hash)) & mask)
    return number
  }

  /// Notes that an entry is gone which had passed by some buckets.
  private func notePassing(from first: Int, count: Int) {
    for distance in 0..<count {
      let index = (first &+ distance) & mask
      let tags = tags(index)
      if Self.overflow(tags) < Self.greatestOverflow { setTags(tags &- Self.overflowUnit, index) }
    }
  }
}
