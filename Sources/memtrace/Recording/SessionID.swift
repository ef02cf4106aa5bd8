/// What the traces of one recording have in common: 16 random bytes.
struct SessionID: Equatable, CustomStringConvertible {
  /// 16 bytes, as in `mt_file_header.session_id`.
  let bytes: [UInt8]

  /// A new, random identifier.
  static func random() -> SessionID {
    var generator = SystemRandomNumberGenerator()
    return SessionID(bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  /// 32 hexadecimal digits.
  var description: String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
