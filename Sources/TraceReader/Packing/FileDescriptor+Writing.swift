import SystemPackage

extension FileDescriptor {
  /// Writes all of some bytes to a position in the file.
  ///
  /// - Throws: `.io` when that fails.
  func write(_ bytes: [UInt8], at position: UInt64) throws(TraceError) {
    do {
      _ = try writeAll(toAbsoluteOffset: Int64(clamping: position), bytes)
    } catch {
      throw TraceError(.io, "cannot be written: \(error)")
    }
  }
}
