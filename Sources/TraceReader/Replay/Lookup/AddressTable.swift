/// Values by address, or by what else is a number of 64 bits.
///
/// With open addressing: a dictionary of the standard library takes several times as long to find
/// something, and replays of announced blocks do little else.
struct AddressTable<Value> {
  private struct Slot {
    var key: UInt64 = 0
    /// nil where nothing is.
    var value: Value?
  }

  private static var leastCapacity: Int { 8 }
  /// As many as a power of two, a quarter of them free: a look ends at a free one.
  private var slots = [Slot](repeating: Slot(), count: Self.leastCapacity)
  private(set) var count = 0
  private var factor = HashFactor(greatestDistance: 1024)

  var isEmpty: Bool { count == 0 }

  /// How many values a walk through all passes.
  var capacity: Int { slots.count }

  /// The value of a key; nil when it has none.
  subscript(key: UInt64) -> Value? {
    get { slots[place(of: key)].value }
    set { update(key) { $0 = newValue } }
  }

  /// Changes the value of a key in place, which may be nil before and after.
  mutating func update(_ key: UInt64, _ change: (inout Value?) -> Void) {
    let place = place(of: key)
    let wasThere = slots[place].value != nil
    slots[place].key = key
    change(&slots[place].value)
    switch (wasThere, slots[place].value != nil) {
    case (false, true):
      count += 1
      if count > slots.count / 4 * 3 {
        resize(to: slots.count * 2)
      } else if distance(of: place) > factor.greatestDistance {
        factor.change()
        resize(to: slots.count)
      }
    case (true, false):
      count -= 1
      close(place)
      if count < slots.count / 8, slots.count > Self.leastCapacity { resize(to: slots.count / 2) }
    default: break
    }
  }

  /// Takes the value of a key out.
  ///
  /// - Returns: The value; nil when it has none.
  mutating func removeValue(forKey key: UInt64) -> Value? {
    var value: Value?
    update(key) { swap(&$0, &value) }
    return value
  }

  /// Visits all values, in no order.
  func forEach(_ body: (Value) -> Void) {
    for slot in slots { slot.value.map(body) }
  }

  /// Where a key is looked for first.
  ///
  /// Neighbours are far from each other.
  private func home(_ key: UInt64) -> Int {
    let bits = UInt64(slots.count.trailingZeroBitCount)
    return Int(truncatingIfNeeded: (key &* factor.value) >> (64 - bits))
  }

  /// The slot of a key, or the free one that it would have.
  private func place(of key: UInt64) -> Int {
    var place = home(key)
    while slots[place].value != nil, slots[place].key != key { place = next(place) }
    return place
  }

  private func next(_ place: Int) -> Int { (place + 1) & (slots.count - 1) }

  /// Moves values that were not found a better place into one that has become free.
  private mutating func close(_ free: Int) {
    var (free, place) = (free, next(free))
    while slots[place].value != nil {
      if distance(of: place) >= (place - free) & (slots.count - 1) {
        slots.swapAt(free, place)
        free = place
      }
      place = next(place)
    }
  }

  /// How far the value of a slot is from where it is looked for first.
  private func distance(of place: Int) -> Int {
    (place - home(slots[place].key)) & (slots.count - 1)
  }

  private mutating func resize(to capacity: Int) {
    let old = slots
    while !fill(capacity, with: old) { factor.change() }
  }

  /// Puts values into new slots.
  ///
  /// - Returns: false when too many fall into one place.
  private mutating func fill(_ capacity: Int, with old: [Slot]) -> Bool {
    slots = [Slot](repeating: Slot(), count: capacity)
    for slot in old where slot.value != nil {
      let place = place(of: slot.key)
      slots[place] = slot
      if distance(of: place) > factor.greatestDistance { return false }
    }
    return true
  }
}
