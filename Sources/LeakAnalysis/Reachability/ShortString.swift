import TraceReader

/// Strings of libstdc++ whose text lies in them, met in the words of a block.
///
/// `std::string` begins with the address of its text and the length; a text below 16 bytes lies in the two words behind
/// these. Behind its end stands what was there before, often the address of a block, which nobody reads. Small vectors
/// look alike, but have their capacity in the upper half of the second word.
struct ShortString {
  private static let textOffset: UInt64 = 16
  private static let longestText: UInt64 = 15

  /// Whether lengths are known.
  private let isKnown: Bool
  /// Where the last one begins; 0 before the first.
  private var start: UInt64 = 0

  init(isKnown: Bool) {
    self.isKnown = isKnown
  }

  /// Whether a word is text of a string, or stands behind it; words come by ascending address.
  @inline(__always)
  mutating func hasText(at address: UInt64, _ value: UInt64, _ memory: SnapshotMemory) -> Bool {
    if value &- address == Self.textOffset {
      // The length is not known where it is on the next page.
      if isKnown, address & 0xfff != 0xff8 { start = address }
      return false
    }
    let offset = address &- start &- Self.textOffset
    return offset < 16 && isText(offset, memory)
  }

  @inline(never)
  private func isText(_ offset: UInt64, _ memory: SnapshotMemory) -> Bool {
    let length = memory.word(at: start &+ 8)
    guard length <= Self.longestText else { return false }
    return (0...offset / 8).allSatisfy { place in
      let word = memory.word(at: start &+ Self.textOffset &+ place * 8)
      // Words that can be no pointers are not kept.
      return word == 0 || Self.fits(word, length, from: place * 8)
    }
  }

  /// Whether the bytes of a word are those of a text of some length, which has no 0 but behind its end.
  private static func fits(_ word: UInt64, _ length: UInt64, from first: UInt64) -> Bool {
    (0..<8 as Range<UInt64>).allSatisfy { byte in
      let position = first + byte
      let isZero = word >> (byte * 8) & 0xff == 0
      return position > length || isZero == (position == length)
    }
  }
}
