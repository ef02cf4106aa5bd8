/// What tells sites apart, in two words: they are compared for each allocation.
struct SiteKey {
  /// The stack, and the slot of the thread above it.
  private var origin: UInt64 = 0
  /// The size class times 16 above the operation times 2; bit 0 is set for an excluded site.
  private var kind: UInt64 = 0

  /// A key that no site has.
  init() {}

  @inline(__always)
  init(size: UInt64, stack: UInt32, slot: UInt32, operation: UInt8, isExcluded: Bool) {
    let sizeClass = SizeClass(containing: min(size, LiveEntry.greatestSize)).bytes
    origin = UInt64(slot) &<< 32 | UInt64(stack)
    kind = sizeClass &<< 4 | UInt64(operation & 63) &<< 1 | (isExcluded ? 1 : 0)
  }

  var sizeClass: UInt64 { (kind &>> 8) &<< 4 }

  @inline(__always)
  var stack: UInt32 { UInt32(truncatingIfNeeded: origin) }

  @inline(__always)
  var slot: UInt32 { UInt32(truncatingIfNeeded: origin &>> 32) }

  @inline(__always)
  var operation: UInt8 { UInt8(truncatingIfNeeded: kind) &>> 1 & 63 }

  /// Whether a filter leaves the blocks of the site out of all figures.
  @inline(__always)
  var isExcluded: Bool { kind & 1 != 0 }

  @inline(__always)
  static func == (left: SiteKey, right: SiteKey) -> Bool {
    (left.origin ^ right.origin) | (left.kind ^ right.kind) == 0
  }

  /// Where a site with this key is looked for first; sites of neighbouring stacks lie together.
  @inline(__always)
  var place: UInt32 {
    stack &+ slot &* 61 &+ UInt32(truncatingIfNeeded: kind &>> 8) &* 0x1f1
  }

  @inline(__always)
  var hash: UInt64 {
    let mixed = origin &* 0x9e37_79b9_7f4a_7c15
    return ((mixed ^ mixed &>> 29) &+ kind) &* 0xbf58_476d_1ce4_e5b9
  }
}

/// A site while it is being counted.
struct SiteRecord {
  var key: SiteKey
  /// The fall from a peak for which the tally's peak figures were saved; see ``PeakTracker``.
  var savedFall: UInt32 = 0
  var tally = Tally()
}

/// The sites, found by their key.
///
/// Few sites are in use at a time, so the last one that was met in the same place is tried before
/// the key is hashed.
struct SiteTable: ~Copyable {
  private(set) var records: UnsafeMutablePointer<SiteRecord>
  private(set) var count = 0
  private var capacity = 256
  private var slots: UnsafeMutablePointer<UInt32>
  private var slotMask: Int
  /// By ``SiteKey/place``; the first site where there was none.
  private let recent: UnsafeMutablePointer<UInt32>
  private let recentMask: UInt32

  /// - Parameter stackCount: About how many stacks there are.
  init(stackCount: Int) {
    records = .allocate(capacity: capacity)
    slotMask = 1023
    slots = .allocate(capacity: 1024)
    slots.initialize(repeating: 0, count: 1024)
    let places = Self.places(stackCount)
    recentMask = UInt32(places - 1)
    recent = .allocate(capacity: places)
    recent.initialize(repeating: 0, count: places)
    // So that there is one to compare with.
    (records + 0).initialize(to: SiteRecord(key: SiteKey()))
  }

  private static func places(_ stackCount: Int) -> Int {
    var places = 1 << 12
    while places < stackCount, places < 1 << 20 { places *= 2 }
    return places
  }

  deinit {
    records.deallocate()
    slots.deallocate()
    recent.deallocate()
  }

  /// The number of the site with a key, which is made where it is new.
  @inline(__always)
  mutating func site(for key: SiteKey) -> UInt32 {
    let place = Int(key.place & recentMask)
    let last = recent[place]
    if records[Int(last)].key == key { return last }
    let site = find(key)
    recent[place] = site
    return site
  }

  @inline(never)
  private mutating func find(_ key: SiteKey) -> UInt32 {
    var slot = Int(truncatingIfNeeded: key.hash >> 20) & slotMask
    while slots[slot] != 0 {
      let number = slots[slot] &- 1
      if records[Int(number)].key == key { return number }
      slot = (slot + 1) & slotMask
    }
    if count == capacity { growRecords() }
    (records + count).initialize(to: SiteRecord(key: key))
    count += 1
    slots[slot] = UInt32(truncatingIfNeeded: count)
    if count * 2 > slotMask { growSlots() }
    return UInt32(truncatingIfNeeded: count &- 1)
  }

  private mutating func growRecords() {
    let larger = UnsafeMutablePointer<SiteRecord>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: records, count: count)
    records.deallocate()
    records = larger
    capacity *= 2
  }

  private mutating func growSlots() {
    slots.deallocate()
    slotMask = slotMask * 2 + 1
    slots = .allocate(capacity: slotMask + 1)
    slots.initialize(repeating: 0, count: slotMask + 1)
    for number in 0..<count {
      var slot = Int(truncatingIfNeeded: records[number].key.hash >> 20) & slotMask
      while slots[slot] != 0 { slot = (slot + 1) & slotMask }
      slots[slot] = UInt32(truncatingIfNeeded: number + 1)
    }
  }
}
