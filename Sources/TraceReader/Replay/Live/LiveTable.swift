import CProcessor

#if canImport(Glibc)
  import Glibc
#endif

/// The live blocks by address: an array of entries, and a ``LiveIndex`` that finds them.
///
/// An allocator hands out the addresses again that were freed last. So the entry of a freed block
/// stays for a while, to be used for the same address: then an event has to find an entry and
/// nothing else. When there are too many of them, new addresses take the place of the freed ones
/// that a hand comes across which goes round and round.
///
/// A block costs the 32 bytes of its entry and 9 to 18 of the index, and an eighth of that for freed
/// ones. The index is made anew from the entries when it has to grow: the old one is gone by then.
struct LiveTable: ~Copyable {
  private var index = LiveIndex(bits: Self.smallestBits)
  private var bits = Self.smallestBits
  /// Live blocks.
  private(set) var count = 0

  private var entries: UnsafeMutablePointer<LiveEntry>
  private var capacity = Self.smallestCapacity
  /// Entries in use, for live blocks and freed ones.
  private var used = 0
  /// The entry at which the next search for a freed one begins.
  private var hand = 0
  /// For the low bits of an address, what was found last: higher bits of its address, its number.
  ///
  /// So the entry of another address, which may well lie in no cache, is not looked at.
  private let recent: UnsafeMutablePointer<UInt64>

  private static let smallestCapacity = 1 << 12
  private static let smallestBits = 9
  private static let greatestBits = 31
  /// A smaller index is in the cache anyway.
  private static let bitsWorthFetching = 13
  /// How far ahead of an entry the index is fetched while it is made anew.
  private static let growthDistance = 32
  /// So many freed entries are kept in any case.
  private static let keptCount = 1 << 14
  private static let recentBits: UInt64 = 13

  init() {
    entries = LiveEntries.resized(nil, capacity)
    recent = .allocate(capacity: 1 << Self.recentBits)
    begin()
  }

  deinit {
    recent.deallocate()
    free(entries)
  }

  /// Makes the first entry, so that there is one to look at.
  private mutating func begin() {
    recent.initialize(repeating: 0, count: 1 << Self.recentBits)
    entries.initialize(
      to: LiveEntry(address: 0, size: 0, alignment: 0, time: 0, site: 0, serial: 0))
    entries.pointee.free()
    used = 1
    index.insert(0, LiveIndex.hash(0))
  }

  /// Entries that take memory.
  var entryCount: Int { used }

  /// Whether it is so large that lookups should be announced.
  @inline(__always)
  var isWorthFetching: Bool { bits >= Self.bitsWorthFetching }

  /// Starts to load what leads to the entry of an address, unless that was found lately: then it is
  /// found without the index.
  ///
  /// Without a branch, since nobody foresees whether an address was.
  ///
  /// - Returns: 0 when it was found lately, else 1.
  @inline(__always)
  func prefetchIndexOfStranger(_ address: UInt64) -> UInt32 {
    let difference = (recent[Self.place(of: address)] ^ Self.key(of: address)) &>> 32
    let isStranger: UInt64 = difference == 0 ? 0 : 1
    index.prefetch(address, mask: 0 &- isStranger)
    return UInt32(truncatingIfNeeded: isStranger)
  }

  /// Starts to load the entry of an address, some time after ``prefetchIndexOfStranger(_:)``.
  @inline(__always)
  func prefetchEntry(_ address: UInt64) {
    if let number = index.candidate(address) { cprocessor_prefetch(entries + Int(number)) }
  }

  /// Inserts a block.
  ///
  /// - Returns: The block that was live at the address until now, if there was one.
  @inline(__always)
  mutating func insert(_ block: LiveEntry) -> LiveEntry? {
    guard let entry = entry(of: block.address) else {
      // In two steps: the entries may be moved.
      let number = newEntry(block.address)
      entries[number] = block
      count &+= 1
      return nil
    }
    let old = entry.pointee
    entry.pointee = block
    if old.isLive { return old }
    count &+= 1
    return nil
  }

  /// Removes the block at an address.
  ///
  /// - Returns: The block; nil when none is live there.
  @inline(__always)
  mutating func remove(_ address: UInt64) -> LiveEntry? {
    guard let entry = entry(of: address), entry.pointee.isLive else { return nil }
    let block = entry.pointee
    entry.pointee.free()
    count &-= 1
    return block
  }

  /// The block that is live at an address; mutating, because the table would be copied otherwise.
  mutating func block(at address: UInt64) -> LiveEntry? {
    guard let entry = entry(of: address), entry.pointee.isLive else { return nil }
    return entry.pointee
  }

