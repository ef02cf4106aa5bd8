import ArgumentParser
import Reports
import TraceReader

/// The forms that values take on the command line, and what is said of one that does not fit.
enum ArgumentForm {
  /// An address as reports print it; the prefix `0x` may be left out.
  @Sendable static func address(_ text: String) throws -> Address {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
    guard let number = UInt64(digits, radix: 16) else {
      throw ValidationError("'\(text)' is no address; an address looks like 0x7f12a0.")
    }
    return Address(rawValue: number)
  }

  /// A point in time; what is none is taken for the name of a mark.
  @Sendable static func time(_ text: String) -> TimePoint { TimePoint(orMark: text) }

  /// The time from one mark to the next.
  @Sendable static func step(_ text: String) throws -> TimePoint {
    guard let time = TimePoint(text) else {
      throw ValidationError("a time from mark to mark looks like 5s, 200ms or 10%")
    }
    return time
  }

  @Sendable static func sizes(_ text: String) throws -> ByteRange {
    guard let range = ByteRange(text) else {
      throw ValidationError("a range of sizes looks like \(ByteRange.forms)")
    }
    return range
  }
}
