/// Addresses, each kept once, by the order in which they were first met.
struct DistinctAddresses: Sendable {
  private var addresses: [UInt64] = []
  /// One more than the place of an address; 0 where nothing is.
  ///
  /// As many as a power of two, half of them free.
  private var places = [UInt32](repeating: 0, count: 64)
  private var factor = HashFactor(greatestDistance: 1024)

  /// How many there are.
  var count: Int { addresses.count }

  /// About how many bytes of memory they take, with what finds them.
  var memory: Int { addresses.count * 24 }

  /// The address at a place.
  subscript(place: UInt32) -> UInt64 { addresses[Int(place)] }

  /// The place of an address, which is new if it was never met.
  mutating func place(of address: UInt64) -> UInt32 {
    let mask = places.count - 1
    let home = home(address)
    var slot = home
    while places[slot] != 0 {
      if addresses[Int(places[slot] - 1)] == address { return places[slot] - 1 }
      slot = (slot + 1) & mask
    }
    addresses.append(address)
    places[slot] = UInt32(truncatingIfNeeded: addresses.count)
    if (slot - home) & mask > factor.greatestDistance {
      factor.change()
      resize(to: places.count)
    } else if addresses.count * 2 > places.count {
      resize(to: places.count * 2)
    }
    return UInt32(truncatingIfNeeded: addresses.count - 1)
  }

  /// Gives back what is needed only to add addresses; no more can be.
  mutating func finish() {
    places = [0]
  }

  private func home(_ address: UInt64) -> Int {
    let bits = UInt64(places.count.trailingZeroBitCount)
    return Int(truncatingIfNeeded: (address &* factor.value) >> (64 - bits))
  }

  private mutating func resize(to count: Int) {
    places = [UInt32](repeating: 0, count: count)
    for (place, address) in addresses.enumerated() {
      var slot = home(address)
      while places[slot] != 0 { slot = (slot + 1) & (count - 1) }
      places[slot] = UInt32(truncatingIfNeeded: place + 1)
    }
  }
}