  /// Where ``recent`` has an address.
  @inline(__always)
  private static func place(of address: UInt64) -> Int {
    Int(truncatingIfNeeded: (address &>> 4) & ((1 &<< recentBits) &- 1))
  }

  /// What ``recent`` has there, but for the number: bits that the place does not tell.
  @inline(__always)
  private static func key(of address: UInt64) -> UInt64 {
    (address &>> (4 &+ recentBits)) &<< 32
  }

  /// The entry of an address, live or not; mutating, because the table would be copied otherwise.
  @inline(__always)
  private mutating func entry(of address: UInt64) -> UnsafeMutablePointer<LiveEntry>? {
    let last = recent[Self.place(of: address)]
    if last & ~0xffff_ffff == Self.key(of: address) {
      let entry = entries + Int(truncatingIfNeeded: last & 0xffff_ffff)
      if entry.pointee.address == address { return entry }
    }
    return find(address)
  }

  @inline(never)
  private mutating func find(_ address: UInt64) -> UnsafeMutablePointer<LiveEntry>? {
    let number = index.find(LiveIndex.hash(address)) { entries[Int($0)].address == address }
    guard let number else { return nil }
    note(number, of: address)
    return entries + Int(number)
  }

  /// Notes what was found, or made, last.
  @inline(__always)
  private func note(_ number: UInt32, of address: UInt64) {
    recent[Self.place(of: address)] = Self.key(of: address) | UInt64(number)
  }

  /// Makes an entry for an address that has none.
  ///
  /// - Returns: Its number; the entry is to be filled.
  @inline(never)
  private mutating func newEntry(_ address: UInt64) -> Int {
    let number = used &- count > max(count &>> 3, Self.keptCount) ? takeFreed() : addEntry()
    index.insert(UInt32(truncatingIfNeeded: number), LiveIndex.hash(address))
    note(UInt32(truncatingIfNeeded: number), of: address)
    return number
  }

  private mutating func addEntry() -> Int {
    if used >= index.greatestCount { growIndex() }
    if used == capacity {
      capacity += capacity / 2
      entries = LiveEntries.resized(entries, capacity)
    }
    used += 1
    return used - 1
  }

  /// Takes a freed entry away from its address.
  private mutating func takeFreed() -> Int {
    while entries[hand].isLive { hand = hand &+ 1 < used ? hand &+ 1 : 0 }
    let number = hand
    hand = hand &+ 1 < used ? hand &+ 1 : 0
    _ = index.remove(LiveIndex.hash(entries[number].address)) { Int($0) == number }
    return number
  }

  /// Doubles the index; the old one is let go before, so that both are never there at once.
  private mutating func growIndex() {
    guard bits < Self.greatestBits else { return }
    bits += 1
    index = LiveIndex(bits: 1)
    index = LiveIndex(bits: bits)
    for number in 0..<used {
      let ahead = min(number &+ Self.growthDistance, used &- 1)
      index.prefetch(entries[ahead].address, mask: .max)
      index.insert(
        UInt32(truncatingIfNeeded: number), LiveIndex.hash(entries[number].address))
    }
  }

  /// Hands the live entries over and is empty then.
  ///
  /// - Parameter isWanted: Says which ones, and may change them.
  /// - Returns: The entries, sorted by when they were allocated: those of one time, which events of a
  ///   thread share, by their number among those of their thread.
  mutating func takeEntries(_ isWanted: (inout LiveEntry) -> Bool) -> LiveEntries {
    var kept = 0
    for number in 0..<used where entries[number].isLive {
      var entry = entries[number]
      guard isWanted(&entry) else { continue }
      entries[kept] = entry
      kept += 1
    }
    let taken = LiveEntries(takingOver: LiveEntries.resized(entries, kept), count: kept)
    (capacity, bits, count, hand) = (Self.smallestCapacity, Self.smallestBits, 0, 0)
    entries = LiveEntries.resized(nil, capacity)
    index = LiveIndex(bits: bits)
    begin()
    // Needs memory of its own, half as much: after the index is gone.
    var sorted = taken.entries
    sorted.sort { ($0.time, $0.serial, $0.address) < ($1.time, $1.serial, $1.address) }
    return taken
  }

  /// Visits all live blocks in no particular order.
  func forEach(_ body: (LiveEntry) -> Void) {
    for number in 0..<used where entries[number].isLive { body(entries[number]) }
  }
}
