#if canImport(Glibc)
  import Glibc
#endif

/// Looks for texts in bytes: `String.contains` prepares a search for long ones each time, which took a
/// quarter of a report.
package enum TextSearch {
  /// Whether a text holds another one, byte by byte.
  package static func holds(_ text: String, _ part: StaticString) -> Bool {
    var text = text
    return text.withUTF8 { holds(UnsafeRawBufferPointer($0), part) }
  }

  /// Whether bytes hold a text.
  ///
  /// Looks at the places of its first byte: `memchr` passes over the others faster than a loop.
  static func holds(_ bytes: UnsafeRawBufferPointer, _ part: StaticString) -> Bool {
    let length = part.utf8CodeUnitCount
    guard var start = bytes.baseAddress else { return length == 0 }
    let end = start + bytes.count
    while end - start >= length,
      let place = memchr(start, Int32(part.utf8Start.pointee), end - start - length + 1)
    {
      if memcmp(place, part.utf8Start, length) == 0 { return true }
      start = UnsafeRawPointer(place) + 1
    }
    return false
  }
}
