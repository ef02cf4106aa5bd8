import SystemPackage

/// Whole files of text.
enum TextFile {
  /// No file that people write is longer.
  static let limit = 64 << 20

  /// The content of a file; what is no UTF-8 in it is replaced.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be read.
  static func read(_ name: String) throws(CommandFailure) -> String {
    do {
      let file = try FileDescriptor.open(FilePath(argument: name), .readOnly, options: .closeOnExec)
      defer { try? file.close() }
      var bytes: [UInt8] = []
      while bytes.count < limit {
        let more = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
          count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        if more.isEmpty { break }
        bytes += more
      }
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      throw CommandFailure("cannot read \(name): \(error)", exitStatus: ExitStatus.noTrace)
    }
  }
}
