import TraceReader

/// Strings of libstdc++ whose text lies in them, met in the words of a block.
///
/// `std::string` begins with the address of its text and the length; a text below 16 bytes lies in the two words behind
/// these. Behind its end stands what was there before, often the address of a block, which nobody reads.
///
/// Small vectors, lists with a cursor and requests with their buffers look alike: they hold what stands there. They are
/// told by their first word: a pointer, or a number that is no text of just that length. A text of one character is often a small
/// number, and none at all an empty list. Where the elements begin with text themselves, nothing tells them.
struct ShortString {
  private static let textOffset: UInt64 = 16
  private static let lengths: ClosedRange<UInt64> = 2...15

  /// Where the last one begins; 0 before the first.
  private var start: UInt64 = 0

  /// Whether a word is text of a string, or stands behind it; words come by ascending address.
  @inline(__always)
  mutating func hasText(at address: UInt64, _ value: UInt64, _ memory: SnapshotMemory) -> Bool {
    if value &- address == Self.textOffset {
      start = address
      return false
    }
    let offset = address &- start &- Self.textOffset
    return offset < 16 && isText(offset, memory)
  }

  @inline(never)
  private func isText(_ offset: UInt64, _ memory: SnapshotMemory) -> Bool {
    let length = memory.word(at: start &+ 8)
    let first = memory.word(at: start &+ Self.textOffset)
    guard Self.lengths.contains(length), !memory.isMapped(first & EdgeScanner.addressMask) else {
      return false
    }
    let second = memory.word(at: start &+ Self.textOffset &+ 8)
    return Self.fits(first, length, from: 0) && (offset == 0 || Self.fits(second, length, from: 8))
  }

  /// Whether the bytes of a word are those of a text of some length, which has a 0 at its end.
  private static func fits(_ word: UInt64, _ length: UInt64, from first: UInt64) -> Bool {
    (0..<8 as Range<UInt64>).allSatisfy { byte in
      let position = first + byte
      let value = word >> (byte * 8) & 0xff
      return position > length || (position == length ? value == 0 : isPrinted(value))
    }
  }

  /// Whether a byte can be one of a text: a line break, a tab, or none that controls anything.
  private static func isPrinted(_ byte: UInt64) -> Bool {
    (0x20...0xff).contains(byte) && byte != 0x7f || (9...10).contains(byte) || byte == 13
  }
}
