/// What follows the last element of a chunk: space that was reserved and not used, all zeros.
///
/// Pages that a machine had not written to the disk yet when it went down read as zeros, too. What
/// lies behind those is still there and tells them from the end.
extension UnsafeRawBufferPointer {
  /// Looks for what is not zero behind the end.
  ///
  /// - Parameter start: The position of the end; there may be no bytes there any more.
  /// - Returns: Whether there is nothing but zeros.
  func isUnused(from start: Int) -> Bool {
    var position = start
    while position &+ 8 <= count {
      if loadUnaligned(fromByteOffset: position, as: UInt64.self) != 0 { return false }
      position &+= 8
    }
    while position < count {
      if self[position] != 0 { return false }
      position &+= 1
    }
    return true
  }

  /// Whether nothing follows the record at a position, which has the type 0.
  ///
  /// Its type is written last, the length and what follows before that: one that was being written
  /// is passed over.
  func isEndOfRecords(at position: Int) -> Bool {
    var cursor = ByteCursor(self, at: position)
    let length = Int(cursor.read(UInt32.self))
    cursor.skip(4)
    let content: UInt64 = cursor.read()
    if length == 0, content != 0 { return true }
    return isUnused(from: position + Swift.max(length, 8))
  }
}

extension TraceFile {
  /// Whether what was read as zeros has been written meanwhile: where a recording goes on, what lies
  /// behind may be newer than what was read before it.
  func isWritten(_ range: Range<UInt64>) -> Bool {
    let bytes = try? bytes(at: range.lowerBound, count: range.count)
    return bytes?.contains { $0 != 0 } ?? false
  }

  /// Whether there is nothing but zeros in a stretch, as far as it can be read.
  func isUnused(_ range: Range<UInt64>) -> Bool {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let wanted = Int(min(range.upperBound &- offset, 64 << 10))
      guard let bytes = try? bytes(at: offset, count: wanted), !bytes.isEmpty else { return true }
      guard bytes.withUnsafeBytes({ $0.isUnused(from: 0) }) else { return false }
      offset &+= UInt64(bytes.count)
    }
    return true
  }
}
