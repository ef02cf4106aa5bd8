#if canImport(Glibc)
  import Glibc
#endif

/// Looks for texts in bytes: `String.contains` prepares a search for long ones each time, which took a
/// quarter of a report.
package enum TextSearch {
  /// Whether a text holds another one, byte by byte.
  package static func holds(_ text: String, _ part: StaticString) -> Bool {
    var text = text
    return text.withUTF8 { place(of: part, in: UnsafeRawBufferPointer($0)) != nil }
  }

  /// Whether a part of a text holds another one, byte by byte.
  static func holds(_ text: Substring, _ part: StaticString) -> Bool {
    var text = text
    return text.withUTF8 { place(of: part, in: UnsafeRawBufferPointer($0)) != nil }
  }

  /// Whether bytes hold a text.
  static func holds(_ bytes: UnsafeRawBufferPointer, _ part: StaticString) -> Bool {
    place(of: part, in: bytes) != nil
  }

  /// Where a text first begins in bytes, from 0; nil where it is not in them.
  ///
  /// Looks at the places of its first byte: `memchr` passes over the others faster than a loop.
  fileprivate static func place(of part: StaticString, in bytes: UnsafeRawBufferPointer) -> Int? {
    let length = part.utf8CodeUnitCount
    guard let first = bytes.baseAddress, length > 0 else { return length == 0 ? 0 : nil }
    let end = first + bytes.count
    var start = first
    while end - start >= length,
      let place = memchr(start, Int32(part.utf8Start.pointee), end - start - length + 1)
    {
      if memcmp(place, part.utf8Start, length) == 0 { return UnsafeRawPointer(place) - first }
      start = UnsafeRawPointer(place) + 1
    }
    return nil
  }
}

extension String {
  /// The text in front of another one; all of it where that is not in it.
  func prefix(before separator: StaticString) -> String {
    var text = self
    return text.withUTF8 { bytes in
      let place = TextSearch.place(of: separator, in: UnsafeRawBufferPointer(bytes))
      return place.map { String(decoding: bytes[..<$0], as: UTF8.self) }
    } ?? self
  }
}
