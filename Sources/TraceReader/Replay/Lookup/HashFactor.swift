/// The odd number by which a hash table multiplies its keys.
///
/// The usual one spreads addresses well. But keys are from the file, which may have been made so that all of
/// them fall into one place, and each search goes through all of them: a table that sees a search go too far
/// takes another number, which nobody can have foreseen, and is filled anew.
struct HashFactor {
  /// The golden ratio: neighbours come far from each other.
  static let usual: UInt64 = 0x9e37_79b9_7f4a_7c15

  private(set) var value = Self.usual
  /// How many places a search may pass; doubled with each change, so that tables are not filled anew for ever.
  private(set) var greatestDistance: Int

  /// - Parameter greatestDistance: More than a search passes among any keys that were not chosen for it.
  init(greatestDistance: Int) {
    self.greatestDistance = greatestDistance
  }

  /// Takes another number.
  mutating func change() {
    value = UInt64.random(in: .min ... .max) | 1
    greatestDistance *= 2
  }
}
