/// A set of small numbers, an eighth of a byte for each that may be in it.
package struct Bits: Sendable {
  /// One more than the greatest number that may be in it.
  package let count: Int
  private var words: [UInt64]

  /// Nothing is in it.
  package init(count: Int) {
    self.count = count
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  /// Whether a number is in it.
  package subscript(number: Int) -> Bool {
    @inline(__always) get { words[number >> 6] & 1 << UInt64(number & 63) != 0 }
    set {
      let bit: UInt64 = 1 << UInt64(number & 63)
      if newValue { words[number >> 6] |= bit } else { words[number >> 6] &= ~bit }
    }
  }
}
