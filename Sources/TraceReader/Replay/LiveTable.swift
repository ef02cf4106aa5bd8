/// A live block, as small as it can be: everything else about it is in its site.
struct LiveEntry {
  var address: UInt64
  /// The requested size in the low 56 bits, the alignment code above them.
  private var sizeAndAlignment: UInt64
  var time: UInt64
  var site: UInt32
  /// The allocation's number among those of its thread, wrapping.
  var serial: UInt32

  init(address: UInt64, size: UInt64, alignment: UInt64, time: UInt64, site: UInt32, serial: UInt32)
  {
    self.address = address
    let code = UInt64(truncatingIfNeeded: Self.code(of: alignment))
    sizeAndAlignment = min(size, Self.greatestSize) | code << 56
    self.time = time
    self.site = site
    self.serial = serial
  }

  /// Greater sizes cannot have been allocated; only a damaged trace has them.
  static let greatestSize: UInt64 = (1 << 56) - 1

  var size: UInt64 { sizeAndAlignment & Self.greatestSize }

  /// The alignment that was asked for, rounded up to a power of two; 0 when none was.
  var alignment: UInt64 {
    let code = sizeAndAlignment >> 56
    return code == 0 ? 0 : 1 << (code - 1)
  }

  /// 0 for none, else one more than the exponent of the power of two.
  @inline(__always)
  private static func code(of alignment: UInt64) -> Int {
    if alignment == 0 { return 0 }
    return min(64, UInt64.bitWidth - (alignment &- 1).leadingZeroBitCount + 1)
  }
}

/// The live blocks by address: entries in segments that never move, found by open addressing.
///
/// ```
/// slots      hash of the address (32 bits) | entry number + 1 (32 bits), 0 when free
/// segments   [ 16384 entries of 32 bytes ] [ 16384 entries ] ...
/// ```
/// At most four fifths of the slots are taken, so a block costs 32 + 10 to 20 bytes, and 62 while
/// the slots are being doubled. Deletion closes the gap in the slots, so there are no tombstones
/// that would slow down a program which allocates and frees for ever; the home of a slot follows
/// from the hash in it, without a look at the entry.
struct LiveTable: ~Copyable {
  private var slots: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var shift: UInt32
  private var greatestCount: Int
  private(set) var count = 0

  private var segments: UnsafeMutablePointer<UnsafeMutablePointer<LiveEntry>>
  private var segmentCount = 0
  private var segmentCapacity = 64
  /// Entries handed out so far; those given back are in the free list.
  private var used: UInt32 = 0
  /// The number + 1 of the entry given back last; its `site` names the next one.
  private var freeList: UInt32 = 0

