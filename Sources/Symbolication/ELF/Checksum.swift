import Glibc

/// The checksum of `.gnu_debuglink`: CRC-32 with the polynomial of zlib.
///
/// https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { crc, _ in
      crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1
    }
  }

  /// The checksum of a file's contents; `nil` when it cannot be read.
  static func ofFile(at path: String) -> UInt32? {
    let descriptor = RecordedFile.open(path)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var crc: UInt32 = 0xffff_ffff
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count >= 0 else {
        if errno == EINTR { continue }
        return nil
      }
      if count == 0 { return ~crc }
      for byte in buffer[..<count] {
        crc = crc >> 8 ^ table[Int((crc ^ UInt32(byte)) & 0xff)]
      }
    }
  }
}
