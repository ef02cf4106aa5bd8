/// What tells sites apart, in two words: they are compared for each allocation.
struct SiteKey {
  /// The stack, and the slot of the thread above it.
  private var origin: UInt64 = 0
  /// The size class times 16 above the operation times 2; bit 0 is set for an excluded site.
  private var kind: UInt64 = 0

  /// A key that no site has.
  init() {}

  /// Makes the key of an allocation: `size` at most ``LiveEntry/greatestSize``, `operation` less
  /// than 64.
  @inline(__always)
  init(size: UInt64, stack: UInt32, slot: UInt32, operation: UInt8, isExcluded: Bool) {
    origin = UInt64(slot) &<< 32 | UInt64(stack)
    kind = Self.units(size) &<< 8 | UInt64(operation) &<< 1 | (isExcluded ? 1 : 0)
  }

  /// The size class in units of 16 bytes.
  @inline(__always)
  private static func units(_ size: UInt64) -> UInt64 {
    // Nearly all sizes are among these, whose classes are 16 bytes apart.
    size &- 1 < 1024 ? (size &+ 15) &>> 4 : SizeClass(containing: size).bytes &>> 4
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

  /// A hash by a ``HashFactor``.
  @inline(__always)
  func hash(_ factor: UInt64) -> UInt64 {
    let mixed = origin &* factor
    let second = 0xbf58_476d_1ce4_e5b9 ^ HashFactor.usual ^ factor
    return ((mixed ^ mixed &>> 29) &+ kind) &* second
  }
}

/// A site while it is being counted: a cache line, so that each event needs one of them and not two.
struct SiteRecord {
  /// A ``Tally`` without its figures at the peak, which ``PeakTracker`` keeps.
  struct Counts {
    var totalCount: UInt64 = 0
    var totalBytes: UInt64 = 0
    var freedCount: UInt64 = 0
    var freedBytes: UInt64 = 0
    var temporaryCount: UInt64 = 0
  }

  var key: SiteKey
  /// The fall from a peak for which the tally's peak figures were saved; see ``PeakTracker``.
  var savedFall: UInt32 = 0
  /// The deallocations that are no misuse of the site's blocks, whatever their size and alignment.
  let rightDeallocations: DeallocationSet
  var tally = Counts()

  init(key: SiteKey, rightDeallocations: DeallocationSet) {
    self.key = key
    self.rightDeallocations = rightDeallocations
  }
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
  private var factor = HashFactor(greatestDistance: 512)
  /// By ``SiteKey/place``; the first site where there was none.
  private let recent: UnsafeMutablePointer<UInt32>
  private let recentMask: UInt32
  private let table: OperationTable

  /// - Parameters:
  ///   - stackCount: About how many stacks there are.
  ///   - table: The operations.
  init(stackCount: Int, table: OperationTable) {
    self.table = table
    records = Self.memory(for: capacity)
    slotMask = 1023
    slots = .allocate(capacity: 1024)
    slots.initialize(repeating: 0, count: 1024)
    let places = Self.places(stackCount)
    recentMask = UInt32(places - 1)
    recent = .allocate(capacity: places)
    recent.initialize(repeating: 0, count: places)
    // So that there is one to compare with.
    (records + 0).initialize(
      to: SiteRecord(key: SiteKey(), rightDeallocations: DeallocationSet(0)))
  }

  private static func memory(for capacity: Int) -> UnsafeMutablePointer<SiteRecord> {
    let size = MemoryLayout<SiteRecord>.stride
    return UnsafeMutableRawPointer.allocate(byteCount: capacity * size, alignment: 64)
      .bindMemory(to: SiteRecord.self, capacity: capacity)
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
    let first = home(of: key)
    var slot = first
    while slots[slot] != 0 {
      let number = slots[slot] &- 1
      if records[Int(number)].key == key { return number }
      slot = (slot + 1) & slotMask
    }
    if count == capacity { growRecords() }
    (records + count).initialize(
      to: SiteRecord(key: key, rightDeallocations: table.surelyRight(for: key.operation)))
    count += 1
    slots[slot] = UInt32(truncatingIfNeeded: count)
    if count * 2 > slotMask {
      slotMask = slotMask * 2 + 1
      fillSlots()
    } else if (slot - first) & slotMask > factor.greatestDistance {
      factor.change()
      fillSlots()
    }
    return UInt32(truncatingIfNeeded: count &- 1)
  }

  private func home(of key: SiteKey) -> Int {
    Int(truncatingIfNeeded: key.hash(factor.value) >> 20) & slotMask
  }

  private mutating func growRecords() {
    let larger = Self.memory(for: capacity * 2)
    larger.moveInitialize(from: records, count: count)
    records.deallocate()
    records = larger
    capacity *= 2
  }

  /// Makes the slots anew, in another way where too many sites fall into one place.
  private mutating func fillSlots() {
    slots.deallocate()
    slots = .allocate(capacity: slotMask + 1)
    repeat { slots.initialize(repeating: 0, count: slotMask + 1) } while !putSites()
  }

  /// Puts all sites into empty slots; false when another factor is to be tried.
  private mutating func putSites() -> Bool {
    for number in 0..<count {
      let first = home(of: records[number].key)
      var slot = first
      while slots[slot] != 0 { slot = (slot + 1) & slotMask }
      slots[slot] = UInt32(truncatingIfNeeded: number + 1)
      if (slot - first) & slotMask > factor.greatestDistance {
        factor.change()
        return false
      }
    }
    return true
  }
}