  private let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: EventDecoder.batchSize)

  private static let segmentShift: UInt32 = 14
  private static let segmentSize = 1 << Int(segmentShift)

  init() {
    let capacity = 1 << 12
    slots = .allocate(capacity: capacity)
    slots.initialize(repeating: 0, count: capacity)
    mask = capacity - 1
    shift = 32 - 12
    greatestCount = capacity / 5 * 4
    segments = .allocate(capacity: segmentCapacity)
  }

  deinit {
    for index in 0..<segmentCount { segments[index].deallocate() }
    segments.deallocate()
    slots.deallocate()
    scratch.deallocate()
  }

  @inline(__always)
  private static func hash(_ address: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (address &* 0x9e37_79b9_7f4a_7c15) >> 32)
  }

  @inline(__always)
  private func entry(_ number: UInt32) -> UnsafeMutablePointer<LiveEntry> {
    segments[Int(number >> Self.segmentShift)] + Int(number & UInt32(Self.segmentSize - 1))
  }

  /// Loads what the events to come will need, so that they need not wait for memory one by one.
  ///
  /// The loads of a batch do not depend on each other, so the processor has many of them under way
  /// at once. Their results land in `scratch`, lest the compiler leave them out.
  func prepare(_ events: UnsafeMutablePointer<RawEvent>, count: Int) {
    for index in 0..<count {
      scratch[index] = slots[Int(Self.hash(events[index].address) >> shift)]
    }
    for index in 0..<count where scratch[index] != 0 {
      scratch[index] = entry(UInt32(truncatingIfNeeded: scratch[index]) &- 1).pointee.time
    }
  }

  /// Inserts a block.
  ///
  /// - Returns: The block that was live at the address until now, if there was one.
  @inline(__always)
  mutating func insert(_ block: LiveEntry) -> LiveEntry? {
    let hash = Self.hash(block.address)
    var slot = Int(hash >> shift)
    while slots[slot] != 0 {
      if UInt32(slots[slot] >> 32) == hash {
        let found = entry(UInt32(truncatingIfNeeded: slots[slot]) &- 1)
        if found.pointee.address == block.address {
          let old = found.pointee
          found.pointee = block
          return old
        }
      }
      slot = (slot &+ 1) & mask
    }
    let number = takeEntry()
    entry(number).initialize(to: block)
    slots[slot] = UInt64(hash) << 32 | UInt64(number &+ 1)
    count &+= 1
    if count > greatestCount { grow() }
    return nil
  }

  /// Removes the block at an address and returns it; nil when none is live there.
  @inline(__always)
  mutating func remove(_ address: UInt64) -> LiveEntry? {
    let hash = Self.hash(address)
    var slot = Int(hash >> shift)
    while slots[slot] != 0 {
      if UInt32(slots[slot] >> 32) == hash {
        let number = UInt32(truncatingIfNeeded: slots[slot]) &- 1
        let found = entry(number)
        if found.pointee.address == address {
          let block = found.pointee
          found.pointee.site = freeList
          freeList = number &+ 1
          closeGap(at: slot)
          count &-= 1
          return block
        }
      }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// Moves back the slots that were pushed along by the one that is gone.
  @inline(__always)
  private mutating func closeGap(at start: Int) {
    var gap = start
    var slot = (gap &+ 1) & mask
    while slots[slot] != 0 {
      let home = Int(UInt32(slots[slot] >> 32) >> shift)
      // The slot may fill the gap unless its home lies behind the gap.
      if (slot &- home) & mask >= (slot &- gap) & mask {
        slots[gap] = slots[slot]
        gap = slot
      }
      slot = (slot &+ 1) & mask
    }
    slots[gap] = 0
  }

  @inline(__always)
  private mutating func takeEntry() -> UInt32 {
    if freeList != 0 {
      let number = freeList &- 1
      freeList = entry(number).pointee.site
      return number
    }
    if Int(used) == segmentCount << Int(Self.segmentShift) { addSegment() }
    used &+= 1
    return used &- 1
  }

  @inline(never)
  private mutating func addSegment() {
    if segmentCount == segmentCapacity {
      let larger = UnsafeMutablePointer<UnsafeMutablePointer<LiveEntry>>.allocate(
        capacity: segmentCapacity * 2)
      larger.moveInitialize(from: segments, count: segmentCount)
      segments.deallocate()
      segments = larger
      segmentCapacity *= 2
    }
    (segments + segmentCount).initialize(to: .allocate(capacity: Self.segmentSize))
    segmentCount += 1
  }

  @inline(never)
  private mutating func grow() {
    guard shift > 0 else { return }
    let (old, oldCapacity) = (slots, mask + 1)
    let capacity = oldCapacity * 2
    slots = .allocate(capacity: capacity)
    slots.initialize(repeating: 0, count: capacity)
    mask = capacity - 1
    shift -= 1
    greatestCount = capacity / 5 * 4
    for index in 0..<oldCapacity where old[index] != 0 {
      var slot = Int(UInt32(old[index] >> 32) >> shift)
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = old[index]
    }
    old.deallocate()
  }

  /// Visits all live blocks in no particular order.
  func forEach(_ body: (LiveEntry) -> Void) {
    for slot in 0...mask where slots[slot] != 0 {
      body(entry(UInt32(truncatingIfNeeded: slots[slot]) &- 1).pointee)
    }
  }
}
