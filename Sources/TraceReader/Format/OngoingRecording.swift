import CTraceFormat
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Until when a trace holds all events while its process still writes it.
///
/// Chunks are read one after the other, and the process does not wait: what a thread frees is in a
/// chunk that is read late, while the allocation by another thread came to one that was read
/// before. But what was recorded before the file was opened is all there.
enum OngoingRecording {
  /// The moment up to which a trace can be relied on that will be opened next.
  ///
  /// - Parameter path: The trace.
  /// - Returns: The event time now; nil where no process of this machine, or none that may be looked
  ///   at, has the file mapped as recorders do.
  static func lastTime(ofTraceAt path: FilePath) -> EventTime? {
    guard let file = try? DiskFile(path: path),
      let bytes = try? file.bytes(at: 0, count: Int(MT_FILE_HEADER_SIZE)),
      let header = try? TraceHeader(decoding: bytes), isOpenEnded(header),
      isMapped(inode: file.inode, by: header.pid)
    else { return nil }
    var fields = mt_file_header()
    (fields.flags, fields.tick_shift) = (header.flags.rawValue, header.tickShift)
    return EventTime(mt_live_event_time(&fields))
  }

  /// Whether more may come, as far as the header of a trace tells.
  static func isOpenEnded(_ header: TraceHeader) -> Bool {
    header.endKind == MT_END_NONE.rawValue && header.stopReason == MT_STOP_NONE.rawValue
  }

  /// Whether a process has the beginning of a file mapped, shared and writable.
  private static func isMapped(inode: UInt64, by pid: UInt32) -> Bool {
    guard
      let descriptor = try? FileDescriptor.open(
        "/proc/\(pid)/maps", .readOnly, options: .closeOnExec)
    else { return false }
    defer { try? descriptor.close() }
    let (inode, beginning) = (Substring("\(inode)"), Substring("00000000"))
    return
      (try? descriptor.containsLine { line in
        let fields = line.split(separator: " ", maxSplits: 5)
        return fields.count > 4 && fields[1] == "rw-s" && fields[2] == beginning
          && fields[4] == inode
      }) ?? false
  }
}

extension FileDescriptor {
  /// Looks through the lines of a file whose size is not known before, as those of `/proc`.
  fileprivate func containsLine(where isWanted: (Substring) -> Bool) throws -> Bool {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = try buffer.withUnsafeMutableBytes({ try read(into: $0) }), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains(where: isWanted)
  }
}
