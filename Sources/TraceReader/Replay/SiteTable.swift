/// What tells sites apart.
struct SiteKey {
  var sizeClass: UInt64
  var stack: UInt32
  var slot: UInt32
  var operation: UInt8
  /// Whether a filter leaves the blocks of the site out of all figures.
  var isExcluded: Bool

  @inline(__always)
  static func == (left: SiteKey, right: SiteKey) -> Bool {
    left.stack == right.stack && left.sizeClass == right.sizeClass && left.slot == right.slot
      && left.operation == right.operation && left.isExcluded == right.isExcluded
  }

  @inline(__always)
  var hash: UInt64 {
    let mixed = (UInt64(stack) << 32 | UInt64(slot)) &* 0x9e37_79b9_7f4a_7c15
    let rest = sizeClass << 8 ^ UInt64(operation) << 1 ^ (isExcluded ? 1 : 0)
    return ((mixed ^ mixed >> 29) &+ rest) &* 0xbf58_476d_1ce4_e5b9
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
/// The same stack nearly always asks for the same size, so the last site of each stack is tried
/// before the key is hashed.
struct SiteTable: ~Copyable {
  private(set) var records: UnsafeMutablePointer<SiteRecord>
  private(set) var count = 0
  private var capacity = 256
  private var slots: UnsafeMutablePointer<UInt32>
  private var slotMask: Int
  private let lastByStack: UnsafeMutablePointer<UInt32>
  private let stackCount: Int

  /// - Parameter stackCount: Stacks with an ID below this are remembered.
  init(stackCount: Int) {
    records = .allocate(capacity: capacity)
    slotMask = 1023
    slots = .allocate(capacity: 1024)
    slots.initialize(repeating: 0, count: 1024)
    self.stackCount = stackCount
    lastByStack = .allocate(capacity: max(stackCount, 1))
    lastByStack.initialize(repeating: .max, count: max(stackCount, 1))
  }

  deinit {
    records.deallocate()
    slots.deallocate()
    lastByStack.deallocate()
  }

  /// The number of the site with a key, which is made where it is new.
  @inline(__always)
  mutating func site(for key: SiteKey) -> UInt32 {
    let stack = Int(key.stack)
    guard stack < stackCount else { return find(key) }
    let last = lastByStack[stack]
    if last != .max, records[Int(last)].key == key { return last }
    let site = find(key)
    lastByStack[stack] = site
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
