import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The bytes of an argument or environment entry, without the terminator.
///
/// Not a `String`: bytes that are no UTF-8 must reach the traced process unchanged.
struct CString: Equatable {
  var bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Copies a string up to its terminator.
  init(copying pointer: UnsafePointer<CChar>) {
    let buffer = UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))
    bytes = Array(buffer)
  }

  /// For messages; what is no UTF-8 is replaced.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The file of this name, byte for byte.
  var path: FilePath {
    FilePath(platformString: bytes.map { CInterop.PlatformChar(bitPattern: $0) } + [0])
  }

  /// Calls `body` with the strings as a C array that ends with a null pointer.
  static func withArray<Result>(
    _ strings: [CString],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var storage: [CChar] = []
    for string in strings {
      storage += string.bytes.map { CChar(bitPattern: $0) }
      storage.append(0)
    }
    if storage.isEmpty { storage = [0] }
    return storage.withUnsafeMutableBufferPointer { buffer in
      let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        .allocate(capacity: strings.count + 1)
      defer { pointers.deallocate() }
      var offset = 0
      for (index, string) in strings.enumerated() {
        (pointers + index).initialize(to: buffer.baseAddress?.advanced(by: offset))
        offset += string.bytes.count + 1
      }
      (pointers + strings.count).initialize(to: nil)
      return body(pointers)
    }
  }
}
