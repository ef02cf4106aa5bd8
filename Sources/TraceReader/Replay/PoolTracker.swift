/// What the live announced blocks lie in: a block of `malloc` that an allocator of the program parts, or an
/// announced one that another allocator does.
///
/// Each byte counts once: where an announced block lies in another block, that one has given its bytes away.
struct PoolTracker {
  /// What a block has of the one that it lies in.
  struct Share {
    /// The key of that one.
    var pool: UInt64
    /// How many of its bytes; 0 where a filter leaves one of both out.
    var bytes: UInt64
  }

  /// A block in the middle of a `realloc`, and what lies in it.
  struct Moving {
    var key: UInt64
    var size: UInt64
    /// The keys, ascending.
    var contents: [UInt64]

    /// Whether a block lies in it.
    func holds(_ key: UInt64) -> Bool {
      let position = contents.partitioningIndex { $0 >= key }
      return position < contents.count && contents[position] == key
    }
  }

  private var recorded = BlockIntervals()
  private var announced = BlockIntervals()
  /// The sizes of all of them, by key.
  private var sizes = AddressTable<UInt64>()
  /// By the keys of announced blocks.
  private var shares = AddressTable<Share>()
  /// The keys of what lies in a block, by its key.
  private var contents: [UInt64: Set<UInt64>] = [:]
  /// The block of `malloc` in which an announced one was found last.
  private var lastPool: BlockIntervals.Block?
  /// By the slots of their threads.
  private var moving: [UInt32: Moving] = [:]

  /// Whether a block is live.
  func holds(_ key: UInt64) -> Bool { sizes[key] != nil }

  /// Adds a block; the address must not be there.
  mutating func insert(_ block: BlockIntervals.Block, _ share: Share?) {
    sizes[block.key] = block.size
    if BlockKey.isAnnounced(block.key) {
      announced.insert(block)
    } else {
      recorded.insert(block)
    }
    if let share { setShare(share, of: block.key) }
  }

  /// Takes a block out, and notes that it lies in no other any more; what lies in it stays.
  mutating func remove(_ key: UInt64) {
    guard let size = sizes.removeValue(forKey: key) else { return }
    let block = BlockIntervals.Block(key: key, size: size)
    if BlockKey.isAnnounced(key) {
      announced.remove(block)
    } else {
      recorded.remove(block)
      if lastPool?.key == key { lastPool = nil }
    }
    _ = takeShare(of: key)
  }

  /// Notes what a block has of the one that it lies in.
  mutating func setShare(_ share: Share, of key: UInt64) {
    shares[key] = share
    contents[share.pool, default: []].insert(key)
  }

  /// What a block has of the one that it lies in.
  func share(of key: UInt64) -> Share? { shares[key] }

  /// Takes what a block has of the one that it lies in away from it.
  mutating func takeShare(of key: UInt64) -> Share? {
    guard let share = shares.removeValue(forKey: key) else { return nil }
    contents[share.pool]?.remove(key)
    if contents[share.pool]?.isEmpty == true { contents[share.pool] = nil }
    return share
  }

  /// Takes a block out that is about to be reallocated, and away from it what lies in it.
  mutating func move(_ key: UInt64, _ slot: UInt32) {
    guard let size = sizes[key] else { return }
    let contents = contents(of: key)
    for inner in contents { _ = takeShare(of: inner) }
    remove(key)
    moving[slot] = Moving(key: key, size: size, contents: contents)
  }

  /// The block that a thread has reallocated, without what has ended meanwhile; nil for none.
  mutating func moved(_ slot: UInt32) -> Moving? {
    guard var pool = moving.removeValue(forKey: slot) else { return nil }
    pool.contents.removeAll { !holds($0) || shares[$0] != nil }
    return pool
  }

  /// Puts a block back whose reallocation has failed.
  mutating func restore(_ pool: Moving) {
    if !holds(pool.key) { insert(BlockIntervals.Block(key: pool.key, size: pool.size), nil) }
  }

  /// The keys of the blocks that lie in one, ascending.
  func contents(of key: UInt64) -> [UInt64] {
    contents[key].map { $0.sorted() } ?? []
  }

  /// For each block that others lie in, by its key, how many of its bytes count for these.
  var handedOut: [UInt64: UInt64] {
    var handedOut: [UInt64: UInt64] = [:]
    shares.forEach { handedOut[$0.pool, default: 0] &+= $0.bytes }
    return handedOut
  }

  /// Whether a block ends no further than so many bytes behind an address.
  func fits(_ key: UInt64, in start: UInt64, size: UInt64) -> Bool {
    let address = BlockKey.start(key)
    guard let own = sizes[key], address >= start else { return false }
    return address - start <= size && own <= size - (address - start)
  }

  /// The announced blocks that a new one takes the place of: nobody has said that they have ended.
  ///
  /// A block of `malloc` may be one that has been announced already: it takes the place of others only, which lie in
  /// no block.
  func replaced(by block: BlockIntervals.Block) -> [UInt64] {
    guard !BlockKey.isAnnounced(block.key) else { return announced.overlapping(block).map(\.key) }
    let range = BlockIntervals.Block(key: block.key | BlockKey.announced, size: block.size)
    return announced.overlapping(range)
      .filter { ($0.key != range.key || $0.size != range.size) && shares[$0.key] == nil }
      .map(\.key)
  }

  /// What an announced block lies in, and how many bytes of it; nil where nothing is known of that memory.
  mutating func share(of block: BlockIntervals.Block) -> Share? {
    if let pool = announced.smallest(around: block) {
      return Share(pool: pool.key, bytes: block.size)
    }
    let start = BlockKey.start(block.key)
    if lastPool.map({ start >= $0.key && start - $0.key < $0.size }) != true {
      lastPool = recorded.smallest(around: BlockIntervals.Block(key: start, size: 1))
    }
    return lastPool.map {
      Share(pool: $0.key, bytes: min(block.size, $0.size - min($0.size, start - $0.key)))
    }
  }
}
