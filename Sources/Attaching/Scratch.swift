#if canImport(Glibc)
  import Glibc
#endif

/// Room in the memory of the process for what its functions are to be given.
struct Scratch {
  let process: RemoteProcess
  var at: UInt64
  let end: UInt64

  init(process: RemoteProcess, start: UInt64, size: UInt64) {
    self.process = process
    at = start
    end = start + size
  }

  /// - Returns: The address of a copy of the bytes.
  /// - Throws: ``AttachError`` when there is no room.
  mutating func add(_ bytes: [UInt8]) throws(AttachError) -> UInt64 {
    let address = at
    guard UInt64(bytes.count) + 16 <= end - at else { throw .failed(ENAMETOOLONG) }
    try process.write(bytes, at: address)
    at += (UInt64(bytes.count) + 15) & ~15
    return address
  }

  /// - Returns: The address of an array of pointers to the texts, ended by a null pointer.
  /// - Throws: ``AttachError`` when there is no room.
  mutating func add(_ texts: [[UInt8]]) throws(AttachError) -> UInt64 {
    var pointers: [UInt64] = []
    for text in texts { pointers.append(try add(text + [0])) }
    pointers.append(0)
    return try add(
      pointers.flatMap { pointer in
        withUnsafeBytes(of: pointer.littleEndian, Array.init)
      })
  }
}
